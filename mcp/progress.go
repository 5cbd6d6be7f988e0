package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/internal/fault"
)

// progressEvery is how often a client that asks for progress of a call gets it.
const progressEvery = time.Second

// reportProgress sends the client of a call, if it gave a token for progress, the number of seconds that the call has
// run, every second. After stop nothing is sent.
func reportProgress(ctx context.Context, req *sdk.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(fault.Contain("mcp: report progress", func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(n),
				Message: req.Params.Name + " is running",
			})
			if err != nil {
				return // the client is gone or does not read
			}
		}
	}))
	return func() { cancel(); wg.Wait() }
}
