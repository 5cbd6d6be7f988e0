package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is how often a client that asks for it hears that a call goes on.
const progressEvery = time.Second

// reportProgress tells the client of a call, where it gave a token for that, each second that the call still runs: how
// many seconds by now. stop ends that; afterwards nothing is sent.
func reportProgress(ctx context.Context, req *sdk.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
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
				Message: req.Params.Name + " is at work",
			})
			if err != nil {
				return // the client is gone, or does not listen
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// requestKey is under which the context of a request over HTTP is found in that of a call it carries.
type requestKey struct{}

// untilGone ends a call with the HTTP request that it came in by. The protocol before 2026-07-28 has calls outlive it,
// for a client that comes back; without sessions none can.
func untilGone(ctx context.Context, cancel context.CancelFunc) (leave func()) {
	request, ok := ctx.Value(requestKey{}).(context.Context)
	if !ok {
		return func() {}
	}
	stop := context.AfterFunc(request, cancel) //nolint:contextcheck // it ends with the request as well
	return func() { stop() }
}
