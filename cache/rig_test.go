package cache_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A rig is a cache before a real origin, over a real store.
type rig struct {
	t      *testing.T
	cache  *cache.Cache
	store  *store.Store
	origin *httptest.Server
	asked  atomic.Int64 // requests that reached the origin
}

// newRig serves handler through a cache. The options need neither Store nor Next.
func newRig(t *testing.T, o cache.Options, handler http.HandlerFunc) *rig {
	t.Helper()
	r := &rig{t: t}
	r.origin = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.asked.Add(1)
		handler(w, req)
	}))
	var err error
	if r.store, err = store.Open(store.Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	o.Page, o.Markdown = page.IsPage, page.IsMarkdown
	o.Store, o.Log = r.store, slog.New(slog.DiscardHandler)
	if o.Next == nil {
		o.Next = transport
	}
	r.cache = cache.New(o)
	t.Cleanup(func() {
		_ = r.cache.Close()
		transport.CloseIdleConnections()
		r.origin.Close()
		_ = r.store.Close()
	})
	return r
}

// request makes a request for the path with fields given as "Name: value".
func (r *rig) request(method, path string, fields ...string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.origin.URL+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		req.Header.Add(name, value)
	}
	return req
}

// A got is a response, read.
type got struct {
	code   int
	body   string
	header http.Header
	status string // the member of Cache-Status
}

// do sends a request and reads the answer.
func (r *rig) do(req *http.Request) got {
	r.t.Helper()
	g, err := r.try(req)
	if err != nil {
		r.t.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	return g
}

func (r *rig) try(req *http.Request) (got, error) {
	resp, err := r.cache.RoundTrip(req)
	if err != nil {
		return got{}, err
	}
	defer resp.Body.Close()
	outcome := cache.OutcomeOf(resp)
	body, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, string(body), resp.Header, outcome.String()}, err
}

func (r *rig) get(fields ...string) got {
	r.t.Helper()
	return r.do(r.request(http.MethodGet, "/", fields...))
}

// wantAsked fails unless n requests have reached the origin.
func (r *rig) wantAsked(n int64) {
	r.t.Helper()
	if got := r.asked.Load(); got != n {
		r.t.Errorf("requests that reached the origin = %d, want %d", got, n)
	}
}

// respond answers with fields given as "Name: value" and a body.
func respond(w http.ResponseWriter, code int, body string, fields ...string) {
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		w.Header().Add(name, value)
	}
	w.WriteHeader(code)
	io.WriteString(w, body)
}

func fixed(body string, fields ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { respond(w, 200, body, fields...) }
}
