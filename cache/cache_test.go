package cache_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/store"
)

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
	if string(body) != "hello" || h.Get("X-A") != "1" || h.Get("Age") == "" || h.Get("Date") == "" ||
		h.Get("Content-Length") != "5" || resp.ContentLength != 5 {
		t.Errorf("hit: %q, %v", body, h)
	}
	if o := cache.OutcomeOf(resp); !o.Hit || o.TTL <= 0 {
		t.Errorf("outcome = %+v", o)
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
	if g := r.get(); g.body != "hello" || g.header.Get("X-A") != "2" || g.header.Get("X-B") != "1" ||
		g.header.Get("Content-Encoding") != "" || g.header.Get("Age") != "0" ||
		g.status != "readthru; fwd=stale; fwd-status=304" {
		t.Errorf("validated: %q, %v", g.body, g.header)
	}
	if g := r.get(); g.header.Get("X-A") != "2" || !strings.Contains(g.status, "hit") {
		t.Errorf("after validation: %v", g.header)
	}
	r.wantAsked(2)
}

func TestOutcomeIsAddedBehindTheOriginsCacheStatus(t *testing.T) {
	r := newRig(t, cache.Options{}, fixed("x", "Cache-Control: max-age=60", "Cache-Status: cdn; hit"))
	for range 2 {
		resp, err := r.cache.RoundTrip(r.request("GET", "/"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		cache.OutcomeOf(resp).AddTo(resp.Header)
		_, _ = io.Copy(io.Discard, resp.Body)
		lines := resp.Header["Cache-Status"]
		if len(lines) != 2 || lines[0] != "cdn; hit" || !strings.HasPrefix(lines[1], "readthru; ") {
			t.Errorf("Cache-Status = %q (RFC 9211 §2)", lines)
		}
	}
}

func TestConditionalRequestsAreAnsweredFromTheStore(t *testing.T) {
	const lm = "Wed, 01 Jan 2020 00:00:00 GMT"
	r := newRig(t, cache.Options{}, fixed("hello", "Cache-Control: max-age=60", `ETag: W/"a,b"`, "Last-Modified: "+lm,
		"Content-Type: text/plain"))
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
		if g.code != tt.want || g.code == 304 &&
			(g.body != "" || g.header.Get("ETag") == "" || g.header.Get("Content-Length") != "") {
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
	if g := r.get("X: 2"); g.code != 200 || g.body != "first" ||
		!strings.Contains(g.status, "fwd=vary-miss; fwd-status=304") {
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
		{[]string{"Range: bytes=3-99999999999999999999"}, 206, "3456789", "bytes 3-9/10", 1},
		{[]string{"Range: bytes=-99999999999999999999"}, 206, "0123456789", "bytes 0-9/10", 1},
		{[]string{"Range: bytes=10-"}, 416, "", "bytes */10", 1},
		{[]string{"Range: bytes=99999999999999999999-"}, 416, "", "bytes */10", 1},
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
			t.Errorf("%q: %d %q %q; want %d %q %q", tt.fields, g.code, g.body, g.header.Get("Content-Range"), tt.code, tt.body,
				tt.cr)
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
	if g := r.get(); g.code != 200 || g.body != "0123456789" || g.header.Get("Content-Range") != "" ||
		g.header.Get("Content-Length") != "10" || !strings.HasPrefix(g.status, "readthru; fwd=partial; fwd-status=206") {
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
	if g := r.do(r.request("HEAD", "/")); g.body != "" || g.header.Get("Content-Length") != "5" ||
		!strings.Contains(g.status, "hit") {
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
	for _, markdown := range []string{"text/markdown", "Text/X-Markdown; charset=utf-8"} {
		t.Run(markdown, func(t *testing.T) {
			r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
				if strings.Contains(req.Header.Get("Accept"), "text/markdown") {
					respond(w, 200, "# md", "Cache-Control: max-age=60", "Content-Type: "+markdown) // no Vary: a common mistake
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
		})
	}
}

// An origin that negotiates without Vary is asked for its markdown although its HTML is stored.
func TestHTMLForOthersIsNotTheAnswerForWhoNamesMarkdown(t *testing.T) {
	const agent, browser = "Accept: text/markdown, text/html;q=0.9", "Accept: text/html"
	for _, negotiates := range []bool{true, false} {
		t.Run(fmt.Sprint("negotiates ", negotiates), func(t *testing.T) {
			var down atomic.Bool
			r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
				switch {
				case down.Load():
					panic(http.ErrAbortHandler)
				case negotiates && strings.Contains(req.Header.Get("Accept"), "text/markdown"):
					respond(w, 200, "# md", "Cache-Control: max-age=60", "Content-Type: text/markdown")
				default:
					respond(w, 200, "<p>html", "Cache-Control: max-age=60", "Content-Type: text/html", `ETag: "a"`)
				}
			})
			want := "<p>html"
			if negotiates {
				want = "# md"
			}
			r.get(browser)
			if g := r.get(agent, "Cache-Control: only-if-cached"); g.body != "<p>html" {
				t.Errorf("without the origin: %d %q", g.code, g.body)
			}
			down.Store(true)
			if g := r.get(agent); g.body != "<p>html" || !strings.Contains(g.status, "detail=disconnected") {
				t.Errorf("while the origin is down: %d %q %q", g.code, g.body, g.status)
			}
			down.Store(false)
			asked := r.asked.Load()
			for range 2 {
				if g := r.get(agent); g.body != want {
					t.Errorf("agent: %q, want %q", g.body, want)
				}
				if g := r.get(browser); g.body != "<p>html" {
					t.Errorf("browser: %q", g.body)
				}
			}
			r.wantAsked(asked + 1)
		})
	}
	r := newRig(t, cache.Options{}, fixed("<p>html", "Cache-Control: max-age=60", "Content-Type: text/html"))
	r.get(agent)
	r.get(browser)
	r.wantAsked(1)
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
