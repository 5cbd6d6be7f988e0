package firecrawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is an origin in this process for every host. It has pages by host and request URI and records the requests.
type site struct {
	mu    sync.Mutex
	pages map[string]string
	own   func(*http.Request) (*http.Response, error) // asked first; nil response: not its own
	asked []string
}

const about = "This sentence stands in every page, and it is long enough to be taken for content by whoever looks at it. "

// html returns a page with a menu, and links below its text.
func html(title string, links ...string) string {
	var list strings.Builder
	for _, l := range links {
		fmt.Fprintf(&list, "<li><a href=%q>link to %s</a></li>", l, l)
	}
	return `<!doctype html><html lang="en"><head><title>` + title + `</title><meta name="description" content="About ` +
		title + `"><meta property="og:title" content="OG ` + title +
		`"></head><body><nav><a href="/menu">Menu entry</a></nav><main><h1>` + title + `</h1><p>` + strings.Repeat(about, 4) +
		`The page is ` + title + `.</p><p class="ad">Buy now.</p><ul>` + list.String() +
		`</ul></main><script>run()</script></body></html>`
}

// RoundTrip answers with a page. A value that begins with > redirects, one with ! is a status, and one with "type " has
// that media type.
func (s *site) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Host+r.URL.RequestURI())
	own := s.own
	content, ok := s.pages[r.URL.Host+r.URL.RequestURI()]
	if !ok {
		content, ok = s.pages[r.URL.RequestURI()]
	}
	s.mu.Unlock()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if own != nil {
		if resp, err := own(r); resp != nil || err != nil {
			return resp, err
		}
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch status, err := strconv.Atoi(strings.TrimPrefix(content, "!")); {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case strings.HasPrefix(content, "!") && err == nil:
		w.WriteHeader(status)
	case strings.HasPrefix(content, ">"):
		w.Header().Set("Location", content[1:])
		w.WriteHeader(http.StatusFound)
	case strings.HasPrefix(content, "no-store "):
		w.Header().Set("Cache-Control", "no-store")
		content = strings.TrimPrefix(content, "no-store ")
		_, _ = w.WriteString(content)
	case !strings.HasPrefix(content, "<"):
		media, body, _ := strings.Cut(content, " ")
		w.Header().Set("Content-Type", media)
		_, _ = w.WriteString(body)
	default:
		_, _ = w.WriteString(content)
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// Public makes every host public.
func (s *site) Public(context.Context, *url.URL) error { return nil }

// put changes a page.
func (s *site) put(uri, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[uri] = content
}

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

// rig is a service with a site.
type rig struct {
	*site
	http.Handler
	store   *store.Store
	crawl   crawl.Config
	service *firecrawl.Service
	know    *knowledge.Knowledge // nil if searches find nothing here
	dir     string
}

func newRig(tb testing.TB, pages map[string]string) *rig {
	tb.Helper()
	return newRigWith(tb, pages, func(*firecrawl.Options) {})
}

// newRigWith is newRig with other options of the service.
func newRigWith(tb testing.TB, pages map[string]string, change func(*firecrawl.Options)) *rig {
	tb.Helper()
	s := &site{pages: pages}
	st, err := store.Open(store.Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	c := cache.New(cache.Options{
		Page: page.IsPage, Markdown: page.IsMarkdown,
		Store: st, Next: s,
		PageLifetime: 24 * time.Hour,
	})
	f := fetch.New(fetch.Options{
		Client: c, Direct: s, Store: st, UserAgent: "readthru/test", FrontMatter: true,
		BlockedDomains: []string{"blocked.test"}, MarkdownNew: fetch.MarkdownNew{Mode: "off"},
	})
	r := &rig{site: s, store: st, crawl: crawl.Config{Fetcher: f, Interval: -1}, dir: tb.TempDir()}
	o := firecrawl.Options{Crawl: r.crawl, Store: st, Dir: r.dir}
	change(&o)
	r.know = o.Knowledge
	r.service = firecrawl.New(o)
	mux := http.NewServeMux()
	for _, rt := range r.service.Routes() {
		mux.HandleFunc(rt.Method+" "+rt.Path, rt.Handle)
	}
	r.Handler = mux
	tb.Cleanup(func() {
		r.service.Close()
		if r.know != nil {
			_ = r.know.Close() // it wrote nothing since it was last drained
		}
		if err := errors.Join(f.Close(), c.Close(), st.Close()); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// object is decoded JSON.
type object map[string]any

// at returns the value at a path of keys and indexes.
func (o object) at(path string) any {
	var v any = map[string]any(o)
	for part := range strings.SplitSeq(path, ".") {
		switch now := v.(type) {
		case map[string]any:
			v = now[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(now) {
				return nil
			}
			v = now[i]
		default:
			return nil
		}
	}
	return v
}

// ask sends a request to the service and returns its answer. path may be a whole URL.
func (r *rig) ask(t *testing.T, method, path, body string) (int, object) {
	t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = "http://localhost:7888" + path
	}
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	var got object
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%s %s: status %d, %q: %v", method, path, w.Code, w.Body, err)
	}
	return w.Code, got
}

// must is ask for a request that must succeed.
func (r *rig) must(t *testing.T, method, path, body string) object {
	t.Helper()
	status, got := r.ask(t, method, path, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s %s: status %d, %v", method, path, body, status, got)
	}
	return got
}

// finish starts a job and returns its status when it has ended. It must be called in a synctest bubble.
func (r *rig) finish(t *testing.T, path, body string) (location string, last object) {
	t.Helper()
	started := r.must(t, http.MethodPost, path, body)
	location, _ = started["url"].(string)
	for range 1000 {
		synctest.Wait()
		if last = r.must(t, http.MethodGet, location, ""); last["status"] != "scraping" {
			return location, last
		}
		time.Sleep(time.Second)
	}
	t.Fatalf("%s is still %v", location, last["status"])
	return "", nil
}
