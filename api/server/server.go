package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/api/guard"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/api/server/figures"
	"github.com/readthru/readthru/api/server/people"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/guess"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/openid"
	"github.com/readthru/readthru/internal/pace"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// Options configures a Server. Fetch and Store are required. The figures of a function that is nil are zero.
type Options struct {
	Fetch    *fetch.Fetcher
	Store    *store.Store
	Dir      string // the data directory, for files beside the store
	Version  string
	Instance string   // random, identifies the daemon
	Secret   string   // with it the daemon proves to its own commands who it is; if empty it proves nothing
	Hosts    []string // names besides the loopback ones that the Host field may carry

	// Token makes who shows it known. Strangers are answered on open paths alone. If it is empty, nobody can show it.
	Token string
	// Users may ask with their tokens, as far as their roles allow. If nil, there are none.
	Users *users.Directory
	// ConfiguredUsers returns the names of the users of the configuration, who may use the proxy alone. If nil, there
	// are none.
	ConfiguredUsers func() []string

	// Identity is the provider of identities by which browsers sign in, too. If nil, there is none; it needs Users.
	Identity *openid.Provider

	// TrustUser makes programs of this machine known that run as the user of this process, where the kernel tells.
	TrustUser bool

	// Switches returns how the switches are, and Switch changes them all. If nil, nothing can be switched and none is
	// on.
	Switches func() api.Switches
	Switch   func(api.Switches) error

	// Treatment returns what is done with connections to a host, and why; see [Site]. If nil, no proxy runs.
	Treatment func(host string) (treatment, why string)

	FileRules func() hostrule.Rules // the configured rules; if nil, there are none
	Changed   func() error          // takes over changed rules of the store; if nil, nobody uses them yet

	WorkTimes *figures.WorkTimes // if nil, /metrics does not tell what parts of the work took

	MarkdownNewMode string

	// Services returns the third parties that the configuration lets be asked, by their names in the ledger, and
	// whether each runs on this machine. If nil, there are none.
	Services func() map[string]bool

	Knowledge *knowledge.Knowledge // if nil, nothing is indexed
	// Crawl returns a crawl service by its name, or the configured one if that is empty. If nil, nothing is crawled.
	Crawl func(service string) (crawl.Service, error)

	Proxy      func() string                  // the proxy's address, host:port
	AutoConfig func(addr string) string       // the proxy auto-configuration for that address
	Requests   func() api.RequestStats        // counts of the proxy; the server sets those of all doors
	Open       func() (requests, origins int) // requests to the proxy, and of it to origins, in progress
	Cache      func() api.CacheStats          // the cache's own counts of its answers, for /metrics
	// Fleet is this node's part in a fleet. If nil, it is a node alone.
	Fleet *fleet.Fleet

	Journal        *journal.Journal                   // what is told of the last requests; if nil, there are none
	Session        func(name string) api.SessionStats // counts of a session; the server sets its name
	Sessions       func() []api.SessionStats          // counts of all sessions, with their names
	SessionProxies people.SessionProxies              // if nil, sessions have no proxies of their own
	CA             func() []byte                      // the authority's certificate, PEM
	// SigningKeys answers the directory of the key that signs own requests; nil: none does.
	SigningKeys func(http.Header, time.Time) ([]byte, error)
	Trust       func(context.Context) []api.Trust // whether each trust store has the authority
	RenewCA     func() error                      // replaces the authority; if nil, it cannot be replaced here

	// System returns how the program is configured and what it keeps; the server adds the authority. If nil, nothing.
	System func(ctx context.Context) (*api.System, error)

	Firecrawl *firecrawl.Service // serves Firecrawl's API unless it is nil; Stop closes it

	Summary *summary.Maker // if nil, summaries are extractive and not stored

	// Expired reports whether a stored response is stale. The operation sweepCache needs it.
	Expired func(*store.Response) bool
	// Explain says why the cache would or would not answer a fetch of a URL from its store.
	Explain func(ctx context.Context, url string) ([]api.ExplainLine, error)
	// Fresh reports whether the cache would answer a fetch of a URL from its store.
	Fresh func(ctx context.Context, url string) (bool, error)

	// Dashboard returns the paths that answer people with pages, which are guarded as every path is; those below
	// /assets/ are open to all. At / a browser gets the dashboard, and others the index. If nil, there is none.
	Dashboard func(s *Server) *http.ServeMux

	// MCP returns the handler of /mcp, which is guarded as every path is. If nil, there is no such path.
	MCP func(s *Server) http.Handler

	// End makes the daemon stop, and returns at once. If nil, there is no daemon to stop.
	End func()

	Log *slog.Logger // if nil nothing is logged

	LastEnd fault.LastEnd // of the last daemon; the zero value says nothing
}

