package cache_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"readthru/cache"
	"readthru/store"
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
	status string // Cache-Status
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
	body, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, string(body), resp.Header, resp.Header.Get("Cache-Status")}, err
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

func TestSecondRequestIsAHit(t *testing.T) {
	r := newRig(t, cache.Options{}, fixed("hello", "Cache-Control: max-age=60", "X-A: 1", "Content-Type: text/plain"))
	if g := r.get(); g.status != "readthru; fwd=uri-miss; fwd-status=200; stored" || g.body != "hello" {
		t.Errorf("first: %q, %q", g.status, g.body)
	}
	resp, err := r.cache.RoundTrip(r.request("GET", "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, ok := resp.Body.(interface{ Sum() store.Sum }); !ok {
		t.Errorf("body of a hit is %T, want one that knows its Sum", resp.Body)
	}
	body, _ := io.ReadAll(resp.Body)
	h := resp.Header
	if string(body) != "hello" || h.Get("X-A") != "1" || h.Get("Age") == "" || h.Get("Date") == "" || h.Get("Content-Length") != "5" || resp.ContentLength != 5 {
		t.Errorf("hit: %q, %v", body, h)
	}
	if s := h.Get("Cache-Status"); !strings.HasPrefix(s, "readthru; hit; ttl=") {
		t.Errorf("Cache-Status = %q", s)
	}
	r.wantAsked(1)
	if s := r.cache.Stats(); s.Hits != 1 || s.Misses != 1 || s.Stored != 1 {
		t.Errorf("Stats = %+v", s)
	}
}

func TestStaleEntryIsRevalidatedWithItsETag(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("If-None-Match") == `"a"` {
			respond(w, 304, "", `ETag: "a"`, "X-A: 2", "Content-Encoding: x", "Cache-Control: max-age=60")
			return
		}
		respond(w, 200, "hello", `ETag: "a"`, "X-A: 1", "X-B: 1", "Cache-Control: max-age=0", "Age: 500")
	})
	r.get()
	if g := r.get(); g.body != "hello" || g.header.Get("X-A") != "2" || g.header.Get("X-B") != "1" || g.header.Get("Content-Encoding") != "" || g.header.Get("Age") != "0" ||
		g.status != "readthru; fwd=stale; fwd-status=304" {
		t.Errorf("validated: %q, %v", g.body, g.header)
	}
	if g := r.get(); g.header.Get("X-A") != "2" || !strings.Contains(g.status, "hit") {
		t.Errorf("after validation: %v", g.header)
	}
	r.wantAsked(2)
}

func TestOriginsCacheStatusComesFirst(t *testing.T) {
	r := newRig(t, cache.Options{}, fixed("x", "Cache-Control: max-age=60", "Cache-Status: cdn; hit"))
	for range 2 {
		lines := r.get().header["Cache-Status"]
		if len(lines) != 2 || lines[0] != "cdn; hit" || !strings.HasPrefix(lines[1], "readthru; ") {
			t.Errorf("Cache-Status = %q (RFC 9211 §2)", lines)
		}
	}
}

func TestConditionalRequestsAreAnsweredFromTheStore(t *testing.T) {
	const lm = "Wed, 01 Jan 2020 00:00:00 GMT"
	r := newRig(t, cache.Options{}, fixed("hello", "Cache-Control: max-age=60", `ETag: W/"a,b"`, "Last-Modified: "+lm, "Content-Type: text/plain"))
	r.get()
	for _, tt := range []struct {
		fields []string
		want   int
	}{
		{[]string{`If-None-Match: "x", "a,b"`}, 304},
		{[]string{`If-None-Match: *`}, 304},
		{[]string{`If-None-Match: "x"`}, 200},
		{[]string{"If-Modified-Since: " + lm}, 304},
		{[]string{"If-Modified-Since: Tue, 31 Dec 2019 00:00:00 GMT"}, 200},
		{[]string{"If-Modified-Since: damaged"}, 200},
		{[]string{`If-None-Match: "x"`, "If-Modified-Since: " + lm}, 200}, // RFC 9110 §13.2.2
	} {
		g := r.get(tt.fields...)
		if g.code != tt.want || g.code == 304 && (g.body != "" || g.header.Get("ETag") == "" || g.header.Get("Content-Length") != "") {
			t.Errorf("%q: %d, %v; want %d", tt.fields, g.code, g.header, tt.want)
		}
	}
	r.wantAsked(1)
}

