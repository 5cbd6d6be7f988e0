package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy"
	"github.com/readthru/readthru/store"
)

const (
	article = `<!doctype html><html lang="en"><head><title>On Foxes</title></head><body><nav>Home About</nav><main><h1>On Foxes</h1>
<p>The quick brown fox jumps over the lazy dog, and then it rests for a good while in the shade of an old tree.</p>
<p>Foxes are known to live in woods, in fields and, of late, in towns, where they eat what people leave behind. <a href="rel/x">More</a>.</p></main></body></html>`
	browserAccept = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
)

// site is an origin with pages that counts what it is asked.
type site struct {
	mu    sync.Mutex
	asked []string
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Accept"))
	s.mu.Unlock()
	switch r.URL.Path {
	case "/page":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Vary", "Cookie, Accept-Language")
		w.Header().Set("Etag", `"abc"`)
		io.WriteString(w, article)
	case "/text":
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Cache-Control", "max-age=600")
		io.WriteString(w, "stored as it is")
	case "/missing":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `<html><body><h1>Not found</h1><p>There is nothing here, sorry about that.</p></body></html>`)
	case "/data.json":
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"a": 1}`)
	default:
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<html><body><p>%s</p></body></html>`, r.Method)
	}
}

func (s *site) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// answerMemory is what tests keep answers in that are given again: none with READTHRU_CACHE_MEMORY=0, as of a daemon.
func answerMemory() int64 {
	if os.Getenv("READTHRU_CACHE_MEMORY") == "0" {
		return 0
	}
	return 8 << 20
}

// newSiteBench is a bench with the whole chain: fetcher, cache, store.
func newSiteBench(t *testing.T, adjust func(*proxy.Options)) (*bench, *site) {
	t.Helper()
	s := &site{}
	return newBenchOf(t, s, adjust), s
}

// newBenchOf is newSiteBench for another origin.
func newBenchOf(t *testing.T, s http.Handler, adjust func(*proxy.Options)) *bench {
	t.Helper()
	return newBenchAt(t, origins{"*:80": plainOrigin(t, s.ServeHTTP), "*:443": tlsOrigin(t, s.ServeHTTP)}, 0, adjust)
}

// newBenchAt is newSiteBench for these origins, with a limit for a page; 0 is fetch's own.
func newBenchAt(t *testing.T, names origins, timeout time.Duration, adjust func(*proxy.Options)) *bench {
	t.Helper()
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return newBench(t, names, func(o *proxy.Options) {
		c := cache.New(cache.Options{
			Page: page.IsPage, Markdown: page.IsMarkdown, Untrusted: fetch.Untrusted, Store: st, Next: o.Transport,
		})
		f := fetch.New(fetch.Options{
			Client: c, Direct: o.Transport, Store: st, FrontMatter: true, BlockedDomains: []string{"blocked.test"},
			MarkdownNew: fetch.MarkdownNew{Mode: "off"}, Timeout: timeout,
		})
		t.Cleanup(func() {
			_ = f.Close()
			_ = c.Close()
		})
		o.Client, o.Fetch, o.BlockedDomains = c, f, []string{"blocked.test"}
		o.Memory, o.Store = answerMemory(), st
		if adjust != nil {
			adjust(o)
		}
	})
}

func TestAgentReadsMarkdownAndTheSecondTimeTheOriginIsNotAsked(t *testing.T) {
	for _, base := range []string{"http://a.test", "https://a.test"} {
		t.Run(base, func(t *testing.T) {
			b, s := newSiteBench(t, nil)
			resp, body := b.get(base+"/page", "Accept: */*")
			if ct := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || ct != "text/markdown; charset=utf-8" ||
				!strings.Contains(body, "# On Foxes") || strings.Contains(body, "<p>") {
				t.Fatalf("%d %s %q", resp.StatusCode, ct, body)
			}
			if !strings.Contains(body, base+"/rel/x") {
				t.Errorf("the link stayed relative: %q", body)
			}
			if vary := strings.ToLower(strings.Join(resp.Header["Vary"], ",")); !strings.Contains(vary, "cookie") ||
				!strings.Contains(vary, "accept-language") || !strings.Contains(vary+",", "accept,") {
				t.Errorf("Vary %q is not merged", vary)
			}
			if etag := resp.Header.Get("Etag"); etag == "" || etag == `"abc"` {
				t.Errorf("Etag %q", etag)
			}
			if !strings.HasPrefix(s.asked[0], "GET /page text/markdown, text/html;q=0.9") {
				t.Errorf("the origin was asked %q", s.asked[0])
			}
			again, repeated := b.get(base+"/page", "Accept: */*")
			if repeated != body || s.count() != 1 || again.Header.Get("Age") == "" ||
				!strings.Contains(again.Header.Get("Cache-Status"), "readthru; hit") {
				t.Errorf("second read: %d origin requests, Age %q, Cache-Status %q, same body %v", s.count(),
					again.Header.Get("Age"), again.Header.Get("Cache-Status"), repeated == body)
			}
			same, empty := b.get(base+"/page", "Accept: */*", "If-None-Match: "+again.Header.Get("Etag"))
			if same.StatusCode != http.StatusNotModified || empty != "" || same.Header.Get("Etag") != again.Header.Get("Etag") {
				t.Errorf("a client that has it: %d %q", same.StatusCode, empty)
			}
			head, _ := b.do(http.MethodHead, base+"/page", nil, "Accept: */*")
			if head.StatusCode != http.StatusOK || head.Header.Get("Content-Type") != "text/markdown; charset=utf-8" ||
				head.Header.Get("Content-Length") == "0" {
				t.Errorf("HEAD: %d %q", head.StatusCode, head.Header)
			}
			if rec := b.proxy.Recent(); rec[len(rec)-1].Source != "local" || rec[len(rec)-2].Cache != "hit" {
				t.Errorf("records %+v", rec)
			}
		})
	}
}

