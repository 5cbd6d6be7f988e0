package cache_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/cache"
)

// A response whose validation brings fields that forbid its reuse answers who asked, and nobody afterwards (RFC 9111
// §3, §4.3.4).
func TestAValidationThatForbidsReuseDeletesTheEntry(t *testing.T) {
	for _, forbids := range []string{"Cache-Control: private, max-age=60", "Cache-Control: no-store", "Vary: *"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, code := range []int{http.StatusNotModified, http.StatusOK} {
				if method == http.MethodGet && code == http.StatusOK {
					continue // an ordinary response
				}
				t.Run(fmt.Sprint(method, " ", code, " ", forbids), func(t *testing.T) {
					var asked atomic.Int64
					r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
						switch {
						case asked.Add(1) == 1:
							respond(w, 200, "for all", `ETag: "a"`, "Cache-Control: max-age=0")
						case asked.Load() == 2 && code == http.StatusNotModified:
							respond(w, 304, "", `ETag: "a"`, forbids)
						case asked.Load() == 2:
							respond(w, 200, "", `ETag: "a"`, "Content-Length: 7", forbids)
						default:
							if tags := req.Header.Get("If-None-Match"); tags != "" {
								t.Errorf("asked with %s for what may not be stored", tags)
							}
							respond(w, 200, "for you", "Cache-Control: max-age=60")
						}
					})
					r.get()
					g := r.do(r.request(method, "/"))
					if g.code != 200 || method == http.MethodGet && g.body != "for all" {
						t.Errorf("validated: %d %q", g.code, g.body)
					}
					if list, err := r.store.Responses(cache.Key(r.request("GET", "/"))); err != nil || len(list) != 0 {
						t.Errorf("still stored: %v, %v", list, err)
					}
					if g := r.get(); g.body != "for you" {
						t.Errorf("afterwards: %q %q", g.body, g.status)
					}
				})
			}
		}
	}
}

func TestWhatA304CallsPrivateIsForWhoAskedAlone(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("If-None-Match") != "" {
			respond(w, 304, "", `ETag: "a"`, "X-Name: ann", `Cache-Control: max-age=60, private="X-Name"`)
			return
		}
		respond(w, 200, "x", `ETag: "a"`, "Cache-Control: max-age=0")
	})
	r.get()
	if g := r.get(); g.header.Get("X-Name") != "ann" {
		t.Errorf("who asked gets X-Name %q", g.header.Get("X-Name"))
	}
	if g := r.get(); g.header.Get("X-Name") != "" || !strings.Contains(g.status, "hit") {
		t.Errorf("another gets X-Name %q, %q", g.header.Get("X-Name"), g.status)
	}
}

// A page validated for a client with cookies stays what it was for those without (a shared cache, §3.5).
func TestAValidationWithCredentialsDoesNotFreshenForOthers(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("If-None-Match") != "" && req.Header.Get("Cookie") != "" {
			respond(w, 304, "", `ETag: "a"`, "X-Seen: cookie", "Cache-Control: max-age=60")
			return
		}
		respond(w, 200, "page", `ETag: "a"`, "Cache-Control: max-age=0", "Content-Type: text/html")
	})
	r.get()
	if g := r.get("Cookie: a=b"); g.body != "page" || g.header.Get("X-Seen") != "cookie" {
		t.Errorf("validated: %q %v", g.body, g.header)
	}
	if g := r.get(); g.header.Get("X-Seen") != "" || strings.Contains(g.status, "hit") {
		t.Errorf("another: %v %q", g.header, g.status)
	}
}

func TestHEADIsNeverAnsweredA304ThatNamesNothing(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if tags := req.Header.Get("If-None-Match"); strings.Contains(tags, `"mine"`) {
			respond(w, 304, "") // whose?
			return
		}
		respond(w, 200, "body", `ETag: "a"`, "Cache-Control: max-age=0")
	})
	r.get()
	if g := r.do(r.request("HEAD", "/", `If-None-Match: "mine"`)); g.code != 200 || g.header.Get("ETag") != `"a"` {
		t.Errorf("HEAD = %d %v, want 200 with the fields of what is there", g.code, g.header)
	}
}

func TestHEADWithTheClientsOwnTagPassesIts304(t *testing.T) {
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if tags := req.Header.Get("If-None-Match"); strings.Contains(tags, `"mine"`) {
			respond(w, 304, "", `ETag: "mine"`)
			return
		}
		respond(w, 200, "body", `ETag: "a"`, "Cache-Control: max-age=0")
	})
	r.get()
	if g := r.do(r.request("HEAD", "/", `If-None-Match: "mine"`)); g.code != 304 || g.header.Get("ETag") != `"mine"` {
		t.Errorf("HEAD = %d %v, want the 304 that names the client's copy", g.code, g.header)
	}
}

func TestVariantsOfOneURLAreBounded(t *testing.T) {
	r := newRig(t, cache.Options{}, fixed("x", "Cache-Control: max-age=60", "Vary: X"))
	for i := range 70 {
		r.get(fmt.Sprint("X: ", i))
	}
	if list, err := r.store.Responses(cache.Key(r.request("GET", "/"))); err != nil || len(list) != 64 {
		t.Errorf("%d variants stored, %v; want 64", len(list), err)
	}
	if g := r.get("X: 69"); !strings.Contains(g.status, "hit") {
		t.Errorf("the newest: %q", g.status)
	}
}

// RFC 9111 §4.3.4: a 304 freshens only what its validators name. Another Last-Modified, or a strong tag where the
// stored one is weak, names nothing we have.
func TestA304WithOtherValidatorsFreshensNothing(t *testing.T) {
	for _, tt := range []struct{ name, stored, confirmed string }{
		{
			"another Last-Modified", "Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT",
			"Last-Modified: Sat, 03 Jan 2026 03:04:05 GMT",
		},
		{"another Last-Modified beside a tag", `ETag: "a"`, "Last-Modified: Sat, 03 Jan 2026 03:04:05 GMT"},
		{"a strong tag for a weak one", `ETag: W/"a"`, `ETag: "a"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
				if req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != "" {
					respond(w, 304, "", tt.confirmed, "Cache-Control: max-age=60")
					return
				}
				respond(w, 200, "body", tt.stored, "Cache-Control: max-age=0")
			})
			r.get()
			if g := r.get(); g.code != 200 || strings.Contains(g.status, "fwd-status=304") || g.header.Get("Age") != "" {
				t.Errorf("validated: %d %q", g.code, g.status)
			}
			r.wantAsked(3)
			if g := r.get("If-Range: \"a\"", "Range: bytes=0-1"); tt.stored != `ETag: "a"` && g.code != 200 {
				t.Errorf("a range of the strong tag: %d", g.code)
			}
		})
	}
	r := newRig(t, cache.Options{}, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("If-None-Match") != "" {
			respond(w, 304, "", `ETag: W/"a"`, "Cache-Control: max-age=60")
			return
		}
		respond(w, 200, "body", `ETag: "a"`, "Cache-Control: max-age=0")
	})
	r.get()
	if g := r.get(); !strings.Contains(g.status, "fwd-status=304") {
		t.Errorf("a weak tag for a strong one: %q", g.status)
	}
}