func TestClientsConditionPassesWhenNothingIsStored(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("If-None-Match") == `"c"` {
			respond(w, 304, "", `ETag: "c"`)
			return
		}
		respond(w, 200, "new", `ETag: "d"`)
	})
	if g := r.get(`If-None-Match: "c"`); g.code != 304 {
		t.Errorf("answer = %d, want the origin's 304", g.code)
	}
	if g := r.get(`If-None-Match: "x"`); g.code != 200 || g.body != "new" {
		t.Errorf("answer = %d %q, want 200", g.code, g.body)
	}
}

func TestA304ThatNamesAnotherVariantIsServed(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if strings.Contains(req.Header.Get("If-None-Match"), `"one"`) {
			respond(w, 304, "", `ETag: "one"`, "Vary: X", "Cache-Control: max-age=60")
			return
		}
		respond(w, 200, "first", `ETag: "one"`, "Vary: X", "Cache-Control: max-age=60")
	})
	r.get("X: 1")
	if g := r.get("X: 2"); g.code != 200 || g.body != "first" || !strings.Contains(g.status, "fwd=vary-miss; fwd-status=304") {
		t.Errorf("vary miss: %d %q %q", g.code, g.body, g.status)
	}
	for _, x := range []string{"X: 1", "X: 2"} {
		if g := r.get(x); g.body != "first" || !strings.Contains(g.status, "hit") {
			t.Errorf("%s afterwards: %q %q", x, g.body, g.status)
		}
	}
	r.wantAsked(2)
}

func TestA304ThatNamesNothingWeHoldIsAskedAgainWithoutConditions(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("If-None-Match") != "" {
			respond(w, 304, "", `ETag: "other"`)
			return
		}
		respond(w, 200, "whole", `ETag: "a"`)
	})
	r.get()
	if g := r.get(); g.code != 200 || g.body != "whole" {
		t.Errorf("answer = %d %q, want the whole", g.code, g.body)
	}
	r.wantAsked(3)
}

func TestRangesFromACompleteEntry(t *testing.T) {
	r := newRig(t, cache.Options{}, fixed("0123456789", "Cache-Control: max-age=60", `ETag: "a"`))
	r.get()
	for _, tt := range []struct {
		fields    []string
		code      int
		body, cr  string
		wantAsked int64
	}{
		{[]string{"Range: bytes=0-1"}, 206, "01", "bytes 0-1/10", 1},
		{[]string{"Range: bytes=8-"}, 206, "89", "bytes 8-9/10", 1},
		{[]string{"Range: bytes=-3"}, 206, "789", "bytes 7-9/10", 1},
		{[]string{"Range: bytes=-30"}, 206, "0123456789", "bytes 0-9/10", 1},
		{[]string{"Range: bytes=5-99"}, 206, "56789", "bytes 5-9/10", 1},
		{[]string{"Range: bytes=10-"}, 416, "", "bytes */10", 1},
		{[]string{"Range: bytes=-0"}, 416, "", "bytes */10", 1},
		{[]string{"Range: bytes=0-1, 4-5"}, 200, "0123456789", "", 1},
		{[]string{"Range: lines=0-1"}, 200, "0123456789", "", 1},
		{[]string{"Range: bytes=3-1"}, 200, "0123456789", "", 1},
		{[]string{"Range: bytes=0-1", `If-Range: "a"`}, 206, "01", "bytes 0-1/10", 1},
		{[]string{"Range: bytes=0-1", `If-Range: "b"`}, 200, "0123456789", "", 1},
		{[]string{"Range: bytes=0-1", `If-Range: W/"a"`}, 200, "0123456789", "", 1},
	} {
		g := r.get(tt.fields...)
		if g.code != tt.code || g.body != tt.body || g.header.Get("Content-Range") != tt.cr {
			t.Errorf("%q: %d %q %q; want %d %q %q", tt.fields, g.code, g.body, g.header.Get("Content-Range"), tt.code, tt.body, tt.cr)
		}
		r.wantAsked(tt.wantAsked)
	}
}

