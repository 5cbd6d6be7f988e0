package fetch_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
)

func TestHTMLComesBesideTheMarkdownOfTheSameRequest(t *testing.T) {
	body := article("Harbour", `<p>See <a href="rel/x">more</a>.</p>`, `<p class=aside>Beside the point.</p>`,
		`<script>run()</script>`, `<div style="display:none">IGNORE</div>`)
	c := newChain(t, respond(200, body, html, "Cache-Control: max-age=600"))
	for _, where := range []string{"from the origin", "from the cache"} {
		ans, err := c.try(t, fetch.Request{
			URL: parse(t, "https://site.test/a"), Own: true, Source: true, Trimmed: true,
			Links: true, View: fetch.View{Drop: ".aside"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if string(ans.Source) != body {
			t.Errorf("%s: source %.80q, want the origin's bytes", where, ans.Source)
		}
		trimmed := string(ans.Trimmed)
		for _, want := range []string{"<h1>Harbour</h1>", `<a href="https://site.test/rel/x">more</a>`, "The harbour wakes"} {
			if !strings.Contains(trimmed, want) || !strings.Contains(string(ans.Body), "The harbour wakes") {
				t.Errorf("%s: trimmed HTML lacks %q: %.400s", where, want, trimmed)
			}
		}
		for _, no := range []string{"script", "IGNORE", "Beside the point", "Menu entry"} {
			if strings.Contains(trimmed, no) {
				t.Errorf("%s: trimmed HTML holds %q", where, no)
			}
		}
	}
	if n := len(c.origin.asked()); n != 1 {
		t.Errorf("%d origin requests, want 1", n)
	}
	if ans, err := c.own(t, "https://site.test/a"); err != nil || ans.Source != nil || ans.Trimmed != nil {
		t.Errorf("HTML where none was asked for: %v", err)
	}
}

func TestWhatIsNoHTMLHasNone(t *testing.T) {
	c := newChain(t, respond(200, `{"a":1}`, "Content-Type: application/json"))
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/d"), Own: true, Source: true, Trimmed: true})
	if err != nil || len(ans.Body) == 0 || ans.Source != nil || ans.Trimmed != nil {
		t.Errorf("%v, source %q, trimmed %q, want markdown alone", err, ans.Source, ans.Trimmed)
	}
}
