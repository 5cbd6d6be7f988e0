package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"readthru/api"
	"readthru/convert"
	"readthru/mcp"
)

func (p *program) mcpCommand() *cli.Command {
	return &cli.Command{
		Name:  "mcp",
		Usage: "serve the Model Context Protocol on standard input and output, for an agent that starts it",
		Description: "A daemon that runs is asked; else one is started at the first use and ends with the agent. Over HTTP " +
			"a daemon has the same at /mcp of its admin port.",
		Flags: []cli.Flag{sessionFlag()},
		Action: func(c *cli.Context) error {
			s, err := p.loadAlone(c)
			if err != nil {
				return err
			}
			return p.serveMCP(c.Context, s, c.String("session"))
		},
	}
}

// mcpOptions are what the configuration says of the protocol.
func (s *settings) mcpOptions(log *slog.Logger) mcp.Options {
	return mcp.Options{
		Tokens: convert.Tokens[string], Version: version, UserAgent: s.Fetch.UserAgent, Write: s.MCP.Write,
		Robots: s.MCP.Robots, Log: log,
	}
}

// serveMCP speaks the protocol until standard input ends or ctx does.
func (p *program) serveMCP(ctx context.Context, s *settings, session string) (err error) {
	log := p.askedLog(s) // agents show standard error as if something were wrong
	l := &link{settings: s, log: log}
	defer func() { err = errors.Join(err, l.close(ctx, p)) }()
	o := s.mcpOptions(log)
	o.Session, o.Client = session, l.client
	return mcp.New(o).Serve(ctx, p.in, p.out)
}

// link is the way of a long-lived command to a daemon: one that runs, as long as it does, else one of our own, which
// others find and use in turn. Nothing is opened before it is needed.
type link struct {
	settings *settings
	log      *slog.Logger

	mu     sync.Mutex
	shared *sharedDaemon
	own    *daemon
	stop   func()     // ends own
	ended  chan error // gets what own.Run returned
}

// client returns a client of the daemon that runs now.
func (l *link) client(ctx context.Context) (*api.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own != nil {
		return l.own.server.Client(agentName), nil
	}
	if l.shared != nil && l.alive(ctx) {
		return l.shared.client, nil
	}
	if l.shared != nil {
		l.shared.release()
		l.shared = nil
	}
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	if l.own != nil {
		return l.own.server.Client(agentName), nil
	}
	return l.shared.client, nil
}

// alive reports whether the shared daemon still is the one that it was.
func (l *link) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	now, err := l.shared.client.Liveness(ctx)
	return err == nil && now.Instance == l.shared.Instance
}

// open finds a daemon, or starts one.
func (l *link) open(ctx context.Context) error {
	var own *daemon
	// the lease outlives the call that needs it first
	shared, err := openOrShare(context.WithoutCancel(ctx), l.settings, func() (err error) {
		own, err = openDaemon(ctx, l.settings, false, true, l.log)
		return err
	})
	if err != nil {
		return err
	}
	if shared != nil {
		l.shared = shared
		return nil
	}
	limitMemory()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- own.Run(serving) }()
	l.own, l.stop, l.ended = own, stop, ended
	return nil
}

// close leaves the daemon. Ours ends when no other command uses it any more; at once when ctx has ended.
func (l *link) close(ctx context.Context, p *program) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared != nil {
		l.shared.release()
	}
	if l.own == nil {
		return nil
	}
	if ctx.Err() == nil {
		p.waitForOthers(ctx, l.own)
	}
	l.stop()
	return <-l.ended
}