func TestAPartIsStoredAndCompleted(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("ETag", `"a"`)
		http.ServeContent(w, req, "x.txt", time.Time{}, strings.NewReader("0123456789"))
	})
	if g := r.get("Range: bytes=0-5"); g.code != 206 || g.body != "012345" {
		t.Fatalf("miss: %d %q", g.code, g.body)
	}
	if g := r.get("Range: bytes=2-3"); g.code != 206 || g.body != "23" || !strings.Contains(g.status, "hit") {
		t.Errorf("within the part: %d %q %q", g.code, g.body, g.status)
	}
	r.wantAsked(1)
	if g := r.get(); g.code != 200 || g.body != "0123456789" || g.header.Get("Content-Range") != "" || g.header.Get("Content-Length") != "10" || !strings.Contains(g.status, "fwd=partial") {
		t.Errorf("completed: %d %q %v", g.code, g.body, g.header)
	}
	if g := r.get(); g.body != "0123456789" || !strings.Contains(g.status, "hit") {
		t.Errorf("after completion: %q %q", g.body, g.status)
	}
	r.wantAsked(2)
}

func TestAPartOfAChangedRepresentationIsNotCompleted(t *testing.T) {
	var version atomic.Int64
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		v := version.Load()
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, v))
		req.Header.Del("If-Range") // an origin that ignores it
		http.ServeContent(w, req, "x.txt", time.Time{}, strings.NewReader(strings.Repeat(fmt.Sprint(v), 10)))
	})
	r.get("Range: bytes=0-5")
	version.Store(1)
	if g := r.get(); g.code != 200 || g.body != "1111111111" {
		t.Errorf("whole = %d %q, want the new representation alone (RFC 9111 §3.4)", g.code, g.body)
	}
}

func TestUnsafeMethodsInvalidate(t *testing.T) {
	for _, method := range []string{"POST", "PUT", "DELETE", "M-SEARCH"} {
		for _, code := range []int{200, 303, 404, 500} {
			r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
				if req.Method == method {
					respond(w, code, "", "Location: /other", "Content-Location: http://elsewhere.test/")
					return
				}
				respond(w, 200, "x", "Cache-Control: max-age=60")
			})
			other := func() got { return r.do(r.request("GET", "/other")) }
			r.get()
			other()
			g := r.do(r.request(method, "/"))
			if !strings.Contains(g.status, "fwd=method") {
				t.Errorf("%s: Cache-Status %q", method, g.status)
			}
			wantHit := code >= 400
			if hit := strings.Contains(r.get().status, "hit"); hit != wantHit {
				t.Errorf("GET after %s %d: hit %v, want %v (RFC 9111 §4.4)", method, code, hit, wantHit)
			}
			if hit := strings.Contains(other().status, "hit"); hit != wantHit {
				t.Errorf("GET of its Location after %s %d: hit %v, want %v", method, code, hit, wantHit)
			}
		}
	}
}

