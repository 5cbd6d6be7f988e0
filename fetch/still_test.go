package fetch_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/readthru/readthru/page"
)

// A short page is rendered only if something in it runs: a browser shows no more of another.
func TestAStillPageIsNotRendered(t *testing.T) { // rule C2
	pages := map[string]string{
		"/note":    `<title>Note</title><p>Closed today.<svg><path d="M0 0"/></svg>`,
		"/handler": `<title>Note</title><body onload="document.querySelector('p').append(' Open tomorrow.')"><p>Closed today.`,
		"/leading": `<meta http-equiv=refresh content="0;url=/note"><p>Closed today.`,
		"/picture": `<p>Closed today.<svg><script>document.querySelector('p').append(' Open tomorrow.')</script></svg>`,
	}
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = io.WriteString(w, pages[r.URL.Path])
	}))
	for range 2 {
		if a := c.read(t, "https://site.test/note"); a.Page.Source != page.Local {
			t.Errorf("source %s, want local; attempts %+v", a.Page.Source, a.Page.Attempts)
		}
	}
	if s := c.Stats(); s.Render.Pages != 0 || s.Converted != 1 {
		t.Errorf("%d pages rendered and %d converted, want none and 1", s.Render.Pages, s.Converted)
	}
	for n, path := range []string{"/handler", "/leading", "/picture"} {
		c.read(t, "https://site.test"+path)
		if rendered := c.Stats().Render.Pages; rendered != int64(n+1) {
			t.Errorf("%s: %d pages rendered, want %d", path, rendered, n+1)
		}
	}
}