// Server does the operations. It answers them over HTTP as an [http.Handler], and in this process through the clients
// that [Server.Client] returns.
type Server struct {
	o     Options
	guard *guard.Guard
	mux   *http.ServeMux
	table []route
	open  map[string]bool // paths on which strangers are answered
	holds *holds
	use   use

	dashboard *http.ServeMux // may be nil

	families
}

// New returns a Server. It starts nothing.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Journal == nil {
		o.Journal = journal.New(journal.Options{})
	}
	if o.Summary == nil {
		o.Summary = summary.New(summary.Options{})
	}
	s := &Server{
		o: o, mux: http.NewServeMux(), holds: newHolds(),
		guard: &guard.Guard{Token: o.Token, TrustUser: o.TrustUser, Users: o.Users},
		open:  map[string]bool{},
	}
	if o.Store == nil {
		s.guard.Browsers = guard.NewBrowsers(o.Token, nil)
	} else {
		s.guard.Browsers = guard.NewBrowsers(o.Token, o.Store.SignedOut())
		s.guard.Browsers.Keep = o.Store.KeepSignedOut
	}
	if !o.TrustUser {
		s.guard.Guesses = guess.New()
	}
	for _, h := range o.Hosts {
		s.guard.Hosts = append(s.guard.Hosts, strings.TrimSuffix(strings.ToLower(h), "."))
	}
	s.families = newFamilies(o, s.Running, s.untilStopping)
	s.table = s.routes()
	if o.MCP != nil {
		s.table = append(s.table, mcpOperations(o.MCP(s))...)
	}
	if o.Firecrawl != nil {
		s.table = append(s.table, firecrawlOperations(o.Firecrawl)...)
	}
	s.mount()
	if o.Dashboard != nil {
		s.dashboard = o.Dashboard(s)
	}
	return s
}

// ServeHTTP guards a request of the admin port and has it answered: by the dashboard, the page that signs in, or the
// operation of its path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.use.begun.Add(1)
	s.use.open.Add(1)
	defer s.use.open.Add(-1)
	h := w.Header()
	// what is answered here is of this moment, and for who asks alone
	h.Set("Cache-Control", "no-store")
	entry := r.URL.Path == guard.SigninPath
	leave := r.URL.Path == signoutPath
	provider := s.isProviderPath(r)
	page := s.isPage(r) || provider || (entry || leave) && r.Method == http.MethodPost && guard.IsOwnForm(r)
	h.Set("Content-Security-Policy", policyOf(page))
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", referrerOf(page || entry || wantsPage(r)))
	h.Set("X-Content-Type-Options", "nosniff")
	asset := page && strings.HasPrefix(r.URL.Path, "/assets/")
	who, known, e := s.guard.Check(r, s.open[r.URL.Path] || asset || provider, page)
	if who.Meter != nil {
		counted := &countedResponse{ResponseWriter: w}
		defer func() { who.Meter.Count(time.Now(), users.Use{Requests: 1, Bytes: counted.bytes}) }()
		w = counted
	}
	if e == nil {
		e = asker.Limited(who.Meter.Ask(time.Now()))
	}
	if e != nil {
		s.o.Log.Warn("admin request refused", "status", e.Status, "reason", e.Detail)
		if e.Wait > 0 {
			h.Set("Retry-After", guess.RetryAfter(e.Wait))
		}
		if e.Status == http.StatusUnauthorized {
			h.Set("WWW-Authenticate", `Bearer realm="readthru"`)
			if wantsPage(r) || page && guard.IsOwnForm(r) {
				s.turnAway(w, r, e)
				return
			}
		}
		s.refuse(w, r, e)
		return
	}
	if known {
		ctx, cancel := context.WithCancel(users.With(r.Context(), who))
		defer cancel()
		defer s.guard.WhenGone(who, cancel)() // streams of events end then, too
		r = r.WithContext(ctx)
	}
	switch {
	case page && entry:
		s.signIn(w, r)
		return
	case page && leave:
		s.signOut(w, r)
		return
	case provider:
		s.serveProvider(w, r)
		return
	}
	if page {
		s.dashboard.ServeHTTP(w, r.WithContext(asker.With(r))) //nolint:contextcheck // as in dispatch
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Client returns a client whose requests this server answers in process: without a guard, and without limits on the
// size of requests.
func (s *Server) Client(agent string) *api.Client {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, guard.AsOurs(r)) })
	return api.NewLocalClient(handler, "", agent, s.o.Log)
}

