package read

import (
	"context"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
	"github.com/readthru/readthru/mcp"
)

// mcpCommand is the command mcp: the tools of package mcp on standard input and output, for an agent that starts it.
func (p *program) mcpCommand() *cli.Command {
	return &cli.Command{
		Name:  "mcp",
		Usage: "serve the Model Context Protocol on standard input and output for an agent",
		Description: "It uses the running daemon; without one it starts a daemon, as \"readthru run\" does, and keeps it " +
			"running. The daemon serves the same over HTTP at /mcp of its admin port.",
		Flags: []cli.Flag{command.SessionFlag()},
		Action: func(c *cli.Context) error {
			s, err := p.LoadAlone(c)
			if err != nil {
				return err
			}
			return p.serveMCP(c.Context, s, c.String("session"))
		},
	}
}

// serveMCP speaks the protocol until standard input ends or ctx does.
func (p *program) serveMCP(ctx context.Context, s *settings.Settings, session string) error {
	log := settings.AskedLog(p.Err, s) // agents show standard error as errors
	l := &link{settings: s}
	defer l.close()
	o := wiring.MCPOptions(s, log)
	o.Session, o.Client, o.Listed = session, l.client, l.begin(ctx)
	return mcp.New(o).Serve(ctx, p.In, p.Out)
}

// link connects a long-lived command to the daemon, which it keeps running.
type link struct {
	settings *settings.Settings

	mu     sync.Mutex
	shared *daemon.Shared
}

// begin connects to the daemon in the background. It returns a function that waits until the daemon listens, so that
// what the agent does first finds it, but not long.
func (l *link) begin(ctx context.Context) (wait func(context.Context)) {
	listens := make(chan struct{})
	done := sync.OnceFunc(func() { close(listens) })
	go func() {
		defer done()
		_, _ = l.connect(ctx, done) // a tool that is called tries again and tells the error
	}()
	return func(ctx context.Context) {
		timer := time.NewTimer(daemon.ListenTime)
		defer timer.Stop()
		select {
		case <-listens:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// client returns a client of the daemon that runs now. It starts one if none does.
func (l *link) client(ctx context.Context) (*api.Client, error) {
	return l.connect(ctx, func() {})
}

// connect is client, and calls listening when who connects to the ports of a daemon that it starts waits for it.
func (l *link) connect(ctx context.Context, listening func()) (*api.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared != nil && l.alive(ctx) {
		return l.shared.Client, nil
	}
	if l.shared != nil {
		l.shared.Release()
		l.shared = nil
	}
	var err error
	// it is used after this call
	if l.shared, err = daemon.ShareEarly(context.WithoutCancel(ctx), l.settings, listening); err != nil {
		return nil, err
	}
	return l.shared.Client, nil
}

// alive reports whether the shared daemon still runs.
func (l *link) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return l.shared.Client.Recognise(ctx, l.shared.Secret) == nil
}

// close releases the daemon.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared != nil {
		l.shared.Release()
	}
}
