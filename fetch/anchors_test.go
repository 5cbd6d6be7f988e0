package fetch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/page"
)

func TestAnchorsComeFromTheStoredHTML(t *testing.T) {
	const reference = `<title>tools</title><main><h1>tools</h1><p>Words of a page that is long enough to be one, and more.</p>
		<dl><dt id="tools.reduce">reduce(f)</dt><dd>Applies it.</dd></dl></main>`
	c := newChain(t, respond(200, reference, html, "Cache-Control: max-age=600"))
	key := func(raw string) page.Key { return page.KeyOf(page.Normalize(parse(t, raw))) }
	if got := c.Anchors(key("https://site.test/")); got != nil {
		t.Errorf("anchors of a page that was never read: %v", got)
	}
	if _, err := c.own(t, "https://site.test/"); err != nil {
		t.Fatal(err)
	}
	want := []page.Anchor{{ID: "tools.reduce", Text: "reduce(f)"}}
	for range 2 {
		if diff := cmp.Diff(want, c.Anchors(key("https://site.test/"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if n := len(c.origin.asked()); n != 1 {
		t.Errorf("the origin was asked %d times, want once", n)
	}
}

// A page is kept under its own address, whatever place of it was asked for first.
func TestAPageIsKeptWithoutTheFragment(t *testing.T) {
	c := newChain(t, respond(200, "# tools\n\n## Use\n\nWords of a page.\n", "Content-Type: text/markdown"))
	if ans, err := c.own(t, "https://site.test/tools#use"); err != nil || ans.Page.URL != "https://site.test/tools#use" {
		t.Errorf("%v, the answer is of %+v", err, ans)
	}
	if p, err := c.store.Page(page.KeyOf("https://site.test/tools")); err != nil || p.URL != "https://site.test/tools" {
		t.Errorf("%v, the page is kept as that of %+v", err, p)
	}
}

func TestMarkdownHasNoAnchors(t *testing.T) {
	c := newChain(t, respond(200, "# tools\n\nWords of a page.\n", "Content-Type: text/markdown"))
	if _, err := c.own(t, "https://site.test/"); err != nil {
		t.Fatal(err)
	}
	if got := c.Anchors(page.KeyOf("https://site.test/")); got != nil {
		t.Errorf("anchors %v, want none: what HTML the page has is not known", got)
	}
}
