package fetch_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/transport/transporttest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// chain is the whole way of a page: fetcher, cache, store, transport, and origins on loopback.
type chain struct {
	*fetch.Fetcher
	store     *store.Store
	cache     *cache.Cache
	transport *transport.Transport
	origin    *origin
}

// origin serves site.test and every other name, over TLS and without, by one handler, and remembers what it was asked.
type origin struct {
	mu       sync.Mutex
	requests []*http.Request
	http.Handler
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.requests = append(o.requests, r.Clone(context.WithoutCancel(r.Context())))
	o.mu.Unlock()
	o.Handler.ServeHTTP(w, r)
}

// asked returns the requests so far, as "METHOD host/path".
func (o *origin) asked() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var list []string
	for _, r := range o.requests {
		list = append(list, r.Method+" "+r.Host+r.URL.RequestURI())
	}
	return list
}

func (o *origin) last(t *testing.T) *http.Request {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.requests) == 0 {
		t.Fatal("the origin was not asked")
	}
	return o.requests[len(o.requests)-1]
}

func newChain(tb testing.TB, h http.Handler, change ...func(*fetch.Options)) *chain {
	tb.Helper()
	o := &origin{Handler: h}
	ca := transporttest.NewAuthority(tb)
	secure, plain := ca.Serve(tb, transporttest.Leaf{}, o), transporttest.Serve(tb, o)
	c := &chain{origin: o}
	c.transport = transporttest.New(tb, transport.Options{
		CAFile:  ca.File,
		Resolve: []string{"*:443=" + secure, "*:80=" + plain}, AllowPrivateProxied: true, UserAgent: "readthru/test",
	})
	var err error
	if c.store, err = store.Open(store.Options{Dir: tb.TempDir()}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.store.Close() })
	opts := fetch.Options{
		Direct: c.transport, Store: c.store, UserAgent: "readthru/test", FrontMatter: true,
		MarkdownNew: fetch.MarkdownNew{Mode: "off"}, Timeout: 2 * time.Minute, GitHub: github.Options{CAFile: ca.File},
	}
	for _, f := range change {
		f(&opts)
	}
	c.cache = cache.New(cache.Options{
		Page: page.IsPage, Markdown: page.IsMarkdown,
		Store: c.store, Next: c.transport, Private: opts.Private,
		PartitionKey: []byte("test"), PageLifetime: 24 * time.Hour,
	})
	tb.Cleanup(func() { _ = c.cache.Close() })
	if opts.Client == nil {
		opts.Client = c.cache
	}
	c.Fetcher = fetch.New(opts)
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// read gets a page as a client of the proxy does, and fails the test where that is an error.
func (c *chain) read(t *testing.T, rawURL string, fields ...string) *fetch.Answer {
	t.Helper()
	ans, err := c.try(t, fetch.Request{URL: parse(t, rawURL), Header: header(fields...)})
	if err != nil {
		t.Fatal(err)
	}
	return ans
}

// own gets a page as an own fetch.
func (c *chain) own(t *testing.T, rawURL string) (*fetch.Answer, error) {
	t.Helper()
	return c.try(t, fetch.Request{URL: parse(t, rawURL), Own: true})
}

func (c *chain) try(t *testing.T, r fetch.Request) (*fetch.Answer, error) {
	t.Helper()
	ans, err := c.Page(t.Context(), r)
	if err == nil && ans.Response != nil {
		t.Cleanup(func() { ans.Response.Body.Close() })
	}
	return ans, err
}

// stored returns the page's record, nil if there is none.
func (c *chain) stored(t *testing.T, rawURL string) *page.Page {
	t.Helper()
	p, err := c.store.Page(page.KeyOf(page.Normalize(parse(t, rawURL))))
	if err != nil {
		return nil
	}
	return p
}

func parse(tb testing.TB, raw string) *url.URL {
	tb.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

// header makes fields of "Name: value" lines.
func header(lines ...string) http.Header {
	h := http.Header{}
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		h.Add(name, value)
	}
	return h
}

// respond answers every request with fields and content.
func respond(status int, content string, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header(lines...))
		w.WriteHeader(status)
		io.WriteString(w, content)
	}
}

// body reads what passes untouched.
func body(t *testing.T, a *fetch.Answer) string {
	t.Helper()
	if a.Response == nil {
		return string(a.Body)
	}
	b, err := io.ReadAll(a.Response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// article is an HTML page with enough text to be none of thin, shell or wall.
func article(title string, more ...string) string {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=en><head><title>" + title +
		"</title><meta name=description content='About the sea'></head><body><nav><a href=/a>Menu " +
		"entry</a></nav><main><h1>" +
		title + "</h1>")
	for _, s := range more {
		b.WriteString(s)
	}
	for range 12 {
		b.WriteString("<p>The harbour wakes before the town does, and the boats that left at dusk come home in " +
			"single file past the light, low in the water.</p>")
	}
	b.WriteString("</main><footer>Imprint and terms</footer></body></html>")
	return b.String()
}

const html = "Content-Type: text/html; charset=utf-8"
