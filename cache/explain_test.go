package cache_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/page"
)

// What Explain concludes about the only stored response is what is done with it, and Fresh agrees.
func TestExplainConcludesWhatIsDone(t *testing.T) {
	const fresh, stale, tag = "Cache-Control: max-age=600", "Cache-Control: max-age=0, must-revalidate", `ETag: "a"`
	bypass := func(*url.URL) cache.Rule { return cache.Rule{Bypass: true} }
	for _, tt := range []struct {
		name   string
		stored []string // fields of the stored response
		then   cache.Options
		asked  []string // fields of the request
		want   string
		code   int
		hit    bool
		fresh  bool
	}{
		{"fresh", []string{fresh}, cache.Options{}, nil, "→ reused", 200, true, true},
		{
			"stale",
			[]string{stale, tag},
			cache.Options{},
			nil, "→ validated, or fetched again, before reuse", 200, false,
			false,
		},
		{"past the cache", []string{fresh}, cache.Options{Rule: bypass}, nil, "→ not reused", 200, false, false},
		{
			"for the origin alone",
			[]string{fresh},
			cache.Options{},
			[]string{`If-Match: "a"`},
			"→ not reused", 200, false,
			false,
		},
		{
			"stale, and the origin is not asked",
			[]string{stale, tag},
			cache.Options{},
			[]string{"Cache-Control: only-if-cached"},
			"→ not reused: the answer is 504, because the origin is not asked (§5.2.1.7)", 504, false, false,
		},
		{
			"stale and offline",
			[]string{"Cache-Control: max-age=0", tag},
			cache.Options{Offline: true},
			nil,
			"→ reused though stale (offline)", 200, true, false,
		},
		{
			"in another form",
			[]string{fresh, "Content-Type: text/html"},
			cache.Options{},
			[]string{"Accept: text/markdown"},
			"→ not reused; its entity tag may go along with the question to the origin (§4.3.1)", 200, false, false,
		},
		{
			"in another form, and the origin is not asked",
			[]string{fresh, "Content-Type: text/html"},
			cache.Options{},
			[]string{"Accept: text/markdown", "Cache-Control: only-if-cached"},
			"→ reused", 200, true, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, cache.Options{}, fixed("x", tt.stored...))
			r.get()
			tt.then.Page, tt.then.Markdown = page.IsPage, page.IsMarkdown
			r.cache.Reconfigure(tt.then)
			asked := r.request(http.MethodGet, "/", tt.asked...)
			lines, err := r.cache.Explain(asked)
			if err != nil || len(lines) == 0 || lines[len(lines)-1].Text != tt.want {
				t.Errorf("explained %q, %v; want %q at the end", lines, err, tt.want)
			}
			if got, err := r.cache.Fresh(asked); err != nil || got != tt.fresh {
				t.Errorf("fresh: %v, %v; want %v", got, err, tt.fresh)
			}
			if g := r.do(asked); g.code != tt.code || strings.Contains(g.status, "hit") != tt.hit {
				t.Errorf("%d %q, want %d, hit %v", g.code, g.status, tt.code, tt.hit)
			}
		})
	}
}