func TestHEADIsAnsweredFromAStoredGETAndUpdatesIt(t *testing.T) {
	var length atomic.Int64
	length.Store(5)
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(length.Load()))
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("X-A", req.Method)
		if req.Method == http.MethodGet {
			io.WriteString(w, "hello")
		}
	})
	r.get()
	if g := r.do(r.request("HEAD", "/")); g.body != "" || g.header.Get("Content-Length") != "5" || !strings.Contains(g.status, "hit") {
		t.Errorf("HEAD: %q %v", g.body, g.header)
	}
	r.wantAsked(1)
	r.do(r.request("HEAD", "/", "Cache-Control: no-cache"))
	if g := r.get(); g.header.Get("X-A") != "HEAD" || g.body != "hello" {
		t.Errorf("GET after a HEAD that agrees: X-A %q, want it updated (RFC 9111 §4.3.5)", g.header.Get("X-A"))
	}
	length.Store(7)
	r.do(r.request("HEAD", "/", "Cache-Control: no-cache"))
	length.Store(5)
	if g := r.get(); strings.Contains(g.status, "hit") {
		t.Errorf("GET after a HEAD that disagrees: %q, want it asked for again", g.status)
	}
}

func TestOnlyIfCachedAndOffline(t *testing.T) {
	handler := fixed("x", "Cache-Control: max-age=60")
	r := newRig(t, cache.Options{}, handler)
	if g := r.get("Cache-Control: only-if-cached"); g.code != 504 {
		t.Errorf("only-if-cached with nothing stored = %d, want 504", g.code)
	}
	r.get()
	if g := r.get("Cache-Control: only-if-cached"); g.code != 200 {
		t.Errorf("only-if-cached with a fresh response = %d, want 200", g.code)
	}
	r.wantAsked(1)

	off := newRig(t, cache.Options{Offline: true}, handler)
	if g := off.get(); g.code != 504 {
		t.Errorf("offline = %d, want 504", g.code)
	}
	if g := off.do(off.request("POST", "/")); g.code != 504 {
		t.Errorf("offline POST = %d, want 504", g.code)
	}
	off.wantAsked(0)
}

func TestStaleAnswersWhenTheOriginCannotBeReached(t *testing.T) {
	var refuse atomic.Bool
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	next := roundTripper(func(req *http.Request) (*http.Response, error) {
		if refuse.Load() {
			return nil, errors.New("connection refused")
		}
		return transport.RoundTrip(req)
	})
	r := newRig(t, cache.Options{Next: next}, func(w http.ResponseWriter, req *http.Request) {
		fields := []string{"Cache-Control: max-age=0" + req.URL.Query().Get("cc"), `ETag: "a"`}
		respond(w, 200, "held", fields...)
	})
	must := r.request("GET", "/?cc=,must-revalidate")
	r.get()
	r.do(must)
	refuse.Store(true)
	if g := r.get(); g.body != "held" || !strings.HasPrefix(g.status, "readthru; hit; ttl=") || !strings.HasSuffix(g.status, "detail=disconnected") {
		t.Errorf("disconnected: %q %q", g.body, g.status)
	}
	if _, err := r.try(must); err == nil {
		t.Error("must-revalidate was answered stale (RFC 9111 §5.2.2.2)")
	}
	if _, err := r.try(r.request("GET", "/", "Cache-Control: no-cache")); err == nil {
		t.Error("a request with no-cache was answered unvalidated (RFC 9111 §5.2.1.4)")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestStaleIfErrorHidesAServerError(t *testing.T) {
	var broken atomic.Bool
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if broken.Load() {
			respond(w, 503, "sorry")
			return
		}
		respond(w, 200, "held", `ETag: "a"`, "Cache-Control: max-age=0, "+req.URL.Query().Get("cc"))
	})
	with, without := r.request("GET", "/?cc=stale-if-error=60"), r.request("GET", "/")
	r.do(with)
	r.do(without)
	broken.Store(true)
	if g := r.do(with); g.code != 200 || g.body != "held" {
		t.Errorf("with stale-if-error: %d %q, want the stored response", g.code, g.body)
	}
	if g := r.do(without); g.code != 503 || g.body != "sorry" {
		t.Errorf("without: %d %q, want the origin's 503", g.code, g.body)
	}
}

