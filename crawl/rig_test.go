package crawl_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// site is an origin in this process, the same on every host. It records the requests.
type site struct {
	http.Handler
	mu    sync.Mutex
	asked []string // host and request URI
	times []time.Time
}

// RoundTrip answers without a network, so that time can be virtual.
func (s *site) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.asked, s.times = append(s.asked, req.URL.Host+req.URL.RequestURI()), append(s.times, time.Now())
	s.mu.Unlock()
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := httptest.NewRequestWithContext(req.Context(), req.Method, req.URL.String(), req.Body)
	in.Header = req.Header
	w := httptest.NewRecorder()
	s.ServeHTTP(w, in)
	if err := req.Context().Err(); err != nil { // the client has left
		return nil, err
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

// count returns the number of requests whose URI begins with prefix.
func (s *site) count(prefix string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, a := range s.asked {
		if strings.HasPrefix(a, prefix) {
			n++
		}
	}
	return n
}

// html returns a page whose menu links to the given URLs, and which says what no page of another title says.
func html(title string, links ...string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(title)) // never an error
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	var own strings.Builder
	for range 12 {
		for range 7 {
			own.WriteByte(byte('a' + r.IntN(26)))
		}
		own.WriteByte(' ')
	}
	return strings.Replace(stub(title, links...), "</main>", "<p>Only here: "+own.String()+"</p></main>", 1)
}

// stub returns a page whose menu links to the given URLs, and which says nothing but its title.
func stub(title string, links ...string) string {
	var menu strings.Builder
	for _, l := range links {
		fmt.Fprintf(&menu, "<li><a href=%q>%s</a></li>", l, l)
	}
	return "<!doctype html><html><head><title>" + title + "</title></head><body><nav><ul>" + menu.String() +
		"</ul></nav><main><h1>" + title +
		"</h1><p>This is the page " + title + ". " +
		strings.Repeat("It says what there is to say of "+title+" in words enough. ", 8) + "</p></main></body></html>"
}

// pages serves HTML by request URI. A value that begins with > is a redirect, one with ! a status. Others are 404.
type pages map[string]string

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, ok := p[r.URL.RequestURI()]
	if own, there := p["//"+r.Host+r.URL.RequestURI()]; there {
		content, ok = own, true
	}
	switch {
	case !ok:
		http.NotFound(w, r)
		return
	case strings.HasPrefix(content, ">"):
		w.Header().Set("Location", content[1:])
		w.WriteHeader(http.StatusFound)
		return
	case strings.HasPrefix(content, "!"):
		status, err := strconv.Atoi(content[1:])
		if err != nil {
			panic(err)
		}
		http.Error(w, "no", status)
		return
	case strings.HasPrefix(content, "<!doctype html"):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	case strings.HasPrefix(content, "<?xml"):
		w.Header().Set("Content-Type", "application/xml")
	case strings.HasSuffix(r.URL.Path, ".md"):
		w.Header().Set("Content-Type", "text/markdown")
	case strings.HasPrefix(content, "RIFF"):
		w.Header().Set("Content-Type", "video/webm")
	default:
		w.Header().Set("Content-Type", "text/plain")
	}
	io.WriteString(w, content)
}

// rig is a local crawler with a site.
type rig struct {
	*site
	crawl.Service
	store *store.Store
	cfg   crawl.Config
}

func newRig(tb testing.TB, h http.Handler, change ...func(*crawl.Config, *fetch.Options)) *rig {
	tb.Helper()
	s := &site{Handler: h}
	st, err := store.Open(store.Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = st.Close() })
	c := cache.New(cache.Options{
		Page: page.IsPage, Markdown: page.IsMarkdown,
		Store: st, Next: s,
		PageLifetime: 24 * time.Hour,
	})
	tb.Cleanup(func() { _ = c.Close() })
	fo := fetch.Options{
		Client: c, Store: st, UserAgent: "readthru/test", FrontMatter: true,
		MarkdownNew: fetch.MarkdownNew{Mode: "off"}, BlockedDomains: []string{"blocked.test"},
	}
	cfg := crawl.Config{Interval: -1}
	for _, f := range change {
		f(&cfg, &fo)
	}
	f := fetch.New(fo)
	tb.Cleanup(func() { _ = f.Close() })
	cfg.Fetcher = f
	svc, err := crawl.New("local", cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return &rig{s, svc, st, cfg}
}

// told lists the events of a crawl as "outcome path", in order.
type told []string

func (l told) of(o crawl.Outcome) []string {
	var list []string
	for _, s := range l {
		if rest, ok := strings.CutPrefix(s, string(o)+" "); ok {
			list = append(list, rest)
		}
	}
	return list
}

// run crawls http://site.test and returns its events.
func (r *rig) run(t *testing.T, o crawl.Options) (told, *crawl.Report, error) {
	t.Helper()
	if o.URL == "" {
		o.URL = "http://site.test/"
	}
	var list told
	report, err := r.Crawl(t.Context(), o, func(e crawl.Event) error {
		list = append(list, line(t, e))
		return nil
	})
	return list, report, err
}

// line formats an event, and fails the test if the event contradicts itself.
func line(t *testing.T, e crawl.Event) string {
	t.Helper()
	u, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	with := e.Outcome == crawl.Added || e.Outcome == crawl.Changed || e.Outcome == crawl.Unchanged
	if with != (e.Page != nil) || with && (e.Page.Markdown == "" || e.Page.URL != e.URL || len(e.Page.Hash) != 64) ||
		e.I > e.Total {
		t.Errorf("event %+v contradicts itself", e)
	}
	if e.Page != nil && e.Page.Page != nil { // it may be kept under another of its names, on the same host
		kept := e.Page.Page
		name, err := url.Parse(kept.NormalizedURL)
		if err != nil || name.Host != u.Host || page.KeyOf(kept.NormalizedURL).Doc() != kept.Doc {
			t.Errorf("%s has the key of another URL: %s, %s", e.URL, kept.NormalizedURL, kept.Doc)
		}
	}
	return string(e.Outcome) + " " + u.RequestURI()
}

// must fails the test on an error.
func must(t *testing.T, list told, report *crawl.Report, err error) (told, *crawl.Report) {
	t.Helper()
	if err != nil {
		t.Fatalf("crawl: %v, after %v", err, list)
	}
	return list, report
}

// memory is a State in memory.
type memory struct{ batches [][]byte }

func (m *memory) Load(f func([]byte) error) error {
	for _, b := range m.batches {
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Save(b []byte) error {
	if len(b) > 256<<10 {
		return errors.New("the batch is too large")
	}
	m.batches = append(m.batches, b)
	return nil
}