func TestBrowserToolsAndOtherMethodsGetTheOriginsBytes(t *testing.T) {
	b, _ := newSiteBench(t, nil)
	for name, fields := range map[string][]string{
		"navigation": {browserAccept, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Fetch-Site: none"},
		"Accept":     {browserAccept},
		"git":        {"Accept: */*", "User-Agent: git/2.39.2"},
		"raw":        {"Accept: */*", "X-Readthru-Mode: raw"},
		"html":       {"Accept: */*", "X-Readthru-Mode: html"},
	} {
		resp, body := b.get("https://a.test/page", fields...)
		if body != article || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
			resp.Header.Get("Etag") != `"abc"` {
			t.Errorf("%s: %q %q", name, resp.Header, body)
		}
	}
	if resp, body := b.do(http.MethodPost, "https://a.test/form", strings.NewReader("x"),
		"Accept: text/markdown"); resp.Header.Get("Content-Type") != "text/html" ||
		body != "<html><body><p>POST</p></body></html>" {
		t.Errorf("POST: %q %q", resp.Header, body)
	}
	if resp, body := b.get("https://a.test/data.json",
		"Accept: */*"); resp.Header.Get("Content-Type") != "application/json" || body != `{"a": 1}` {
		t.Errorf("JSON: %q %q", resp.Header, body)
	}
}

// net/http gives a request over HTTP/2 a body also where it has no content.
func TestBrowserIsAnsweredFromTheCacheOverHTTP2Too(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		b, s := newSiteBench(t, nil)
		client := b.client()
		client.Transport.(*http.Transport).ForceAttemptHTTP2 = h2
		for range 2 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://a.test/page", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", "text/html")
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := read(resp); err != nil || got.Body != article || (resp.ProtoMajor == 2) != h2 {
				t.Errorf("%s: %q %v", resp.Proto, got.Body, err)
			}
		}
		if s.count() != 1 {
			t.Errorf("HTTP/2 %v: the origin was asked %d times, want once", h2, s.count())
		}
	}
}

func TestErrorPageKeepsItsStatusInMarkdown(t *testing.T) {
	b, _ := newSiteBench(t, nil)
	resp, body := b.get("https://a.test/missing", "Accept: text/markdown")
	if resp.StatusCode != http.StatusNotFound || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/markdown") ||
		strings.Contains(body, "<h1>") {
		t.Errorf("%d %q %q", resp.StatusCode, resp.Header.Get("Content-Type"), body)
	}
	resp, body = b.get("https://a.test/missing", browserAccept)
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, "<h1>") {
		t.Errorf("browser: %d %q", resp.StatusCode, body)
	}
}

// Rule A11.
func TestBlockedDomainGivesNoMarkdownButABrowserReadsIt(t *testing.T) {
	b, s := newSiteBench(t, nil)
	for _, url := range []string{"http://blocked.test/page", "https://www.blocked.test/page"} {
		before := s.count()
		resp, body := b.get(url, "Accept: */*")
		if resp.StatusCode != http.StatusForbidden || !strings.Contains(body, `"detail":"Blocked`) || s.count() != before {
			t.Errorf("%s: %d %s, %d requests", url, resp.StatusCode, body, s.count()-before)
		}
		if resp, body := b.get(url, browserAccept); resp.StatusCode != http.StatusOK || body != article {
			t.Errorf("%s, browser: %d %q", url, resp.StatusCode, body)
		}
	}
}