func TestStaleWhileRevalidateValidatesOnceInTheBackground(t *testing.T) {
	validated := make(chan struct{}, 10)
	hold := make(chan struct{})
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("If-None-Match") != "" {
			validated <- struct{}{}
			<-hold
			respond(w, 304, "", `ETag: "a"`, "Cache-Control: max-age=60")
			return
		}
		respond(w, 200, "held", `ETag: "a"`, "Cache-Control: max-age=0, stale-while-revalidate=60")
	})
	r.get()
	for range 5 {
		if g := r.get(); g.body != "held" || !strings.Contains(g.status, "hit; ttl=") {
			t.Errorf("stale: %q %q", g.body, g.status)
		}
	}
	<-validated
	close(hold)
	_ = r.cache.Close() // waits for the validation
	r.wantAsked(2)
}

func TestPartitionsOfAPrivateCache(t *testing.T) {
	handler := func(w http.ResponseWriter, req *http.Request) {
		cc := "max-age=60"
		if req.URL.Path == "/mine" {
			cc += ", private"
		}
		respond(w, 200, req.Header.Get("Authorization")+req.Header.Get("Cookie"), "Cache-Control: "+cc)
	}
	r := newRig(t, cache.Options{Private: true, PartitionKey: []byte("secret")}, handler)
	for range 2 {
		for _, path := range []string{"/", "/mine"} {
			for _, auth := range []string{"Bearer ALICE", "Bearer BOB", ""} {
				if g := r.do(r.request("GET", path, "Authorization: "+auth)); g.body != auth {
					t.Errorf("%s for %q answered what is %q's", path, auth, g.body)
				}
			}
		}
	}
	for _, cookie := range []string{"a=1", "a=2"} {
		if g := r.do(r.request("GET", "/mine", "Cookie: "+cookie)); g.body != cookie {
			t.Errorf("private response for cookie %s answered what is %q's", cookie, g.body)
		}
	}
}

func TestCredentialsOfOneClientNeverAnswerAnother(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		respond(w, 200, "secret", "Cache-Control: max-age=60", "Content-Type: text/html")
	})
	r.get("Authorization: Bearer ALICE")
	r.get("Cookie: sid=1")
	user := r.request("GET", "/")
	user.URL.User = nil
	if g := r.do(user); strings.Contains(g.status, "hit") {
		t.Errorf("anonymous request answered from what was read with credentials: %q", g.status)
	}
}

func TestMarkdownForOneIsNotServedToAll(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if strings.Contains(req.Header.Get("Accept"), "text/markdown") {
			respond(w, 200, "# md", "Cache-Control: max-age=60", "Content-Type: text/markdown") // no Vary: a common mistake
			return
		}
		respond(w, 200, "<p>html", "Cache-Control: max-age=60", "Content-Type: text/html")
	})
	agent, browser := "Accept: text/markdown, text/html;q=0.9", "Accept: text/html"
	r.get(agent)
	if g := r.get(browser); g.body != "<p>html" {
		t.Errorf("browser got %q", g.body)
	}
	r.wantAsked(2)
	if g := r.get(browser); g.body != "<p>html" || !strings.Contains(g.status, "hit") {
		t.Errorf("browser again: %q %q", g.body, g.status)
	}
}

func TestTruncatedBodiesAreErrorsAndNeverStored(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for i := range 5000 {
		_, _ = fmt.Fprintf(z, "line %d\n", i)
	}
	_ = z.Close()
	cut := zipped.Bytes()[:zipped.Len()/2]
	raw := func(response string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			io.WriteString(conn, response)
			_ = conn.Close()
		}
	}
	const head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
	for name, handler := range map[string]http.HandlerFunc{
		"short of its Content-Length":   raw(head + "Content-Length: 10\r\n\r\nhello"),
		"nothing of its Content-Length": raw(head + "Content-Length: 10\r\n\r\n"),
		"cut between chunks":            raw(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
		"cut inside a chunk":            raw(head + "Transfer-Encoding: chunked\r\n\r\n9\r\nhello"),
		"gzip cut, framing well":        fixed(string(cut), "Cache-Control: max-age=60", "Content-Encoding: gzip", fmt.Sprintf("Content-Length: %d", len(cut))),
		"gzip cut, chunked": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Cache-Control", "max-age=60")
			_, _ = w.Write(cut)
			w.(http.Flusher).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, cache.Options{}, handler)
			for i := range int64(2) {
				if g, err := r.try(r.request("GET", "/")); err == nil {
					t.Errorf("request %d: whole answer of %d bytes, %q; want an error", i, len(g.body), g.status)
				}
			}
			r.wantAsked(2)
			if s := r.cache.Stats(); s.Stored != 0 {
				t.Errorf("stored %d", s.Stored)
			}
		})
	}
}

