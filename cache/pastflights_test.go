package cache_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
)

// A hundred clients that wait for a slow head share it: they neither ask each on their own, nor wait longer.
func TestFollowersOfASlowHeadShareIt(t *testing.T) {
	for _, head := range []time.Duration{12 * time.Second, 22 * time.Second} {
		t.Run(head.String(), func(t *testing.T) {
			inBubble(t, func(w http.ResponseWriter, req *http.Request) {
				select {
				case <-time.After(head):
				case <-req.Context().Done(): // the other exchange was faster
				}
				respond(w, 200, "hello", "Cache-Control: max-age=60")
			}, func(b *bubble) {
				begin := time.Now()
				b.together(100, func(int) {
					if body, _, err := b.get(b.t.Context()); err != nil || body != "hello" {
						b.t.Errorf("%q, %v", body, err)
					}
				})
				if took := time.Since(begin); took > head+time.Second {
					b.t.Errorf("they waited %v, want %v", took, head)
				}
				b.wantAsked(2)
			})
		})
	}
}

// A lone client's request is never sent twice, however slow its answer.
func TestALoneRequestIsSentOnce(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Minute)
		respond(w, 200, "hello", "Cache-Control: max-age=60")
	}, func(b *bubble) {
		if body, _, err := b.get(b.t.Context()); err != nil || body != "hello" {
			b.t.Errorf("%q, %v", body, err)
		}
		b.wantAsked(1)
	})
}

// While an origin hangs, later clients do not wait for the first ones' exchange for ever.
func TestAFlightWithoutAHeadTakesNoFollowersForEver(t *testing.T) {
	var hang atomic.Bool
	hang.Store(true)
	inBubble(t, func(w http.ResponseWriter, req *http.Request) {
		if hang.Load() {
			<-req.Context().Done()
			return
		}
		respond(w, 200, "hello", "Cache-Control: max-age=60")
	}, func(b *bubble) {
		for range 3 {
			go func() { _, _, _ = b.get(b.t.Context()) }() // they wait to the end of the test
		}
		time.Sleep(time.Minute)
		hang.Store(false)
		begin := time.Now()
		if body, _, err := b.get(b.t.Context()); err != nil || body != "hello" || time.Since(begin) > time.Second {
			b.t.Errorf("a later client: %q, %v after %v", body, err, time.Since(begin))
		}
	})
}

// Nobody waits for a leader in vain a second time.
func TestAnswersKnownNotToBeSharedKeepNobodyWaiting(t *testing.T) {
	for name, fields := range map[string][]string{
		"no-store":                 {"Cache-Control: no-store"},
		"no lifetime, no page":     {"Content-Type: application/json"},
		"changed at each question": {"Cache-Control: no-cache", `ETag: "%d"`},
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int64
			inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(time.Second)
				own := make([]string, len(fields))
				for i, field := range fields {
					own[i] = strings.ReplaceAll(field, "%d", fmt.Sprint(n.Add(1)))
				}
				respond(w, 200, "x", own...)
			}, func(b *bubble) {
				burst := func() time.Duration {
					begin := time.Now()
					b.together(10, func(int) {
						if body, _, err := b.get(b.t.Context()); err != nil || body != "x" {
							b.t.Errorf("%q, %v", body, err)
						}
					})
					return time.Since(begin)
				}
				first := burst()
				if again := burst(); name == "changed at each question" {
					first = max(first, again) // the second time shows that it cannot be validated
				}
				if third := burst(); first > 2*time.Second || third > time.Second {
					b.t.Errorf("ten clients took %v at first and %v then, want at most 2 s and 1 s", first, third)
				}
			})
		})
	}
}

// What can be shared again is shared again.
func TestWhatCanBeSharedAgainIs(t *testing.T) {
	var cacheable atomic.Bool
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Second)
		if cacheable.Load() {
			respond(w, 200, "x", "Cache-Control: max-age=5")
			return
		}
		respond(w, 200, "x", "Cache-Control: no-store")
	}, func(b *bubble) {
		burst := func() {
			b.together(10, func(int) {
				if _, _, err := b.get(b.t.Context()); err != nil {
					b.t.Error(err)
				}
			})
		}
		burst()
		cacheable.Store(true)
		burst()
		time.Sleep(10 * time.Second)
		b.asked.Store(0)
		burst()
		b.wantAsked(1)
	})
}

// Two variants at once are two exchanges.
func TestEachVariantIsCollapsedByItself(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, req *http.Request) {
		time.Sleep(time.Second)
		respond(w, 200, "for "+req.Header.Get("X-V"), "Cache-Control: max-age=60", "Vary: X-V")
	}, func(b *bubble) {
		for _, limit := range []time.Duration{2 * time.Second, time.Second} { // the second time, the variants are known
			begin := time.Now()
			b.together(40, func(i int) {
				v := fmt.Sprint(i % 2)
				if body, _, err := b.get(b.t.Context(), "X-V: "+v); err != nil || body != "for "+v {
					b.t.Errorf("%q, %v; want the variant for %s", body, err, v)
				}
			})
			if took := time.Since(begin); took > limit {
				b.t.Errorf("they waited %v, want %v", took, limit)
			}
			b.wantAsked(2)
			time.Sleep(2 * time.Minute)
		}
	})
}

