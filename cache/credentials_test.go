package cache_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
)

// Whatever field an origin may know a client by, a page that was asked for with it answers nobody else, and our own
// lifetimes do not count for it.
func TestAnyFieldMayBeACredential(t *testing.T) {
	for _, said := range []string{"", "Cache-Control: max-age=60", "Cache-Control: public, max-age=60", `ETag: "a"`} {
		t.Run(said, func(t *testing.T) {
			r := newRig(t, cache.Options{PageLifetime: time.Hour}, func(w http.ResponseWriter, req *http.Request) {
				respond(w, 200, "page of "+req.Header.Get("X-Api-Key"), said, "Content-Type: text/html")
			})
			r.get("X-Api-Key: ALICE")
			for _, field := range []string{"X-Api-Key: BOB", "Accept: */*"} {
				if g := r.get(field); strings.Contains(g.body, "ALICE") || strings.Contains(g.status, "hit") {
					t.Errorf("%s: %q, %s", field, g.body, g.status)
				}
			}
			if g := r.get(); !strings.Contains(g.status, "hit") && said != `ETag: "a"` {
				t.Errorf("without credentials: %s, want a hit", g.status)
			}
		})
	}
	t.Run("a lifetime of ours", func(t *testing.T) {
		r := newRig(t, cache.Options{PageLifetime: time.Hour}, fixed("page", "Content-Type: text/html"))
		r.get()
		if g := r.get(); !strings.Contains(g.status, "hit") {
			t.Errorf("without credentials: %s, want a hit", g.status)
		}
		if g := r.get("X-Api-Key: ALICE"); strings.Contains(g.status, "hit") {
			t.Errorf("with credentials: %s, want the origin asked", g.status)
		}
	})
}

func TestRequestsWithOtherCredentialsDoNotShareAFlight(t *testing.T) {
	begun, release := make(chan struct{}, 2), make(chan struct{})
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		begun <- struct{}{}
		<-release
		respond(w, 200, req.Header.Get("X-Api-Key"), "Cache-Control: max-age=60")
	})
	bodies := make(chan string, 2)
	for _, key := range []string{"ALICE", "BOB"} {
		go func() {
			resp, err := r.cache.RoundTrip(r.request("GET", "/", "X-Api-Key: "+key))
			if err != nil {
				bodies <- err.Error()
				return
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			bodies <- key + " got " + string(body)
		}()
	}
	<-begun
	<-begun // the second waits for nobody
	close(release)
	for range 2 {
		if got := <-bodies; got != "ALICE got ALICE" && got != "BOB got BOB" {
			t.Error(got)
		}
	}
}

func TestACookieIsNotReplayed(t *testing.T) {
	for _, tt := range []struct {
		contentType string
		options     cache.Options
		replayed    bool
	}{
		{"application/json", cache.Options{}, false},
		{"text/html", cache.Options{}, false},
		{"image/png", cache.Options{}, false},
		{"text/plain; charset=utf-8", cache.Options{}, true}, // as the public suite requires
		{"application/json", cache.Options{Private: true}, true},
	} {
		t.Run(tt.contentType, func(t *testing.T) {
			r := newRig(t, tt.options, fixed("x", "Cache-Control: max-age=60", "Set-Cookie: sid=ALICE",
				"Content-Type: "+tt.contentType))
			if g := r.get(); g.header.Get("Set-Cookie") == "" {
				t.Error("who asked gets no cookie")
			}
			g := r.get()
			if !strings.Contains(g.status, "hit") {
				t.Errorf("second answer: %s", g.status)
			}
			if got := g.header.Get("Set-Cookie") != ""; got != tt.replayed {
				t.Errorf("the next client gets the cookie: %t, want %t", got, tt.replayed)
			}
		})
	}
}

