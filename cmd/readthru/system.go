package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/llm"
)

// system describes how the program is configured and what it keeps.
func (c *core) system(ctx context.Context) (*api.System, error) {
	s := c.now.Load()
	sys := &api.System{
		Settings: s.shown(), Agents: []api.Agent{}, Models: []api.Model{}, Storage: storage(ctx, c.dir), Log: c.logEnd.list(),
	}
	for _, a := range agentStates(ctx, s) {
		sys.Agents = append(sys.Agents, api.Agent{
			Name: string(a.Agent), Title: a.Title, Found: a.Found, State: a.State, Error: a.Error,
		})
	}
	for _, m := range []struct {
		use, name string
		client    *llm.Client
	}{
		{"llm", s.LLM.Model, c.chat},
		{"embeddings", s.Embeddings.Model, c.embeddings},
		{"rerank", s.Rerank.Model, c.reranker},
	} {
		if m.client != nil {
			sys.Models = append(sys.Models, api.Model{
				Use: m.use, Service: m.client.Service(), Model: m.name, Here: m.client.Local(),
			})
		}
	}
	return sys, ctx.Err()
}

// trustOf says which trust stores have the authority, which have not, and which nobody could look into.
func trustOf(stores []certs.Trust) (list []api.Trust) {
	for _, s := range stores {
		t := api.Trust{Store: s.Store, State: api.TrustMissing}
		switch {
		case s.Err != nil:
			t.State, t.Reason = api.TrustUnknown, s.Err.Error()
		case s.Has:
			t.State = api.TrustInstalled
		}
		list = append(list, t)
	}
	return list
}

// storage measures what is in a directory, the largest first. What goes meanwhile is not counted.
func storage(ctx context.Context, dir string) []api.Storage {
	sizes := map[string]*api.Storage{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // the only error is that of ctx
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // it went
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it went
		}
		name, _, nested := strings.Cut(strings.TrimPrefix(path, dir+string(filepath.Separator)), string(filepath.Separator))
		if !nested {
			name = "other files"
		}
		if sizes[name] == nil {
			sizes[name] = &api.Storage{Name: name}
		}
		sizes[name].Files++
		sizes[name].Bytes += info.Size()
		return nil
	})
	list := []api.Storage{}
	for _, s := range sizes {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b api.Storage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return list
}

const (
	logLines    = 200
	logLineSize = 2000 // characters; what is longer is cut
)

// logEnd keeps the last lines of the log, without those of requests, which the journal has.
type logEnd struct {
	mu    sync.Mutex
	lines []string
}

// handler returns what takes messages from a level on.
func (e *logEnd) handler(level slog.Leveler) slog.Handler {
	return withoutRequests{slog.NewTextHandler(e, &slog.HandlerOptions{Level: level})}
}

// Write implements [io.Writer]. It takes a line.
func (e *logEnd) Write(line []byte) (int, error) {
	text := clip.Ellipsis(strings.TrimSuffix(string(line), "\n"), logLineSize)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.lines) == logLines {
		e.lines = slices.Delete(e.lines, 0, 1)
	}
	e.lines = append(e.lines, text)
	return len(line), nil
}

// list returns the lines. A logEnd that is nil has none.
func (e *logEnd) list() []string {
	if e == nil {
		return []string{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string{}, e.lines...)
}

// withoutRequests drops the line of each request.
type withoutRequests struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h withoutRequests) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "request" {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h withoutRequests) WithAttrs(list []slog.Attr) slog.Handler {
	return withoutRequests{h.Handler.WithAttrs(list)}
}

// WithGroup implements [slog.Handler].
func (h withoutRequests) WithGroup(name string) slog.Handler {
	return withoutRequests{h.Handler.WithGroup(name)}
}

// trustText says whether a trust store has the authority.
func trustText(t api.Trust) string {
	if t.State == api.TrustUnknown {
		return "could not look: " + t.Reason
	}
	return t.State
}

func (p *program) systemCommand() *cli.Command {
	return &cli.Command{
		Name: "system", Usage: "show what the daemon stores, its authority, agents, models and the end of its log",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArgs(c.Args().Slice()); err != nil {
				return err
			}
			return p.withClient(c.Context, func(b *api.Client) error {
				sys, err := b.System(c.Context)
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return p.printJSON(sys)
				}
				var rows [][]string
				add := func(kind, name, is string) { rows = append(rows, []string{kind, name, is}) }
				if a := sys.Authority; a != nil {
					add("authority", a.Name, "until "+day(a.Until)+", SHA-256 "+a.Fingerprint)
					for _, t := range a.Trust {
						add("trust", t.Store, trustText(t))
					}
				}
				for _, a := range sys.Agents {
					add("agent", a.Title, cmp.Or(a.Error, "set up: "+a.State))
				}
				for _, m := range sys.Models {
					add("model", m.Use, m.Service+" "+m.Model)
				}
				for _, s := range sys.Storage {
					add("stored", s.Name, fmt.Sprintf("%d KiB in %d files", (s.Bytes+1023)/1024, s.Files))
				}
				for _, l := range sys.Log {
					add("log", "", l)
				}
				return p.table([]string{"KIND", "NAME", "STATE"}, rows)
			})
		},
	}
}
