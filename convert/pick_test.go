package convert_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/convert"
)

func TestSelectorsMatchTheOriginalPage(t *testing.T) {
	const html = `<nav class=top>Nav</nav><main><div class="admonition note"><p class="admonition-title">Note</p><p>Heed</p></div><p class=a>A <b>bold</b></p><p class="b x">B</p>
<table class=data><tr><th>h<th>i<tr class=r><td>1<td>2</table><ul><li class=i>item<li>other</ul><img class=hero src=/h.png alt=H><p hidden class=a>IGNORE</p></main><aside id=side>Side</aside>`
	for _, tt := range []struct {
		name string
		o    convert.Options
		want string
	}{
		{"a child", convert.Options{Selector: "main > p.a"}, "A **bold**\n"},
		{"a class that normalising removes", convert.Options{Selector: ".admonition-title + p"}, "Heed\n"},
		{"a list in document order", convert.Options{Selector: "p.b, .a"}, "A **bold**\n\nB\n"},
		{"a match within a match comes once", convert.Options{Selector: "main p.a, b"}, "A **bold**\n"},
		{"an item of a list", convert.Options{Selector: "li.i"}, "- item\n"},
		{"a row of a table", convert.Options{Selector: "tr.r"}, "| 1 | 2 |\n| --- | --- |\n"},
		{"an image", convert.Options{Selector: "img.hero"}, "![H](https://a.test/h.png)\n"},
		{"chrome", convert.Options{Selector: "nav.top, #side"}, "Nav\n\nSide\n"},
		{"attribute operators", convert.Options{Selector: `[class^="b"], [class~=i]`}, "B\n\n- item\n"},
		{"drop from a selection", convert.Options{Selector: "main > p", Drop: "b"}, "A\n\nB\n"},
		{"drop from the whole page", convert.Options{WholePage: true, Drop: "main, .top"}, "Side\n"},
		{"hidden text is not selected", convert.Options{Selector: "p[hidden], p.b"}, "B\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := convertPage(t, html, tt.o).Markdown
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestSectionsAreFoundById(t *testing.T) {
	const html = `<main><h1>T</h1><p>intro
<div class=heading><h2 id=a>A</h2><a class=hash-link href="#a">#</a></div><p>in a<h3 id=a1>A1</h3><p>in a1
<section id=s><h2>S</h2><p>in s</p></section>
<a name=old></a><h2>Old</h2><p>in old
<dl><dt id=f>f()<dd>does f<dt id=g>g()<dt id=h>h()<dd>does g and h</dl>
<p id=p>a paragraph</p><p>its neighbour <span id=in>with an anchor</span></p><h2 id="user-content-gh">GH</h2><p>in gh</p></main>`
	for id, want := range map[string]string{
		"a": "## A\n\nin a\n\n### A1\n\nin a1\n", "a1": "### A1\n\nin a1\n", "s": "## S\n\nin s\n", "p": "a paragraph\n",
		"in": "its neighbour with an anchor\n",
		"gh": "## GH\n\nin gh\n", "t": "# T\n\nintro\n",
	} {
		if got := convertPage(t, html, convert.Options{Section: id}).Markdown; !strings.HasPrefix(got, want) && id == "t" ||
			got != want && id != "t" {
			t.Errorf("#%s gives %q, want %q", id, got, want)
		}
	}
	for id, words := range map[string][2]string{
		"old": {"in old", "in s"}, "f": {"does f", "does g"},
		"g": {"does g and h", "does f"},
	} {
		if got := convertPage(t, html, convert.Options{Section: id}).Markdown; !strings.Contains(got, words[0]) ||
			strings.Contains(got, words[1]) {
			t.Errorf("#%s gives %q", id, got)
		}
	}
	doc := parse(t, html)
	if _, err := doc.Convert(t.Context(), convert.Options{Section: "none"}); !errors.Is(err, convert.ErrNoMatch) {
		t.Errorf("missing section: %v, want ErrNoMatch", err)
	}
}

func TestHostileSelectorsEndWithTheirContext(t *testing.T) {
	page := many("<div>", 240) + many("<i>x</i>", 30000)
	doc := parse(t, page)
	for _, s := range []string{"x * * *", "x ~ i ~ i ~ i", ":nth-last-child(2n+1)", "i:not(:nth-child(3n))", "*"} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		checkCost(t, page, func() { _, _ = doc.Convert(ctx, convert.Options{Selector: s}) })
		cancel()
	}
}

func FuzzSelector(f *testing.F) {
	for _, s := range []string{
		"p", "main > p.a", "a,b", "[x^='1']", ":not(p)", "li:nth-child(2n+1)", "x ~ y", "\\31 a",
		"*|*", "a:not(b:not(c))",
	} {
		f.Add(s)
	}
	doc := parse(f, `<main><p class=a id=x>text <b>b</b><ul><li>1<li>2</ul></main>`)
	f.Fuzz(func(t *testing.T, s string) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if res, err := doc.Convert(ctx, convert.Options{Selector: s, Drop: s}); err == nil && len(res.Markdown) > 1000 {
			t.Errorf("selector %q gives %d bytes", s, len(res.Markdown))
		}
	})
}
