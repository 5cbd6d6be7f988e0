package cache_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
)

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
	if g := r.get(); g.body != "held" || !strings.HasPrefix(g.status, "readthru; hit; ttl=") ||
		!strings.HasSuffix(g.status, "detail=disconnected") {
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

// TestAStaleAnswerSaysWhyAndHowOldItIs: who reads it cannot tell consent from failure otherwise.
func TestAStaleAnswerSaysWhyAndHowOldItIs(t *testing.T) {
	for _, tt := range []struct {
		name, stored, asked string
		fails               int // the origin's status; -1: it cannot be reached
		offline             bool
		want                string
	}{
		{
			"the request accepts it", "", "Cache-Control: max-stale=60", 0, false,
			"the request accepts a stale one (max-stale)",
		},
		{
			"the response allows it", ", stale-while-revalidate=60", "", 0, false,
			"its origin allows that while it is asked for a newer one (stale-while-revalidate)",
		},
		{"an error", ", stale-if-error=60", "", 503, false, "the origin answered 503 (stale-if-error)"},
		{"the request asks so for errors", "", "Cache-Control: stale-if-error=60", 500, false, "the origin answered 500"},
		{"no answer", "", "", -1, false, "the origin did not answer, or not to the end"},
		{"offline", "", "", 0, true, "the origin must not be asked"},
	} {
		var fails, offline atomic.Bool
		inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
			switch {
			case fails.Load() && tt.fails < 0:
				panic(http.ErrAbortHandler)
			case fails.Load() && tt.fails > 0:
				respond(w, tt.fails, "sorry")
			default:
				respond(w, 200, "held", "Cache-Control: max-age=10"+tt.stored)
			}
		}, func(b *bubble) {
			if _, _, err := b.get(b.t.Context()); err != nil {
				b.t.Fatal(err)
			}
			time.Sleep(40 * time.Second)
			fails.Store(true)
			if offline.Store(tt.offline); tt.offline {
				b.cache.Reconfigure(cache.Options{Offline: true})
			}
			var fields []string
			if tt.asked != "" {
				fields = append(fields, tt.asked)
			}
			resp, err := b.open(b.t.Context(), fields...)
			if err != nil {
				b.t.Fatalf("%s: %v", tt.name, err)
			}
			resp.Body.Close()
			const old = "A stored response was answered that is 40s old and stale for 30s, because "
			if why, _ := cache.OutcomeOf(resp).Why(); !strings.HasPrefix(why, old+tt.want) {
				b.t.Errorf("%s: %q, want %q", tt.name, why, old+tt.want)
			}
		})
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

// An origin that fails is not asked by everybody, also where a stale response hides that it does. A 429 is hidden for
// pages alone.
func TestAnErrorHiddenByAStaleResponseIsNotAskedForByEverybody(t *testing.T) {
	for status, want := range map[int]string{500: "held", 503: "held", 429: "sorry"} {
		var fails atomic.Bool
		inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
			if fails.Load() {
				respond(w, status, "sorry")
				return
			}
			respond(w, 200, "held", "Cache-Control: max-age=0, stale-if-error=600", `ETag: "a"`)
		}, func(b *bubble) {
			if _, _, err := b.get(b.t.Context()); err != nil {
				b.t.Fatal(err)
			}
			fails.Store(true)
			b.asked.Store(0)
			for range 50 { // a second in all
				time.Sleep(20 * time.Millisecond)
				b.together(4, func(int) {
					if body, got, err := b.get(b.t.Context()); err != nil || body != want {
						b.t.Errorf("%d: %q, %q, %v", status, body, got, err)
					}
				})
			}
			if want == "held" {
				b.wantAsked(3) // two failures in a row, and one a second later
			}
		})
	}
}
