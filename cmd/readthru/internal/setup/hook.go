package setup

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/hooks"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
)

const (
	hookDeadline = 3 * time.Second       // of a hook (rule A18)
	hookShare    = hookDeadline * 9 / 10 // of it, without a daemon, for what the event causes
)

// hookCommand is the command hook, which agents run at their events. It ends with 0 whatever happens: a hook that fails
// may stop its agent.
func (p *program) hookCommand() *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "handle one event of an agent's hook",
		ArgsUsage: "AGENT",
		Description: "The event is JSON on standard input; the answer for the agent goes to standard output. The exit " +
			"status is always 0, and events\n" +
			"of no use are ignored: a hook never blocks its agent. \"readthru setup AGENT\" installs the hook.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "verbatim", Usage: "replace what a tool made of a page by the page"},
			&cli.IntFlag{Name: "max-tokens", Usage: "length of a page in an answer", DefaultText: "10000"},
			&cli.DurationFlag{
				Name:  "wait",
				Usage: "how long to wait for work so that the answer can report it", DefaultText: "2s",
			},
		},
		Action: func(c *cli.Context) error {
			defer quietly()
			if os.Getenv(settings.ReplayVariable) != "" {
				return nil
			}
			agent, err := command.OneArg(c.Args().Slice(), "AGENT")
			if err != nil || !agents.Known(agents.Agent(agent)) {
				p.Note("hook: unknown agent %q", c.Args().First())
				return nil
			}
			h := api.HookEvent{
				Agent: agent, Accept: "text/plain", Verbatim: c.Bool("verbatim"), MaxTokens: c.Int("max-tokens"),
				Wait: c.Duration("wait"),
			}
			_, _ = p.Out.Write(p.hook(c.Context, h)) // there is no other place to report an error
			return nil
		},
	}
}

// quietly recovers from a panic: its exit status would stop the agent.
func quietly() { _ = recover() }

// hook answers an event. The daemon does the work. Without a daemon this process does what it can in time, and spools
// the rest for the next process that opens the store.
func (p *program) hook(ctx context.Context, h api.HookEvent) []byte {
	var err error
	if h.Event, err = io.ReadAll(io.LimitReader(p.In, api.MaxHook+1)); err != nil || len(h.Event) > api.MaxHook {
		return nil
	}
	e, ok := agents.Parse(h.Event)
	if !ok {
		return nil
	}
	dir, _, err := settings.DataDir(p.DataDirFlag)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, hookDeadline+h.Wait)
	defer cancel()
	if e.Stage == agents.Start {
		return p.sessionStart(ctx, agents.Agent(h.Agent)).Encode(agents.Agent(h.Agent), e, true)
	}
	if d := daemon.Find(ctx, dir); d != nil {
		client := api.NewClient(d.Admin, d.Token, daemon.UserAgent)
		defer client.Close()
		if text, err := client.Hook(ctx, h); err == nil {
			return text
		}
	} else if text, ok := p.hookHere(ctx, h); ok {
		return text
	}
	if settings.MakeDataDir(dir) == nil {
		_ = hooks.Spool(dir, e.Work(agents.Agent(h.Agent))) // an error is not reported
	}
	return nil
}

// hookHere answers an event without a daemon. ok is false if the store could not be opened in time.
func (p *program) hookHere(ctx context.Context, h api.HookEvent) (text []byte, ok bool) {
	began := time.Now()
	type answer struct {
		text []byte
		ok   bool
	}
	told, ended := make(chan answer, 1), make(chan struct{})
	go func() { // opening a store cannot be interrupted: the process ends at the deadline
		defer close(ended)
		defer quietly()
		s, err := p.Load()
		if err == nil {
			err = settings.MakeDataDir(s.DataDir)
		}
		var c *wiring.Core
		if err == nil {
			//nolint:contextcheck // opening the store takes none
			c, err = wiring.Open(s, s.DataDir, false, slog.New(slog.DiscardHandler))
		}
		if err != nil {
			told <- answer{}
			return
		}
		server := c.Server(nil, nil, &daemon.Info{}, nil)
		server.Hooks().TakeUp()
		text, err := server.Client(daemon.UserAgent).Hook(ctx, h)
		told <- answer{text, err == nil}
		own, cancel := context.WithTimeout(ctx, hookShare+h.Wait-time.Since(began))
		server.Hooks().Await(own)
		cancel()
		server.Stop()
		c.Abandon()   // the agent waits for the end of this process
		_ = c.Close() //nolint:contextcheck // closing takes none; an error is not reported
	}()
	select {
	case a := <-told:
		select {
		case <-ended:
		case <-ctx.Done():
		}
		return a.text, a.ok
	case <-ctx.Done():
		return nil, false
	}
}
