package cache_test

import (
	"net/http"
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/fault/faulttest"
)

// An answer whose keeping panics before it begins is passed on; the next one is kept.
func TestAnAnswerWhoseKeepingPanicsIsPassedOn(t *testing.T) {
	r := newRig(t, cache.Options{}, fixed("x", "Cache-Control: max-age=60", "Content-Location: /"))
	faulttest.Once(t, "cache: keep a response")
	for range 2 {
		if g := r.do(r.request(http.MethodPost, "/")); g.code != 200 || g.body != "x" {
			t.Errorf("got %+v", g)
		}
	}
	r.get()
	r.wantAsked(2)
}
