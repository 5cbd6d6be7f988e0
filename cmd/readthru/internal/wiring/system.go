package wiring

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/agentsetup"
	"github.com/readthru/readthru/internal/llm"
)

// system describes how the program is configured and what it keeps.
func (c *Core) system(ctx context.Context) (*api.System, error) {
	s := c.now.Load()
	sys := &api.System{
		Settings: s.Shown(), Agents: []api.Agent{}, Models: []api.Model{}, Storage: storage(ctx, c.dir), Log: c.logEnd.list(),
	}
	for _, a := range agentsetup.AgentStates(ctx, s) {
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

// trustOf says, for the health of the daemon, which trust stores have the authority, which have not, and which nobody
// could look into.
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

// storage measures, for the health of the daemon, what is in a directory, the largest first. What goes meanwhile is not
// counted.
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