func TestContentCodings(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, strings.Repeat("x", 1000))
	_ = z.Close()
	for _, tt := range []struct {
		name, coding, body string
		wantHit            bool
	}{
		{"whole gzip", "gzip", zipped.String(), true},
		{"a coding we do not know", "x-unknown", "abc", true},
		{"not gzip at all passes, unstored", "gzip", "plain text, wrongly labelled", false},
		{"larger than MaxBody when decoded passes, unstored", "gzip", bomb(t), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, cache.Options{MaxBody: 1 << 20}, fixed(tt.body, "Cache-Control: max-age=60", "Content-Encoding: "+tt.coding))
			for i := range 2 {
				if g := r.get(); g.body != tt.body || strings.Contains(g.status, "hit") != (i == 1 && tt.wantHit) {
					t.Errorf("request %d: %d bytes, %q", i, len(g.body), g.status)
				}
			}
		})
	}
}

func bomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range 32 {
		_, _ = z.Write(make([]byte, 1<<16))
	}
	_ = z.Close()
	return b.String()
}

func TestInterimResponsesReachTheClientThatAsked(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		respond(w, 200, "x", "Cache-Control: max-age=60")
	})
	for i := range 2 {
		var interim atomic.Int64
		trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			if code == 103 && h.Get("Link") != "" {
				interim.Add(1)
			}
			return nil
		}}
		req := r.request("GET", "/")
		r.do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
		if got, want := interim.Load(), int64(1-i); got != want {
			t.Errorf("request %d: %d interim responses, want %d", i, got, want)
		}
	}
}

func TestEventStreamsAreNotHeld(t *testing.T) {
	more := make(chan struct{})
	left := make(chan struct{})
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 2 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
			<-more
		}
		<-req.Context().Done()
		close(left)
	})
	resp, err := r.cache.RoundTrip(r.request("GET", "/"))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, len("data: 0\n\n"))
	for i := range 2 {
		if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != fmt.Sprintf("data: %d\n\n", i) {
			t.Fatalf("event %d: %q, %v", i, buf, err)
		}
		more <- struct{}{}
	}
	resp.Body.Close()
	<-left // the origin is let go when the client is
}

func TestLaterRequestsJoinNothingAfterAnInvalidation(t *testing.T) {
	var mu sync.Mutex
	value := "old"
	begun, finish := make(chan struct{}), make(chan struct{})
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		v := value
		if req.Method == http.MethodPut {
			value = "new"
		}
		mu.Unlock()
		w.Header().Set("Cache-Control", "max-age=60")
		if v == "old" && req.Method == http.MethodGet {
			w.(http.Flusher).Flush()
			begun <- struct{}{}
			<-finish
		}
		io.WriteString(w, v)
	})
	resp, err := r.cache.RoundTrip(r.request("GET", "/"))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	r.do(r.request("PUT", "/"))
	close(finish)
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if g := r.get(); g.body != "new" {
		t.Errorf("GET after a PUT during a GET = %q, want what the origin says now", g.body)
	}
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	hang := make(chan struct{})
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		select {
		case <-hang:
		case <-req.Context().Done():
		}
	})
	defer close(hang)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	resp, err := r.cache.RoundTrip(r.request("GET", "/").WithContext(ctx))
	if err == nil {
		resp.Body.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("RoundTrip of a client that left = %v, want %v", err, context.Canceled)
	}
	if err := r.cache.Close(); err != nil {
		t.Error(err)
	}
}
