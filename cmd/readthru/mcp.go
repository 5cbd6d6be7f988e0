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
		Usage: "serve the Model Context Protocol on standard input and output for an agent",
		Description: "It uses the running daemon; without one it starts a daemon at the first use, which ends with the " +
			"agent. The daemon serves the same over HTTP at /mcp of its admin port.",
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

// mcpOptions returns the configured options of the protocol.
func (s *settings) mcpOptions(log *slog.Logger) mcp.Options {
	return mcp.Options{
		Tokens: convert.Tokens[string], Version: version, UserAgent: s.Fetch.UserAgent, Write: s.MCP.Write,
		Robots: s.MCP.Robots, Log: log,
	}
}

// serveMCP speaks the protocol until standard input ends or ctx does.
func (p *program) serveMCP(ctx context.Context, s *settings, session string) (err error) {
	log := p.askedLog(s) // agents show standard error as errors
	l := &link{settings: s, log: log}
	defer func() { err = errors.Join(err, l.close(ctx, p)) }()
	o := s.mcpOptions(log)
	o.Session, o.Client = session, l.client
	return mcp.New(o).Serve(ctx, p.in, p.out)
}

// link connects a long-lived command to a daemon: to a running one for as long as it runs, else to our own, which other
// commands can use. Nothing is opened before the first use.
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

// alive reports whether the shared daemon still runs.
func (l *link) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return l.shared.client.Recognise(ctx, l.shared.Secret) == nil
}

// open finds a daemon, or starts one.
func (l *link) open(ctx context.Context) error {
	var own *daemon
	// the daemon is used after this call
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

// close releases the daemon. Ours ends when no other command uses it, or at once if ctx has ended.
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
