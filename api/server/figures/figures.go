// Package figures does the operations that say how this node is and what it has done: health, statistics, series and
// metrics.
package figures

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/people"
	"github.com/readthru/readthru/api/server/sites"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// Options configures a Service. Fetch, Store, Journal, Sites, People, Jobs, Switches and Log are required. The figures
// of a function that is nil are zero.
type Options struct {
	Fetch     *fetch.Fetcher
	Store     *store.Store
	Journal   *journal.Journal
	Knowledge *knowledge.Knowledge // if nil, nothing is indexed
	Fleet     *fleet.Fleet         // if nil, this is a node alone
	Sites     *sites.Service
	People    *people.Service
	Jobs      func() int // how many run
	Switches  func() api.Switches

	Version         string
	Instance        string // random, identifies the daemon
	Secret          string // if empty, the daemon proves to nobody who it is
	MarkdownNewMode string
	LastEnd         fault.LastEnd // of the last daemon; the zero value says nothing

	Proxy     func() string                  // the proxy's address, host:port
	Requests  func() api.RequestStats        // counts of the proxy; those of all doors come from Journal
	Open      func() (requests, origins int) // requests to the proxy, and of it to origins, in progress
	Cache     func() api.CacheStats          // the cache's own counts of its answers
	WorkTimes *WorkTimes                     // what parts of the work took; if nil, that is not told
	Log       *slog.Logger
}

// Service does the operations.
type Service struct {
	o       Options
	started time.Time
	metrics http.Handler
	sampler sampler
}

// New returns a Service. It starts nothing.
func New(o Options) *Service {
	s := &Service{o: o, started: time.Now()}
	s.metrics = s.metricsHandler()
	s.sampler.begin(s)
	return s
}

// Close writes what was counted into the time series a last time.
func (s *Service) Close() { s.sampler.take(s, time.Now()) }
