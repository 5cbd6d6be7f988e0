package fetch_test

import (
	"net/http"
	"testing"

	"github.com/readthru/readthru/page"
)

// A list for models that somebody has read tells how its host calls the markdown of its pages: nothing is asked for
// that. Lists of pages, and of other sites' files, say nothing.
func TestTwinsAreTriedWhereAListNamesThem(t *testing.T) { // rule A1
	for _, tt := range []struct {
		name, list string
		want       page.Source
	}{
		{"markdown", "- [A](/a.md)\n- [B](https://site.test/b.md): of boats\n- [C](c.md)\n- [D](/d)\n", page.Alternate},
		{"pages", "- [A](/a)\n- [B](/b)\n- [C](/c.md)\n- [D](/d.md)\n- [E](/e.md)\n- [F](/f)\n", page.Local},
		{"few", "- [A](/a.md)\n- [B](/b.md)\n", page.Local},
		{
			"of another site", "- [A](https://b.test/a.md) [B](https://b.test/b.md) [C](https://b.test/c.md)\n",
			page.Local,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mux := http.NewServeMux()
			list := respond(200, "# Site\n\n"+tt.list, "Content-Type: text/plain", "Cache-Control: max-age=60")
			mux.Handle("/llms.txt", list)
			for _, name := range []string{"/a", "/b"} {
				mux.Handle(name, respond(200, article(name), html))
				mux.Handle(name+".md", respond(200, twin, "Content-Type: text/markdown"))
			}
			c := newChain(t, mux)
			if ans := c.read(t, "https://site.test/a"); ans.Page.Source != page.Local {
				t.Errorf("source %s before the list was read", ans.Page.Source)
			}
			c.read(t, "https://site.test/llms.txt")
			if ans := c.read(t, "https://site.test/b"); ans.Page.Source != tt.want {
				t.Errorf("source %s, want %s", ans.Page.Source, tt.want)
			}
			asked := c.origin.asked()
			if want := map[page.Source]int{page.Alternate: 4, page.Local: 3}[tt.want]; len(asked) != want {
				t.Errorf("asked %v, want %d requests", asked, want)
			}
		})
	}
}