// Who asks for what is failing just now shares the failure: a hundred requests more do not heal an origin.
func TestErrorsAreShared(t *testing.T) {
	for _, delay := range []time.Duration{0, 500 * time.Millisecond} {
		for name, fail := range map[string]http.HandlerFunc{
			"500": func(w http.ResponseWriter, _ *http.Request) { respond(w, 500, "sorry") },
			"503 of unknown length": func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusServiceUnavailable)
				w.(http.Flusher).Flush()
				io.WriteString(w, "sorry")
			},
			"reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		} {
			t.Run(fmt.Sprint(name, " after ", delay), func(t *testing.T) {
				inBubble(t, func(w http.ResponseWriter, req *http.Request) {
					time.Sleep(delay)
					fail(w, req)
				}, func(b *bubble) {
					begin := time.Now()
					b.together(100, func(i int) {
						time.Sleep(time.Duration(i) * 4 * time.Millisecond) // they do not all come at the same moment
						body, _, err := b.get(b.t.Context())
						if name == "reset" && err == nil || name != "reset" && (err != nil || body != "sorry") {
							b.t.Errorf("%q, %v", body, err)
						}
					})
					if took := time.Since(begin); took > 400*time.Millisecond+2*delay {
						b.t.Errorf("they waited %v", took)
					}
					b.wantAsked(2)
				})
			})
		}
	}
}

// A failure is remembered for a moment, and only when it repeats itself: a client that tries again reaches the origin.
func TestAFailureIsSoonForgotten(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) { respond(w, 500, "sorry") }, func(b *bubble) {
		for range 3 {
			for range 5 {
				if body, _, err := b.get(b.t.Context()); err != nil || body != "sorry" {
					b.t.Errorf("%q, %v", body, err)
				}
			}
			b.wantAsked(2)
			if _, status, _ := b.get(b.t.Context()); status != "readthru; fwd=uri-miss; fwd-status=500; collapsed" {
				b.t.Errorf("Cache-Status = %q", status)
			}
			time.Sleep(1100 * time.Millisecond)
			if _, status, _ := b.get(b.t.Context()); status != "readthru; fwd=uri-miss; fwd-status=500" {
				b.t.Errorf("a second later: Cache-Status = %q", status)
			}
			b.wantAsked(1)
			time.Sleep(time.Minute)
		}
	})
}

// Errors that may be meant for one client are for that client.
func TestErrorsForOneAreNotShared(t *testing.T) {
	for name, tt := range map[string]struct{ response, request []string }{
		"no-store":    {response: []string{"Cache-Control: no-store"}},
		"private":     {response: []string{"Cache-Control: private"}},
		"a cookie":    {response: []string{"Set-Cookie: id=1"}},
		"credentials": {request: []string{"Authorization: Bearer x"}},
		"a session":   {request: []string{"Cookie: id=1"}},
		"no-cache":    {request: []string{"Cache-Control: no-cache"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(time.Second)
				respond(w, 500, "sorry", tt.response...)
			}, func(b *bubble) {
				b.together(10, func(int) {
					if body, status, err := b.get(b.t.Context(), tt.request...); err != nil || body != "sorry" ||
						strings.Contains(status, "collapsed") {
						b.t.Errorf("%q, %q, %v", body, status, err)
					}
				})
				if n := b.asked.Load(); n != 10 {
					b.t.Errorf("requests to the origin = %d, want 10", n)
				}
			})
		})
	}
}

// A fetch of our own may not go where a client's may: what refuses the one is not told to the other.
func TestAFailureOfOurOwnIsNotToldToAClient(t *testing.T) {
	forPage := func(req *http.Request) bool { return req.Header.Get("X-Own") != "" }
	refused := errors.New("the address is private")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	r := newRig(t, cache.Options{ForPage: forPage, Next: roundTripper(func(req *http.Request) (*http.Response, error) {
		if forPage(req) {
			return nil, refused
		}
		return transport.RoundTrip(req)
	})}, fixed("x", "Cache-Control: max-age=60"))
	for range 5 {
		if _, err := r.try(r.request("GET", "/", "X-Own: 1")); !errors.Is(err, refused) {
			t.Errorf("our own: %v", err)
		}
	}
	if g := r.get(); g.body != "x" {
		t.Errorf("a client: %d %q", g.code, g.body)
	}
}

// An unsafe request may have healed what failed.
func TestAnUnsafeRequestForgetsFailures(t *testing.T) {
	var healed atomic.Bool
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			healed.Store(true)
		} else if !healed.Load() {
			respond(w, 500, "sorry")
		}
	})
	for range 5 {
		r.get()
	}
	r.do(r.request("POST", "/"))
	if g := r.get(); g.code != 200 {
		t.Errorf("after it was healed: %d", g.code)
	}
}