func TestPrefixFormAnswersMarkdownAndForwardsNoClientFields(t *testing.T) {
	b, s := newSiteBench(t, nil)
	host := "Host: " + b.addr + "\r\n"
	for _, target := range []string{"/https://a.test/page", "/http://a.test/page", "/https:/a.test/page"} {
		resp, body := b.direct("GET " + target + " HTTP/1.1\r\n" + host + "Cookie: sid=1\r\nAuthorization: Bearer x\r\n")
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, "# On Foxes") {
			t.Errorf("%s: %d %q", target, resp.StatusCode, body)
		}
		if !strings.Contains(resp.Header.Get("Content-Security-Policy"), "sandbox") ||
			resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %q", target, resp.Header)
		}
	}
	asked := s.count()
	for request, want := range map[string]int{
		"GET /https://a.test/page HTTP/1.1\r\nHost: evil.test\r\n":                        403,
		"GET /https://a.test/page HTTP/1.1\r\n" + host + "Sec-Fetch-Site: cross-site\r\n": 403,
		"POST /https://a.test/page HTTP/1.1\r\n" + host + "Content-Length: 0\r\n":         405,
		"GET /https://user:pw@a.test/page HTTP/1.1\r\n" + host:                            400,
		"GET /https:// HTTP/1.1\r\n" + host:                                               400,
		"GET /https://blocked.test/page HTTP/1.1\r\n" + host:                              403,
		"GET /https://a%2etest/page HTTP/1.1\r\n" + host:                                  400,
		"GET /ftp://a.test/page HTTP/1.1\r\n" + host:                                      404,
	} {
		if resp, body := b.direct(request); resp.StatusCode != want {
			t.Errorf("%q: %d %s, want %d", request, resp.StatusCode, body, want)
		}
	}
	if s.count() != asked {
		t.Errorf("refused requests reached the origin: %q", s.asked[asked:])
	}
}

// TestPrefixFormAcceptsTheFieldsOfJinaReader sends the fields that such clients send.
func TestClientsOfJinaReaderComeByThePrefixForm(t *testing.T) {
	b, s := newSiteBench(t, nil)
	for _, tt := range []struct {
		fields     string
		status     int
		has, lacks string
	}{
		{"X-Respond-With: markdown", 200, "# On Foxes", "<p>"},
		{"X-Return-Format: html", 200, "<nav>Home About</nav>", "---"},
		{"X-Respond-With: text", 200, "The quick brown fox", "# On Foxes"},
		{"X-Respond-With: pageshot", 400, "X-Respond-With must be markdown, html or text", "Foxes"},
		{"X-Target-Selector: nav", 200, "Home About", "The quick brown fox"},
		{"X-Remove-Selector: h1", 200, "The quick brown fox", "# On Foxes"},
		{"X-Target-Selector: nav\r\nX-Readthru-Selector: p", 200, "The quick brown fox", "Home About"},
		{"X-Retain-Links: text", 200, "More", "rel/x"},
		{"X-Max-Tokens: 20", 200, "# On Foxes", "eat what people leave behind"},
		{"X-Timeout: 30", 200, "# On Foxes", "<p>"},
		{"X-Timeout: 900", 400, "X-Timeout must be a number of seconds from 1 to 180", "Foxes"},
		{"Accept: application/json, text/plain, */*", 200, "# On Foxes", `"content"`},
		{"Accept: application/json;q=0.9", 200, `"content":"# On Foxes`, "<p>"},
		{
			"Accept: application/json", 200,
			`{"code":200,"status":20000,"data":{"title":"On Foxes","description":"","url":"https://a.test/page","content":"# On Foxes\n\n`, "<p>",
		},
	} {
		resp, body := b.direct("GET /https://a.test/page HTTP/1.1\r\nHost: " + b.addr + "\r\n" + tt.fields + "\r\n")
		if resp.StatusCode != tt.status || !strings.Contains(body, tt.has) || strings.Contains(body, tt.lacks) {
			t.Errorf("%s: %d %s, want %d with %q without %q", tt.fields, resp.StatusCode, body, tt.status, tt.has, tt.lacks)
		}
	}
	for fields, want := range map[string]int{"X-Cache-Tolerance: 60": 0, "X-No-Cache: false": 0, "X-No-Cache: true": 1} {
		before := s.count()
		if resp, _ := b.direct("GET /https://a.test/page HTTP/1.1\r\nHost: " + b.addr + "\r\n" + fields +
			"\r\n"); resp.StatusCode != http.StatusOK || s.count()-before != want {
			t.Errorf("%s: %d, the origin was asked %d times, want %d", fields, resp.StatusCode, s.count()-before, want)
		}
	}
	if resp, _ := b.direct("GET /https://a.test/data.json HTTP/1.1\r\nHost: " + b.addr +
		"\r\nDNT: 1\r\n"); resp.StatusCode != http.StatusOK {
		t.Errorf("data: %d", resp.StatusCode)
	}
}

func TestPrefixFormRequiresSignInIfUsersAreConfigured(t *testing.T) {
	hash := proxy.QuickHash(t, "pw")
	b, _ := newSiteBench(t, func(o *proxy.Options) { o.Users = people(t, users.User{Name: "ali", PasswordHash: hash}) })
	head := "GET /https://a.test/page HTTP/1.1\r\nHost: " + b.addr + "\r\n"
	if resp, _ := b.direct(head); resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("Www-Authenticate") == "" {
		t.Errorf("without: %d %q", resp.StatusCode, resp.Header)
	}
	if resp, _ := b.direct(head + "Authorization: Basic YWxpOnB3\r\n"); resp.StatusCode != http.StatusOK {
		t.Errorf("with: %d", resp.StatusCode)
	}
}
