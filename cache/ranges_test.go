package cache_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
)

// parts serves ten digits, in parts where asked, with the fields of the part that was asked for first or later.
func parts(first, later string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		fields := later
		if req.Header.Get("Range") == "bytes=0-5" {
			fields = first
		}
		w.Header().Set("ETag", `"a"`)
		w.Header().Set("Cache-Control", fields)
		http.ServeContent(w, req, "x.txt", time.Time{}, strings.NewReader("0123456789"))
	}
}

// A whole made of a stored part and its rest is stored only where the answer that brought the rest may be (RFC 9111 §3,
// §3.4).
func TestACompletedPartIsStoredOnlyWhereItMayBe(t *testing.T) {
	for _, later := range []string{"no-store", "private, max-age=60"} {
		t.Run(later, func(t *testing.T) {
			r := newRig(t, cache.Options{}, parts("max-age=60", later))
			r.get("Range: bytes=0-5")
			for range 2 {
				if g := r.get(); g.code != 200 || g.body != "0123456789" || strings.Contains(g.status, "stored") {
					t.Errorf("whole: %d %q %q", g.code, g.body, g.status)
				}
			}
			r.wantAsked(3)
			list, err := r.store.Responses(cache.Key(r.request("GET", "/")))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				if e.Status == http.StatusOK {
					t.Errorf("a %s response is stored: %v", later, e.Header)
				}
			}
		})
	}
}

// Range has a meaning for GET alone (RFC 9110 §14.2): a HEAD has no part to be answered with, and no content in any
// case.
func TestHEADWithRangeIsNotAnsweredFromAPart(t *testing.T) {
	r := newRig(t, cache.Options{}, parts("max-age=60", "max-age=60"))
	r.get("Range: bytes=0-5")
	g := r.do(r.request("HEAD", "/", "Range: bytes=0-3"))
	if g.body != "" || strings.Contains(g.status, "hit") {
		t.Errorf("HEAD: %d %q %q", g.code, g.body, g.status)
	}
	r.get()
	if g := r.do(r.request("HEAD", "/", "Range: bytes=0-3")); g.code != 200 || g.body != "" ||
		g.header.Get("Content-Length") != "10" {
		t.Errorf("HEAD of a whole: %d %q %v", g.code, g.body, g.header)
	}
}
