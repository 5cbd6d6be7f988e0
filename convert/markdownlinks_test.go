package convert_test

import (
	"net/url"
	"testing"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/markdown"
)

func TestCompactLinks(t *testing.T) {
	for _, tt := range []struct{ name, md, want string }{
		{"own host", "[a](https://a.test/x?y=1#z) ![i](https://a.test/i.png)", "[a](/x?y=1#z) ![i](/i.png)"},
		{"a place on the page", "[a](https://a.test/dir/p?q=1#z)", "[a](#z)"},
		{"another host, port or scheme", "[a](https://b.test/) [b](https://a.test:81/) [c](http://a.test/)", ""},
		{"a host that begins alike", "[a](https://a.testing/x)", ""},
		{"a path that would name a host", "[a](https://a.test//b.test/x)", ""},
		{"no path", "[a](https://a.test) [b](https://a.test?q)", ""},
		{"a title", `[a](https://a.test/x "https://a.test/x")`, `[a](/x "https://a.test/x")`},
		{"brackets", "[a](<https://a.test/x y>)", "[a](</x y>)"},
		{"a definition", "[a][1]\n\n[1]: https://a.test/x", "[a][1]\n\n[1]: /x"},
		{"bare URLs and autolinks", "https://a.test/x <https://a.test/x>", ""},
		{"code", "`[a](https://a.test/x)`\n\n```\n[a](https://a.test/x)\n```", ""},
		{
			"a card",
			"[![i](https://a.test/i.png)](https://a.test/x)\n\n### [Name](https://a.test/x)\n\n[More](https://a.test/x)",
			"[![i](/i.png)](/x)\n\n### Name\n\nMore",
		},
		{
			"a picture that repeats a target", "[a](https://a.test/x) [![i](https://a.test/i.png)](https://a.test/x)",
			"[a](/x) ![i](/i.png)",
		},
		{"a repeated link to another host", "[a](https://b.test/x), [b](https://b.test/x)", "[a](https://b.test/x), b"},
		{"a text that would be a heading", "[a](/x)\n\n[# b](/x)", ""},
		{"a text that would be an item", "[a](/x)\n\n> [1. b](/x) and [2. c](/x)", "[a](/x)\n\n> [1. b](/x) and 2. c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page, err := url.Parse("https://user@a.test/dir/p?q=1#f")
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				tt.want = tt.md
			}
			if got := string(convert.CompactLinks([]byte(tt.md), page)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	if got := string(convert.CompactLinks([]byte("[a](/x)"), nil)); got != "[a](/x)" {
		t.Errorf("without a page: %q", got)
	}
}

// Each target of a link is still linked, whatever the markdown is.
func FuzzCompactLinks(f *testing.F) {
	for _, md := range []string{
		"[![i](https://a.test/i.png)](https://a.test/x) [b](https://a.test/x)\n\n[r]: https://a.test/y",
		"- [# a](/x)\n- [# a](/x)", "![a](https://a.test/p#b)", "[a](https://a.test/x)[b](https://a.test/x)",
		"[a\n# b](/x) [a\n# b](/x)", "!\\[a](u)[b](u)",
	} {
		f.Add(md)
	}
	page := &url.URL{Scheme: "https", Host: "a.test", Path: "/p"}
	targets := func(md []byte) map[string]bool {
		found := map[string]bool{}
		for l := range markdown.Links(md) {
			if l.Kind == markdown.InlineLink {
				if u, err := page.Parse(l.Address(md)); err == nil {
					found[u.String()] = true
				}
			}
		}
		return found
	}
	f.Fuzz(func(t *testing.T, md string) {
		short := convert.CompactLinks([]byte(md), page)
		after := targets(short)
		for target := range targets([]byte(md)) {
			if !after[target] {
				t.Errorf("%q lost its link to %s: %q", md, target, short)
			}
		}
	})
}
