package convert_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/readthru/readthru/convert"
)

func TestLinksOfForeignMarkdownBecomeAbsolute(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "a.test", Path: "/dir/page/"}
	for _, tt := range []struct{ md, want string }{
		{"[a](x.md)", "[a](https://a.test/dir/page/x.md)"},
		{"[a](../x \"T\")", "[a](https://a.test/dir/x \"T\")"},
		{"[a](</x y>)", "[a](<https://a.test/x%20y>)"},
		{"[a](//b.test/x)", "[a](https://b.test/x)"},
		{"![i](i.png) and [b](?q=1)", "![i](https://a.test/dir/page/i.png) and [b](https://a.test/dir/page/?q=1)"},
		{"[![i](i.png)](x)", "[![i](https://a.test/dir/page/i.png)](https://a.test/dir/page/x)"},
		{"[a](x_(y))", "[a](https://a.test/dir/page/x_(y))"},
		{"[r]: ../r 'T'", "[r]: https://a.test/dir/r 'T'"},
		{
			`<a href="x">y</a> <img alt="z" src='/i.png'>`,
			`<a href="https://a.test/dir/page/x">y</a> <img alt="z" src='https://a.test/i.png'>`,
		},

		{
			"[a](#x) [b](https://b.test/) [c](mailto:x@b.test) [d]()",
			"[a](#x) [b](https://b.test/) [c](mailto:x@b.test) [d]()",
		},
		{"`[a](x)` and ``[b](`y)``", "`[a](x)` and ``[b](`y)``"},
		{"```\n[a](x)\n```", "```\n[a](x)\n```"},
		{"[^1]: a note", "[^1]: a note"},
		{"no link [here] (x)", "no link [here] (x)"},
	} {
		if got := string(convert.AbsoluteLinks([]byte(tt.md), base)); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.md, got, tt.want)
		}
	}
	md := []byte("nothing to do")
	if got := convert.AbsoluteLinks(md, base); &got[0] != &md[0] {
		t.Error("AbsoluteLinks copied markdown without links")
	}
}

// FuzzForeign checks that judging, cutting and rewriting foreign markdown never panics and keeps valid UTF-8.
func FuzzForeign(f *testing.F) {
	for _, s := range []string{
		"# H\n\n[a](x)\n", "```\nx", "[![i](i.png)](x)", "<a href=\"x\">",
		strings.Repeat("[", 2000), strings.Repeat("[a](", 500), "---\ntitle: x\n---\n\n# T\n===\n", "a\n---\n",
		"## A {#id}\n<a id=\"x\"></a>\n## B\n",
	} {
		f.Add([]byte(s), 5)
	}
	base := &url.URL{Scheme: "https", Host: "a.test", Path: "/dir/"}
	f.Fuzz(func(t *testing.T, md []byte, limit int) {
		convert.DoubtMarkdown(md)
		convert.DoubtAgainst(md, md, 10)
		once := convert.AbsoluteLinks(md, base)
		if utf8.Valid(md) && !utf8.Valid(once) {
			t.Errorf("%q became %q", md, once)
		}
		if _, next := convert.Cut(md, limit); next < 0 || next > len(md) {
			t.Errorf("Cut: next = %d of %d bytes", next, len(md))
		}
	})
}

func TestHostileForeignMarkdownIsJudgedInTime(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "a.test", Path: "/dir/"}
	for name, md := range map[string]string{
		"brackets":            many("[", 1<<17),
		"open links":          many("[a](", 1<<15),
		"links":               many("[a](b) ", 1<<14),
		"links in one word":   many("](b)", 1<<15),
		"tags":                many("<a href=\"x\" ", 1<<13),
		"open tags":           many("<p ", 1<<15),
		"comments":            many("<!-- ", 1<<15),
		"headings":            many("# a\n", 1<<15),
		"ticks":               many("`", 1<<17) + "x",
		"backticks and words": many("` `` ", 1<<15),
		"underlines":          many("a\n---\n", 1<<14),
		"code":                many("f(x);\n", 1<<14),
	} {
		t.Run(name, func(t *testing.T) {
			checkCost(t, md, func() {
				convert.DoubtMarkdown([]byte(md))
				convert.AbsoluteLinks([]byte(md), base)
				convert.Cut([]byte(md), 1000)
			})
		})
	}
}
