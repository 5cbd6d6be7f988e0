// Package memory does the operations on what is kept to be found again: knowledge bases and what fills them, search,
// notes and passages, and the documents that could not be indexed.
package memory

import (
	"log/slog"
	"net/http"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/jobs"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// Options configures a Service. Store, Jobs, Offline and Log are required.
type Options struct {
	Store     *store.Store
	Knowledge *knowledge.Knowledge // if nil, nothing is indexed
	Fleet     *fleet.Fleet         // if nil, this is a node alone
	Dir       string               // the data directory, for files beside the store
	Jobs      *jobs.Runner
	// Crawl returns a crawl service by its name, or the configured one if that is empty. If nil, nothing is crawled.
	Crawl   func(service string) (crawl.Service, error)
	Offline func() bool // whether no origin may be asked just now
	Log     *slog.Logger
}

// Service does the operations.
type Service struct{ o Options }

// New returns a Service. It starts nothing.
func New(o Options) *Service { return &Service{o} }

// Index returns the index, or an error if none is open.
func (s *Service) Index() (*knowledge.Knowledge, error) {
	if s.o.Knowledge == nil {
		return nil, api.Problem(http.StatusServiceUnavailable, "no index is open")
	}
	return s.o.Knowledge, nil
}