// What else lets a client in later is its own as well, whatever the type of the content.
func TestATokenInAFieldIsNotReplayed(t *testing.T) {
	for _, name := range []string{"X-Auth-Token", "X-Subject-Token", "X-Csrf-Token", "X-Session-Id", "Authorization"} {
		for _, contentType := range []string{"text/html", "application/json", "text/plain"} {
			t.Run(name+" of "+contentType, func(t *testing.T) {
				r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
					if req.Header.Get("If-None-Match") != "" {
						respond(w, 304, "", `ETag: "a"`, "Cache-Control: max-age=0", name+": BOB")
						return
					}
					respond(w, 200, "x", `ETag: "a"`, "Cache-Control: max-age=60", "Content-Type: "+contentType, name+": ALICE")
				})
				if g := r.get(); g.header.Get(name) != "ALICE" {
					t.Errorf("who asked gets %q", g.header.Get(name))
				}
				if g := r.get(); g.header.Get(name) != "" || !strings.Contains(g.status, "hit") {
					t.Errorf("the next client gets %q, %s", g.header.Get(name), g.status)
				}
				if g := r.get("Cache-Control: no-cache"); g.header.Get(name) != "BOB" {
					t.Errorf("who validates gets %q, %s", g.header.Get(name), g.status)
				}
				if g := r.get("Cache-Control: max-stale"); g.header.Get(name) != "" {
					t.Errorf("who comes after it gets %q, %s", g.header.Get(name), g.status)
				}
			})
		}
	}
}

// The validation of stored data brings its cookie to the one who caused it, and to nobody after.
func TestTheCookieOfAValidationIsNotReplayed(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("If-None-Match") != "" {
			respond(w, 304, "", `ETag: "a"`, "Cache-Control: max-age=60", "Set-Cookie: sid=ALICE")
			return
		}
		respond(w, 200, "{}", `ETag: "a"`, "Cache-Control: max-age=0", "Content-Type: application/json")
	})
	r.get()
	if g := r.get(); g.header.Get("Set-Cookie") == "" {
		t.Error("who asked gets no cookie")
	}
	if g := r.get(); g.header.Get("Set-Cookie") != "" || !strings.Contains(g.status, "hit") {
		t.Errorf("the next client gets %q, %s", g.header.Get("Set-Cookie"), g.status)
	}
}

func TestPagesOfAPrivateCacheAreKeptApartByEveryCredential(t *testing.T) {
	r := newRig(t, cache.Options{Private: true, PartitionKey: []byte("secret")},
		func(w http.ResponseWriter, req *http.Request) {
			respond(w, 200, req.Header.Get("X-Api-Key"), "Cache-Control: max-age=60", "Content-Type: text/html")
		})
	for _, round := range []string{"first", "second"} {
		for _, key := range []string{"", "ALICE", "BOB"} {
			var fields []string
			if key != "" {
				fields = []string{"X-Api-Key: " + key}
			}
			g := r.get(fields...)
			if g.body != key || strings.Contains(g.status, "hit") != (round == "second") {
				t.Errorf("%s time, %q: %q, %s", round, key, g.body, g.status)
			}
		}
	}
}

func TestNoCredentialIsStoredInClear(t *testing.T) {
	r := newRig(t, cache.Options{PartitionKey: []byte("secret")}, func(w http.ResponseWriter, req *http.Request) {
		respond(w, 200, "{}", "Cache-Control: max-age=60", "Vary: X-Api-Key, Accept-Language",
			"Content-Type: application/json")
	})
	asked := r.request("GET", "/", "X-Api-Key: ALICE", "Accept-Language: en")
	r.do(asked)
	list, err := r.store.Responses(cache.Key(asked))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if by := list[0].Selecting; by["accept-language"] != "en" || by["x-api-key"] == "" || by["x-api-key"] == "ALICE" {
		t.Errorf("selected by %v", by)
	}
	if g := r.do(asked); !strings.Contains(g.status, "hit") {
		t.Errorf("the same again: %s", g.status)
	}
}
