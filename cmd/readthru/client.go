package main

import (
	"context"
	"log/slog"

	"github.com/readthru/readthru/api"
)

// withClient runs do with a client of the daemon, or of the store opened here if no daemon runs.
func (p *program) withClient(ctx context.Context, do func(*api.Client) error) error {
	return p.withDaemonOr(ctx, do, func(s *api.Server) error { return do(s.Client(agentName).By(api.DoorCommand)) })
}

// withDaemonOr runs asked with a client of the daemon; if no daemon runs, it runs here with a server over the store.
func (p *program) withDaemonOr(ctx context.Context, asked func(*api.Client) error,
	here func(*api.Server) error,
) (err error) {
	s, err := p.load()
	if err != nil {
		return err
	}
	if err := makeDataDir(s.dataDir); err != nil {
		return err
	}
	var c *core
	d, err := openOrShare(ctx, s, func() (_ *daemonInfo, err error) { //nolint:contextcheck // opening the store takes none
		c, err = openCore(s, s.dataDir, false, slog.New(slog.DiscardHandler))
		return nil, err
	})
	if err != nil {
		return err
	}
	if d != nil {
		defer d.release()
		return asked(d.client)
	}
	defer func() {
		if ctx.Err() != nil { // whoever interrupted us does not wait for what would only be stored
			c.Abandon()
		}
		if cerr := c.Close(); err == nil { //nolint:contextcheck // closing takes none
			err = cerr
		}
	}()
	server := c.server(nil, nil, &daemonInfo{}, nil)
	defer server.Stop()
	return here(server)
}

// withIndex is withClient, and indexes what was read first if no daemon does that.
func (p *program) withIndex(ctx context.Context, do func(*api.Client) error) error {
	return p.withDaemonOr(ctx, do, func(s *api.Server) error {
		if err := s.CatchUp(ctx); err != nil {
			return err
		}
		return do(s.Client(agentName))
	})
}

// withSubjects is withIndex, and finds the subjects of what has none yet if no daemon does that.
func (p *program) withSubjects(ctx context.Context, do func(*api.Client) error) error {
	return p.withDaemonOr(ctx, do, func(s *api.Server) error {
		if err := s.CatchUpOnSubjects(ctx); err != nil {
			return err
		}
		return do(s.Client(agentName))
	})
}
