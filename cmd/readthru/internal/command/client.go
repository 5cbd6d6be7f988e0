package command

import (
	"context"
	"log/slog"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
)

// WithClient runs do with a client of the daemon, or of the store opened here if no daemon runs.
func (p *Program) WithClient(ctx context.Context, do func(*api.Client) error) error {
	return p.WithDaemonOr(ctx, do, func(s *server.Server) error {
		return do(s.Client(daemon.UserAgent).By(api.DoorCommand))
	})
}

// WithDaemonOr runs asked with a client of the daemon; if no daemon runs, it runs here with a server over the store.
func (p *Program) WithDaemonOr(ctx context.Context, asked func(*api.Client) error,
	here func(*server.Server) error,
) (err error) {
	s, err := p.Load()
	if err != nil {
		return err
	}
	if err := settings.MakeDataDir(s.DataDir); err != nil {
		return err
	}
	var c *wiring.Core
	//nolint:contextcheck // opening the store takes none
	d, err := daemon.OpenOrShare(ctx, s, func() (_ *daemon.Info, err error) {
		c, err = wiring.Open(s, s.DataDir, false, slog.New(slog.DiscardHandler))
		return nil, err
	})
	if err != nil {
		return err
	}
	if d != nil {
		defer d.Release()
		return asked(d.Client)
	}
	defer func() {
		if ctx.Err() != nil { // whoever interrupted us does not wait for what would only be stored
			c.Abandon()
		}
		if cerr := c.Close(); err == nil { //nolint:contextcheck // closing takes none
			err = cerr
		}
	}()
	own := c.Server(nil, nil, &daemon.Info{}, nil)
	defer own.Stop()
	return here(own)
}

// WithIndex is WithClient, and indexes what was read first if no daemon does that.
func (p *Program) WithIndex(ctx context.Context, do func(*api.Client) error) error {
	return p.WithDaemonOr(ctx, do, func(s *server.Server) error {
		if err := s.Memory().CatchUp(ctx); err != nil {
			return err
		}
		return do(s.Client(daemon.UserAgent))
	})
}

// WithSubjects is WithIndex, and finds the subjects of what has none yet if no daemon does that.
func (p *Program) WithSubjects(ctx context.Context, do func(*api.Client) error) error {
	return p.WithDaemonOr(ctx, do, func(s *server.Server) error {
		if err := s.Memory().CatchUpOnSubjects(ctx); err != nil {
			return err
		}
		return do(s.Client(daemon.UserAgent))
	})
}

// Show asks as [Program.WithClient] does, and shows the answer: as JSON with --json, else by show.
func Show[T any](p *Program, c *cli.Context, ask func(*api.Client) (T, error), show func(T) error) error {
	return p.WithClient(c.Context, func(b *api.Client) error {
		answer, err := ask(b)
		switch {
		case err != nil:
			return err
		case c.Bool("json"):
			return p.PrintJSON(answer)
		}
		return show(answer)
	})
}

// All is the action of a command without arguments that shows what ask answers.
func All[T any](p *Program, ask func(*api.Client, context.Context) (T, error), show func(T) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := NoArgs(c.Args().Slice()); err != nil {
			return err
		}
		return Show(p, c, func(b *api.Client) (T, error) { return ask(b, c.Context) }, show)
	}
}

// One is the action of a command that shows what ask answers of its only argument, which what names.
func One[T any](p *Program, what string, ask func(*api.Client, context.Context, string) (T, error),
	show func(T) error,
) cli.ActionFunc {
	return func(c *cli.Context) error {
		arg, err := OneArg(c.Args().Slice(), what)
		if err != nil {
			return err
		}
		return Show(p, c, func(b *api.Client) (T, error) { return ask(b, c.Context, arg) }, show)
	}
}
