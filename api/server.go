package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"readthru/crawl"
	"readthru/fetch"
	"readthru/firecrawl"
	"readthru/knowledge"
	"readthru/store"
	"readthru/summary"
)

// Options configures a Server. Fetch and Store are required; the functions may be nil, their figures are zero then.
type Options struct {
	Fetch    *fetch.Fetcher
	Store    *store.Store
	Dir      string // the data directory, for what is written beside the store
	Version  string
	Instance string   // random, tells one daemon from another
	Hosts    []string // names besides the loopback ones that the Host field may carry
	Token    string   // asked for on every path but the public ones; if empty none is
	Offline  bool
	MaxBody  int64 // largest content of something that is not a page, in bytes; if zero 32 MiB

	MarkdownNewMode string

	Knowledge *knowledge.Knowledge          // if nil, nothing is indexed
	Crawl     func() (crawl.Service, error) // the crawl service as configured; if nil there is none

	Proxy        func() string                  // the proxy's address, host:port
	Requests     func() RequestStats            // counts of the proxy
	Cache        func() CacheStats              // counts of the cache; entries, bytes and ratio are filled in here
	Recent       func() any                     // the last requests, newest first, as JSON shows them
	Session      func(name string) SessionStats // counts of a session; its name is filled in here
	SessionDoors SessionDoors                   // if nil no session has one
	CA           func() []byte                  // the authority's certificate, PEM

	Firecrawl *firecrawl.Service // answers as a Firecrawl server does; if nil nothing does. Stop closes it

	Summary *summary.Maker // if nil, summaries are extractive and not kept

	// the cache's, of its stored responses for a fetch
	Explain func(ctx context.Context, url string) ([]ExplainLine, error)
	// the cache's: does one of them answer a fetch now
	Fresh func(ctx context.Context, url string) (bool, error)

	// MCP makes the handler of /mcp over this server's operations. It is guarded as every path is. If nil there is none.
	MCP func(*Server) http.Handler

	Log *slog.Logger // if nil nothing is logged
}

// Server answers operations in its own process, and over HTTP as an [http.Handler].
type Server struct {
	o       Options
	started time.Time
	guard   guard
	mux     *http.ServeMux
	metrics http.Handler
	routes  []route
	leases  *leases
	jobs    *jobs
	hooks   *hookQueue
}

// New returns a Server. It starts nothing.
func New(o Options) *Server {
	if o.MaxBody == 0 {
		o.MaxBody = 32 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Summary == nil {
		o.Summary = summary.New(summary.Options{})
	}
	s := &Server{
		o: o, started: time.Now(), guard: guard{token: o.Token}, mux: http.NewServeMux(), leases: newLeases(),
		jobs: newJobs(),
	}
	for _, h := range o.Hosts {
		s.guard.hosts = append(s.guard.hosts, strings.TrimSuffix(strings.ToLower(h), "."))
	}
	s.hooks = newHookQueue(o.Dir, o.Log, s.doHook)
	s.metrics = s.metricsHandler()
	s.routes = s.table()
	if o.MCP != nil {
		s.routes = append(s.routes, mcpRoute(o.MCP(s)))
	}
	if o.Firecrawl != nil {
		s.routes = append(s.routes, firecrawlRoutes(o.Firecrawl)...)
	}
	s.mount()
	return s
}

// The largest contents of requests, in bytes.
const (
	maxRequest = 1 << 20
	maxMCP     = 4 << 20  // as many URLs as a batch may have, too
	maxIngest  = 64 << 20 // a text of 32 MiB, escaped as JSON
	maxPack    = 4 << 30  // goes to a file
)

// most returns the largest content that a path takes.
func most(path string) int64 {
	switch path {
	case "/mcp", "/v1/batch/scrape", "/v2/batch/scrape":
		return maxMCP
	case "/api/v1/ingest":
		return maxIngest
	case "/api/v1/kbs/unpack":
		return maxPack
	}
	if strings.HasPrefix(path, "/api/v1/hooks/") {
		return maxHook
	}
	return maxRequest
}

// ServeHTTP guards and dispatches a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	if e := s.guard.check(r, public(r.URL.Path)); e != nil {
		if e.Status == http.StatusUnauthorized {
			h.Set("WWW-Authenticate", `Bearer realm="readthru"`)
		}
		s.o.Log.Warn("admin request refused", "status", e.Status, "reason", e.Detail)
		s.refuse(w, r, e)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, most(r.URL.Path))
	s.mux.ServeHTTP(w, r)
}

// mount registers the routes: one handler a path, which chooses by method and answers 405 with Allow for the others.
func (s *Server) mount() {
	byPath := map[string][]route{}
	for _, rt := range s.routes {
		byPath[rt.path] = append(byPath[rt.path], rt)
	}
	for path, routes := range byPath {
		pattern := path
		if path == "/" {
			pattern = "/{$}"
		}
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.dispatch(w, r, routes) })
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, problem(http.StatusNotFound, "there is nothing at %s: GET /openapi.json lists what there is",
			r.URL.Path))
	})
}

func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, routes []route) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var allow []string
	for _, rt := range routes {
		if rt.method == method {
			if err := rt.handle(w, r); err != nil {
				s.refuse(w, r, err)
			}
			return
		}
		allow = append(allow, rt.method)
		if rt.method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	slices.Sort(allow)
	w.Header().Set("Allow", strings.Join(allow, ", "))
	s.refuse(w, r, problem(http.StatusMethodNotAllowed, "%s takes %s", r.URL.Path, strings.Join(allow, ", ")))
}

// drainTime is how long requests under way may take to end once the server is to stop.
const drainTime = 5 * time.Second

// Serve answers on l until ctx ends, then stops the jobs and lets the requests under way end, at most five seconds. It
// closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       90 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	srv.RegisterOnShutdown(func() { s.leases.update(func() { s.leases.stopping = true }) })
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		select {
		case <-ctx.Done():
		case <-stop:
			return
		}
		s.Stop()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if srv.Shutdown(end) != nil {
			_ = srv.Close() // what Shutdown could not end
		}
	})
	err := srv.Serve(l)
	close(stop)
	wg.Wait()
	s.Stop() // also where Serve failed by itself
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the status is out: an error here is a client that has gone
	return nil
}

// reply answers with what an operation returned.
func reply(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, v)
}

// decode reads the request's JSON content into v. It refuses unknown fields and a second value.
func decode(r *http.Request, v any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return err
		}
		if errors.Is(err, io.EOF) {
			return problem(http.StatusBadRequest, "the request has no content: send a JSON object")
		}
		return problem(http.StatusBadRequest, "read the request's JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return problem(http.StatusBadRequest, "the request's content has more than one JSON value")
	}
	return nil
}
