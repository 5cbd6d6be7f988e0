// Package pages does the operations on pages: it fetches them, shows what is stored of them and was delivered, and
// removes what would answer for them.
package pages

import (
	"context"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// Options configures a Service. Fetch, Store, Summary and Offline are required.
type Options struct {
	Fetch     *fetch.Fetcher
	Store     *store.Store
	Knowledge *knowledge.Knowledge // if nil, nothing is indexed
	Fleet     *fleet.Fleet         // if nil, this is a node alone
	Summary   *summary.Maker
	Offline   func() bool // whether no origin may be asked just now

	// Expired reports whether a stored response is stale. SweepCache needs it.
	Expired func(*store.Response) bool
	// Explain says why the cache would or would not answer a fetch of a URL from its store. If nil, nothing does.
	Explain func(ctx context.Context, url string) ([]api.ExplainLine, error)
	// Fresh reports whether the cache would answer a fetch of a URL from its store. If nil, it is not said.
	Fresh func(ctx context.Context, url string) (bool, error)
}

// Service does the operations.
type Service struct{ o Options }

// New returns a Service.
func New(o Options) *Service { return &Service{o} }
