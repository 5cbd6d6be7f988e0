package server_test

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy"
	"github.com/readthru/readthru/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server over a real store, cache and fetcher, with an origin that stands for every host.
type world struct {
	server *server.Server
	client *api.Client // answered by server in process
	store  *store.Store
	know   *knowledge.Knowledge
	origin *httptest.Server
	asked  atomic.Int64 // requests that reached the origin

	revised atomic.Bool // a page of the site has changed
	crawled string      // id of a Firecrawl client's crawl
	shut    func()      // ends all of it; again, it does nothing
}

const article = `<!doctype html><html lang="en"><head><title>%s</title></head><body><main><h1>%s</h1>
<p>A cache keeps what an origin said, and says it again for as long as the origin allowed. Whoever asks a second time
need not wait.</p><p>This is reading number %d, and it is a paragraph that is long enough to be taken for content by
whoever looks at it.</p></main></body></html>`

// newWorld opens everything; change may adjust the server's options.
func newWorld(t *testing.T, change func(*server.Options)) *world {
	t.Helper()
	return newWorldOver(t, nil, nil, change)
}

// newWorldOver is newWorld with an origin that is asked first and reports whether it answered, and other options of the
// fetcher.
func newWorldOver(tb testing.TB, origin func(http.ResponseWriter, *http.Request) bool, fetching func(*fetch.Options),
	change func(*server.Options),
) *world {
	tb.Helper()
	return newWorldIn(tb, tb.TempDir(), origin, fetching, change)
}

// newWorldIn is newWorldOver with its files in a directory, where an earlier one may have left some.
func newWorldIn(tb testing.TB, dir string, origin func(http.ResponseWriter, *http.Request) bool,
	fetching func(*fetch.Options), change func(*server.Options),
) *world {
	tb.Helper()
	w := &world{}
	w.origin = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		n := w.asked.Add(1)
		if origin != nil && origin(rw, r) {
			return
		}
		switch r.URL.Path {
		case "/page":
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			rw.Header().Set("Cache-Control", "max-age=600")
			rw.Header().Set("Cache-Tag", "articles")
			_, _ = fmt.Fprintf(rw, article, "<script>alert(1)</script>", "A heading", n)
		case "/data":
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, `{"größe":1}`)
		case "/image":
			rw.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(rw, "\x89PNG")
		case "/cut":
			rw.Header().Set("Content-Type", "text/html")
			rw.Header().Set("Content-Length", "5000")
			_, _ = io.WriteString(rw, "<p>cut")
		case "/site/", "/site/one", "/site/two":
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			name := strings.TrimPrefix(r.URL.Path, "/site/")
			if name == "two" && w.revised.Load() {
				name = "two, with quinces"
			}
			_, _ = fmt.Fprintf(rw, article, "Site "+name, "Heading of page "+name, 1)
			_, _ = io.WriteString(rw, `<a href="/site/one">one</a> <a href="/site/two">two</a> <a href="/site/gone">gone</a>`)
		case "/secret":
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			rw.Header().Set("Cache-Control", "no-store")
			_, _ = fmt.Fprintf(rw, article, "Secret", "A secret", 1)
		case "/slow/":
			<-r.Context().Done() // until who asks goes away
		default:
			http.NotFound(rw, r)
		}
	}))
	w.origin.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.origin.StartTLS()
	tb.Cleanup(w.origin.Close)
	caFile := filepath.Join(tb.TempDir(), "origin.pem")
	if err := os.WriteFile(caFile, pemOf(w.origin.Certificate()), 0o600); err != nil {
		tb.Fatal(err)
	}
	origins, err := transport.New(transport.Options{Resolve: []string{"*:443=" +
		w.origin.Listener.Addr().String()}, CAFile: caFile, UserAgent: "readthru/test"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(origins.CloseIdleConnections)
	if w.store, err = store.Open(store.Options{Dir: filepath.Join(dir, "store")}); err != nil {
		tb.Fatal(err)
	}
	c := cache.New(cache.Options{Page: page.IsPage, Markdown: page.IsMarkdown, Store: w.store, Next: origins})
	fo := fetch.Options{
		Client: c, Direct: origins, Store: w.store, FrontMatter: true,
		BlockedDomains: []string{"medium.com"}, MarkdownNew: fetch.MarkdownNew{Mode: "off"},
		Journal: journal.New(journal.Options{}),
	}
	if fetching != nil {
		fetching(&fo)
	}
	f := fetch.New(fo)
	if w.know, err = knowledge.Open(knowledge.Options{
		Store: w.store,
		Cleaner: store.Cleaner{Edition: 1, Clean: func(text []byte, markdown bool) []byte {
			if !markdown {
				return convert.CleanText(text, "").Text
			}
			return convert.CleanMarkdown(text, "", nil).Text
		}},
	}); err != nil {
		tb.Fatal(err)
	}
	o := server.Options{
		Journal: fo.Journal, Knowledge: w.know, Dir: dir,
		Crawl: func(name string) (crawl.Service, error) {
			return crawl.New(name, crawl.Config{Fetcher: f, Interval: -1})
		},
		Firecrawl: firecrawl.New(firecrawl.Options{Crawl: crawl.Config{Fetcher: f, Interval: -1}, Dir: tb.TempDir()}),
		Fetch:     f, Store: w.store, Version: "test", Instance: "instance-1", Secret: "secret", MarkdownNewMode: "off",
		Proxy: func() string { return "127.0.0.1:7887" }, AutoConfig: proxy.AutoConfig,
		CA: func() []byte { return pemOf(w.origin.Certificate()) },
		SigningKeys: func(h http.Header, _ time.Time) ([]byte, error) {
			h.Set("Content-Type", botauth.DirectoryType)
			return []byte(`{"keys":[]}`), nil
		},
		Fresh: func(ctx context.Context, url string) (bool, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
			if err != nil {
				return false, err
			}
			return c.Fresh(req)
		},
		Expired: c.Expired,
		Cache: func() api.CacheStats {
			n := c.Stats()
			return api.CacheStats{Hits: n.Hits, Misses: n.Misses, Revalidated: n.Revalidated, Stale: n.Stale, Bypass: n.Bypass}
		},
	}
	if change != nil {
		change(&o)
	}
	o.TrustUser = o.TrustUser || o.Token == "" // else the test shows it
	o.Token = cmp.Or(o.Token, "token")
	w.server = server.New(o)
	w.client = w.server.Client("agent/1")
	w.shut = sync.OnceFunc(func() {
		w.server.Stop()
		w.origin.CloseClientConnections() // the cache waits a while for what an origin has not answered yet
		if err := errors.Join(w.know.Close(), f.Close(), c.Close(), w.store.Close()); err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(w.shut)
	return w
}

// listen serves the world's operations over HTTP and returns the address.
func (w *world) listen(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(w.server)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// eachClient runs a test with a client in this process and with one over HTTP. origin, if not nil, is asked first.
func eachClient(t *testing.T, origin func(http.ResponseWriter, *http.Request) bool,
	test func(t *testing.T, w *world, ops *api.Client),
) {
	t.Helper()
	t.Run("in process", func(t *testing.T) {
		w := newWorldOver(t, origin, nil, nil)
		test(t, w, w.client)
	})
	t.Run("over HTTP", func(t *testing.T) {
		w := newWorldOver(t, origin, nil, func(o *server.Options) { o.Token = "token" })
		c := api.NewClient(w.listen(t), "token", "agent/1")
		t.Cleanup(c.Close)
		test(t, w, c)
	})
}

// The origin's certificate is for example.com: its pages have that name in these tests.
const pageURL = "https://example.com/page"

func pemOf(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