// mount registers the operations: one handler for each path, which chooses by method and answers 405 with Allow for
// methods that the path does not take.
func (s *Server) mount() {
	byPath := map[string][]route{}
	for _, o := range s.table {
		byPath[o.Path] = append(byPath[o.Path], o)
		s.open[o.Path] = s.open[o.Path] || o.Open
	}
	for path, list := range byPath {
		pattern := path
		if path == "/" {
			pattern = "/{$}"
		}
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.dispatch(w, r, list) })
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if s.o.Firecrawl != nil && firecrawl.Owns(r.URL.Path) {
			s.refuse(w, r, api.Problem(http.StatusNotFound, "%s", firecrawl.Missing(r.URL.Path)))
			return
		}
		s.refuse(w, r, api.Problem(http.StatusNotFound, "unknown path %s: GET /openapi.json lists all paths",
			r.URL.Path))
	})
}

// dispatch calls the operation for the method of r, if the role of who asks allows it, and bounds the content that it
// reads. HEAD is answered as GET.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, list []route) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var allow []string
	for _, o := range list {
		if o.Method == method {
			if err := asker.May(r.Context(), o.Operation); err != nil {
				s.refuse(w, r, err)
				return
			}
			if !api.AnswersHere(w) {
				r.Body = http.MaxBytesReader(w, r.Body, o.Limit)
			}
			r = r.WithContext(asker.With(r)) //nolint:contextcheck // jobs and what is told outlive a request
			err := s.recorded(o, r, func(r *http.Request) error { return o.serve(w, r) })
			if err != nil {
				s.refuse(w, r, err)
			}
			return
		}
		allow = append(allow, o.Method)
		if o.Method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	slices.Sort(allow)
	w.Header().Set("Allow", strings.Join(allow, ", "))
	s.refuse(w, r, api.Problem(http.StatusMethodNotAllowed, "%s takes %s", r.URL.Path, strings.Join(allow, ", ")))
}

// drainTime is how long open requests may take to end when the server stops.
const drainTime = 5 * time.Second

// Serve answers requests of the admin port on l until ctx ends. Then it stops the jobs and waits up to five seconds for
// open requests. It closes l. A client that takes nothing of an answer is cut off.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           fault.Handler("api: request", s),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       90 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	srv.RegisterOnShutdown(func() { s.holds.update(func() { s.holds.stopping = true }) })
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(fault.Contain("api: end serving", func() {
		select {
		case <-ctx.Done():
		case <-stop:
			return
		}
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if fault.Catch("api: stop serving", func() error { s.jobs.Stop(); return srv.Shutdown(end) }) != nil {
			_ = srv.Close() // what Shutdown could not end
		}
	}))
	err := srv.Serve(pace.Listener(l))
	close(stop)
	wg.Wait()
	s.jobs.Stop() // also if Serve itself failed
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// countedResponse counts the bytes of an answer, for the use of the user who asked.
type countedResponse struct {
	http.ResponseWriter
	bytes int64
}

// Write implements [http.ResponseWriter].
func (w *countedResponse) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Flush implements [http.Flusher], for handlers of others.
func (w *countedResponse) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap is for [http.ResponseController].
func (w *countedResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }
