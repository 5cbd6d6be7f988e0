package fetch_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/store"
)

// inProcess is an origin without a network, so that days pass at once. It counts what it is asked; an answer of status
// 0 is no connection.
type inProcess struct {
	asked  atomic.Int32
	answer func(req *http.Request) (status int, content string, fields []string)
}

func (o *inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	o.asked.Add(1)
	status, content, fields := o.answer(req)
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{
		StatusCode: status, Header: header(fields...), Body: io.NopCloser(strings.NewReader(content)),
		ContentLength: -1, Request: req,
	}, nil
}

// fetcherOver returns a fetcher that asks client.
func fetcherOver(t *testing.T, st *store.Store, client http.RoundTripper, agent string) *fetch.Fetcher {
	t.Helper()
	f := fetch.New(fetch.Options{Client: client, Store: st, UserAgent: agent, BlockedDomains: []string{"blocked.test"}})
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func emptyStore(t *testing.T) *store.Store {
	t.Helper()
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

func TestRobotsTxtDecidesByItsStatus(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /no\nCrawl-delay: 2\nSitemap: /map.xml\nSitemap: ftp://x/\n"
	for _, tt := range []struct {
		name    string
		status  int
		content string
		fields  []string
		allowed bool
		reason  string
	}{
		{"rules", 200, rules, nil, false, "http://site.test/robots.txt does not let readthru read http://site.test/no"},
		{"gzip", 200, gzipped(rules), []string{"Content-Encoding: gzip"}, false, "does not let readthru"},
		{"a coding that is none", 200, rules, []string{"Content-Encoding: gzip"}, false, "could not be read"},
		{"empty, and said to be gzip", 200, "", []string{"Content-Encoding: gzip"}, true, ""},
		{"404", 404, rules, nil, true, ""},
		{"401 and 403 are no refusal (§2.3.1.3)", 403, rules, nil, true, ""},
		{"429 is trouble", 429, "", nil, false, "answered HTTP 429"},
		{
			"5xx", 503, rules, nil, false,
			"http://site.test/robots.txt answered HTTP 503, which forbids everything until it can be read",
		},
		{"no connection", 0, "", nil, false, "could not be read, which forbids everything: Connection error"},
		{"too many redirects", 301, "", []string{"Location: /robots.txt"}, true, ""},
		{"a redirect to nowhere", 302, "", []string{"Location: ftp://x/"}, true, ""},
		{"a redirect to a blocked host", 302, "", []string{"Location: http://blocked.test/"}, false, "could not be read"},
		{
			"beyond 500 KiB, what is whole counts", 200,
			"User-agent: *\nDisallow: /no\n" + strings.Repeat("#", 500<<10) + "\nAllow: /no\n", nil, false, "does not let",
		},
		{
			"a rule that the limit cuts does not", 200,
			"User-agent: *\n" + strings.Repeat("#", 500<<10-20) + "\nDisallow: /none\n", nil, true, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status := tt.status
			o := &inProcess{answer: func(*http.Request) (int, string, []string) { return status, tt.content, tt.fields }}
			f := fetcherOver(t, emptyStore(t), o, "readthru/1.0 (+https://x.test)")
			if strings.HasPrefix(tt.reason, "could not be read") {
				tt.status = 0
			}
			v, err := f.Allowed(t.Context(), parse(t, "http://site.test/no"))
			if err != nil || v.Allowed != tt.allowed || !strings.Contains(v.Reason, tt.reason) ||
				v.Allowed != (v.Reason == "") || v.Status != tt.status || v.URL != "http://site.test/robots.txt" {
				t.Errorf("verdict %+v, %v, want allowed %v because %q", v, err, tt.allowed, tt.reason)
			}
			if tt.name == "rules" && (v.Delay != 2*time.Second || len(v.Sitemaps) != 1 ||
				v.Sitemaps[0] != "http://site.test/map.xml" || v.Text != rules) {
				t.Errorf("verdict %+v, want delay, sitemap and text", v)
			}
			if other, err := f.Allowed(t.Context(), parse(t, "http://site.test/robots.txt")); err != nil || v.Status == 200 &&
				!other.Allowed && v.Reason != other.Reason {
				t.Errorf("robots.txt itself: %+v, %v", other, err)
			}
			if n := o.asked.Load(); n != 1 && status/100 != 3 || n > 6 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func TestRobotsTxtIsAskedForOnceADayAndSite(t *testing.T) {
	st := emptyStore(t) // whose clock is no part of this
	synctest.Test(t, func(t *testing.T) {
		status := 200
		o := &inProcess{answer: func(req *http.Request) (int, string, []string) {
			if got := req.Header.Get("Cache-Control"); got != "max-age=86400" {
				t.Errorf("the cache was asked with %q", got)
			}
			return status, fmt.Sprintf("User-agent: *\nDisallow: /%d\n", status), nil
		}}
		f := fetcherOver(t, st, o, "")
		allowed := func(raw string) bool {
			t.Helper()
			v, err := f.Allowed(t.Context(), parse(t, raw))
			if err != nil {
				t.Fatal(err)
			}
			return v.Allowed
		}
		step := func(name string, asked int32, want bool) {
			t.Helper()
			if got := allowed("http://site.test/200"); got != want || o.asked.Load() != asked {
				t.Errorf("%s: allowed %v after %d requests, want %v after %d", name, got, o.asked.Load(), want, asked)
			}
		}
		step("first", 1, false)
		step("again", 1, false)
		if allowed("HTTP://SITE.test:80/200/x") || o.asked.Load() != 1 {
			t.Error("another spelling of the site is another site")
		}
		if allowed("https://site.test/200") || o.asked.Load() != 2 {
			t.Error("https is not another site")
		}
		time.Sleep(23 * time.Hour)
		step("after 23 h", 2, false)
		time.Sleep(2 * time.Hour)
		status = 500
		step("after 25 h, when it cannot be read: what it said holds", 3, false)
		if !allowed("http://site.test/other") {
			t.Error("what it said does not hold for what it allowed")
		}
		step("at once again", 3, false)
		time.Sleep(11 * time.Minute)
		status = 404
		step("a while later it is gone", 4, true)
	})
}

func TestManyWhoWaitForRobotsTxtAskOnce(t *testing.T) {
	st := emptyStore(t)
	synctest.Test(t, func(t *testing.T) {
		o := &inProcess{answer: func(*http.Request) (int, string, []string) {
			time.Sleep(time.Second)
			return 200, "", nil
		}}
		f := fetcherOver(t, st, o, "readthru/1")
		for range 20 {
			go func() {
				if v, err := f.Allowed(t.Context(), parse(t, "http://site.test/")); err != nil || !v.Allowed {
					t.Errorf("verdict %+v, %v", v, err)
				}
			}()
		}
		time.Sleep(2 * time.Second)
		if n := o.asked.Load(); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
	})
	if _, err := fetcherOver(t, st, &inProcess{}, "").Allowed(t.Context(),
		&url.URL{Scheme: "ftp", Host: "x"}); err == nil {
		t.Error("robots.txt of an ftp URL is no error")
	}
}

func TestFileIsNoPage(t *testing.T) {
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/map.xml":
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, gzipped("<urlset/>"))
		case "/moved":
			http.Redirect(w, r, "/map.xml", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}), func(o *fetch.Options) { o.BlockedDomains = []string{"blocked.test"} })
	f, err := c.File(t.Context(), parse(t, "https://site.test/moved"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Body.Close()
	if text, err := io.ReadAll(f.Body); err != nil || string(text) != "<urlset/>" || f.URL.Path != "/map.xml" {
		t.Errorf("file %s: %q, %v", f.URL, text, err)
	}
	for raw, kind := range map[string]string{
		"https://site.test/none": fetch.KindHTTP,
		"https://site.test/loop": fetch.KindHTTP, "https://blocked.test/": fetch.KindBlocked,
		"ftp://site.test/": fetch.KindUnsupported,
	} {
		_, err := c.File(t.Context(), parse(t, raw))
		if e, ok := errors.AsType[*fetch.Error](err); !ok || e.Kind != kind {
			t.Errorf("%s: %v, want an error of kind %s", raw, err, kind)
		}
	}
	if n := c.store.Totals().Pages; n != 0 {
		t.Errorf("%d pages were stored, want none", n)
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}
