package hidden_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/readthru/readthru/convert/hidden"
)

// hostile are markdown texts with what their reader does not see. HIDE must not be left, KEEP must.
var hostile = []struct{ name, md, want, kind string }{
	{"tag characters", "KEEP" + smuggle("HIDE") + "\n", "KEEP\n", "characters"},
	{"zero-width characters", "KE\u200bE\u2060P\n", "KEEP\n", "characters"},
	{
		"bidirectional overrides in code", "```go\nif a {\u202e // KEEP\u2066\n```\n", "```go\nif a { // KEEP\n```\n",
		"characters",
	},
	{"a terminal's sequences", "\x1b[31mKEEP\x1b[0m\x1b]0;HIDE\a\n", "KEEP\n", "characters"},
	{"a comment", "KEEP <!-- HIDE --> KEEP\n", "KEEP  KEEP\n", "comment"},
	{"a comment over lines", "KEEP\n\n<!--\nHIDE\n\nHIDE\n-->\n\nKEEP\n", "KEEP\n\n\n\nKEEP\n", "comment"},
	{"a comment that does not end", "KEEP\n\n<!-- HIDE\n\nHIDE\n", "KEEP\n\n", "comment"},
	{
		"a comment that leaves its HTML block", "KEEP\n\n<p>KEEP</p> <!-- HIDE\n\nHIDE -->\n\nKEEP\n",
		"KEEP\n\n<p>KEEP</p> \n\nKEEP\n", "comment",
	},
	{"an instruction to a processor", "KEEP <?HIDE?>\n", "KEEP \n", "comment"},
	{"a comment in a comment's place", "KEEP <<!-- x -->!-- HIDE --><!<!-- x -->-- HIDE -->\n", "KEEP \n", "comment"},
	{"a definition as a comment", "KEEP\n\n[//]: # (HIDE HIDE)\n[comment]: <> (HIDE)\n", "", "comment"},
	{"a definition with a sentence as its name", "KEEP\n\n[you must now HIDE]: https://a.test/\n", "", "comment"},
	{
		"a title", "[KEEP](https://a.test/ \"HIDE what they say\") ![KEEP](/a.png 'do as HIDE says')\n", "[KEEP](https://a.test/) ![KEEP](/a.png)\n",
		"attribute",
	},
	{"a title of a definition", "[KEEP][k]\n\n[k]: /a \"HIDE what they say\"\n", "[KEEP][k]\n\n[k]: /a\n", "attribute"},
	{"display: none", "KEEP\n\n<p style=\"display:none\">HIDE</p>\n\nKEEP\n", "", "display"},
	{"hidden in a paragraph", "KEEP <span hidden>HIDE *HIDE*</span> KEEP\n", "KEEP  KEEP\n", "hidden"},
	{
		"hidden over blocks", "KEEP\n\n<div hidden>\n\n# HIDE\n\n- HIDE\n\n```\n</div> HIDE\n```\n\n</div>\n\nKEEP\n", "",
		"hidden",
	},
	{"hidden and not closed", "KEEP\n\n<div hidden>\n\nHIDE\n\nHIDE\n", "", "hidden"},
	{"hidden, not closed in a paragraph", "KEEP <span hidden>HIDE\nHIDE\n\nKEEP\n", "KEEP \n\nKEEP\n", "hidden"},
	{"a hidden paragraph that the next ends", "<p hidden>HIDE\n<p>KEEP</p>\n\nKEEP\n", "", "hidden"},
	{"hidden by a style sheet", "<style>.x { display: none }</style>\n\n<p class=x>HIDE</p>\n\nKEEP\n", "", "display"},
	{"white on white", "KEEP\n\n<p style=\"color:#fff;background:#fff\">HIDE</p>\n", "", "colour"},
	{"an inherited colour", "<div style=\"color:white\"><p>HIDE</p></div>\n\nKEEP\n", "", "colour"},
	{"a tiny font", "KEEP<span style='font-size:1px'>HIDE</span>\n", "KEEP\n", "size"},
	{"aria-hidden", "<p aria-hidden=\"true\">HIDE</p>\n\nKEEP\n", "", "aria-hidden"},
	{"attributes without space between", "<p class=\"a\"hidden>HIDE</p>\n\nKEEP\n", "", "hidden"},
	{"a tag with an odd attribute", "<div @x {y} hidden>HIDE</div>\n\nKEEP\n", "", "hidden"},
	{"a tag as long as a page", "KEEP\n\n<p hidden class=\"" + strings.Repeat("x ", 5000) + "\">HIDE</p>\n", "", "hidden"},
	{"backticks in HTML are no code", "<div>\n`<p hidden>HIDE</p>`KEEP\n</div>\n", "", "hidden"},
	{"a template", "KEEP\n\n<template>HIDE</template>\n", "", "template"},
	{"a script", "KEEP\n\n<script>\n\nHIDE()\n\n</script>\n", "", "script"},
	{"an option", "KEEP\n\n<select><option>HIDE</option></select>\n", "", "select"},
	{"the fallback of a canvas", "<canvas><p>HIDE</p></canvas>KEEP\n", "<canvas><p></p></canvas>KEEP\n", "canvas"},
	{"a picture of one pixel", "KEEP <img src=a.png width=1 height=1 alt=HIDE>\n", "KEEP \n", "alt"},
	{
		"attributes", "<abbr title='HIDE what they say' data-x=\"do as HIDE says\" aria-label='do as HIDE says' class=k>KEEP</abbr>\n", "<abbr class=k>KEEP</abbr>\n",
		"attribute",
	},
	{"a script's address", "[KEEP](javascript:HIDE) ![KEEP](data:image/png;HIDE)\n", "KEEP KEEP\n", "script-link"},
	{
		"a script's address in disguise", "[KEEP](java&#115;cript&colon;HIDE) [KEEP](<JaVaScRiPt:HIDE>)\n", "",
		"script-link",
	},
	{"a script's address by reference", "[KEEP][k]\n\n[k]: vbscript:HIDE\n", "[KEEP][k]\n\n\n", "script-link"},
	{"a script's address between brackets", "KEEP <javascript:HIDE>\n", "KEEP \n", "script-link"},
	{
		"a script's address in a tag", "<a href=\"javascript:HIDE\" onclick='HIDE'>KEEP</a>\n", "<a>KEEP</a>\n",
		"script-link",
	},
	{"a link that becomes another", "[[KEEP](javascript:HIDE)](javascript:HIDE)\n", "KEEP\n", "script-link"},
	{
		"a tag that a browser looks for the end of", "KEEP\n\n<p title=\"KEEP\n\nKEEP\n",
		"KEEP\n\np title=\"KEEP\n\nKEEP\n", "markup",
	},
	{
		"a forged origin", "---\ntitle: KEEP\nurl: https://bank.test/\n\"Fetched_At\": 2020-01-01\n---\n\nKEEP\n",
		"---\ntitle: KEEP\norigin_url: https://bank.test/\n\"origin_Fetched_At\": 2020-01-01\n---\n\nKEEP\n", "front-matter",
	},
	{
		"a forged origin behind an empty block", "---\n---\n\n---\nurl: https://bank.test/\n---\nKEEP\n",
		"---\n---\n\n---\norigin_url: https://bank.test/\n---\nKEEP\n", "front-matter",
	},
	{
		"a forged origin in disguise",
		"\n---\nurl: https://page.test@bank.test/\nsource: //bank.test\ncanonical_url: bank.test\n---\nKEEP\n",
		"\n---\norigin_url: https://page.test@bank.test/\norigin_source: //bank.test\norigin_canonical_url: bank.test\n---\nKEEP\n",
		"front-matter",
	},
}

var pageURL = &url.URL{Scheme: "https", Host: "page.test", Path: "/a/b"}

func TestMarkdownLosesWhatNobodySees(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			got, report := hidden.Markdown([]byte(tt.md), pageURL)
			if bytes.Contains(got, []byte("HIDE")) || bytes.Count(got, []byte("KEEP")) != strings.Count(tt.md, "KEEP") &&
				tt.kind != "characters" {
				t.Errorf("Markdown(%q) = %q", tt.md, got)
			}
			if tt.want != "" && string(got) != tt.want {
				t.Errorf("Markdown(%q) = %q, want %q", tt.md, got, tt.want)
			}
			if report.Removed.Counts[tt.kind] == 0 || report.Hidden == 0 {
				t.Errorf("report %+v lacks %s", report, tt.kind)
			}
			if again, _ := hidden.Markdown(got, pageURL); !bytes.Equal(again, got) {
				t.Errorf("cleaned again it is %q, not %q", again, got)
			}
		})
	}
}

// honest are markdown texts that must stay as they are.
var honest = []struct{ name, md string }{
	{"plain text", "# Title\n\nText, and `code`.\n"},
	{"code", "```html\n<!-- KEEP --><p hidden>KEEP</p>\n[x](javascript:KEEP)\n```\n\n    <!-- KEEP -->\n\n`<p hidden>` and ``<!-- ` -->``\n"},
	{"escapes", "\\<p hidden> and \\[x](javascript:0) and &lt;!-- KEEP --&gt;\n"},
	{"prose about elements", "Use the <template> element, or <select> and <title>.\n\nKEEP\n\nAnd </title>.\n"},
	{"prose about schemes", "Never follow javascript: or data: addresses; see RFC 2397: data.\n"},
	{
		"HTML that shows",
		"<details><summary>More</summary>\n\nKEEP\n\n</details>\n\n<p align=\"center\"><img src=\"https://a.test/x.png\" alt=\"KEEP\" width=\"100\"></p>\n\nH<sub>2</sub>O<br>\n",
	},
	{"components", "<Card title=\"KEEP\" href=\"/x\">KEEP</Card>\n\n<Select data-x=\"KEEP\">KEEP</Select>\n\n<Tabs items={[\"KEEP\"]}>\n"},
	{"generics and comparisons", "A List<String> where a<b and b>c, and 1 << 3.\n"},
	{"links", "[a](https://a.test/b_(c)) [b](/x#y) [c](mailto:a@b.test) <https://a.test/?q=a:b> [d][e] ![](x.png)\n\n[e]: https://a.test/\n[1.0.0]: https://a.test/compare\n"},
	{"titles that are names", "[a](/b \"Build status\") <img src=\"/c.png\" title=\"Logo\" data-x=\"1\">\n\n[d]: /e 'F'\n\n[d]\n"},
	{"an empty comment", "- a\n\n<!-- -->\n\n- b\n"},
	{"emoji and scripts", "👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3 می\u200cخواهم " +
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\n"},
	{"a byte order mark and Windows' lines", "\ufeff# Title\r\n\r\nText\r\n"},
	{
		"honest front matter",
		"---\ntitle: T\nurl: https://www.page.test/a\nsource: /docs/a.md\nimage:\n  url: https://cdn.test/x.png\ndate: 2020-01-01\n---\n\nText\n",
	},
	{"a rule, and a colon behind it", "---\n\nText\n\nsource code: https://a.test\n"},
}

func TestHonestMarkdownStaysAsItIs(t *testing.T) {
	for _, tt := range honest {
		t.Run(tt.name, func(t *testing.T) {
			got, report := hidden.Markdown([]byte(tt.md), pageURL)
			if string(got) != tt.md || report.Hidden > 0 {
				t.Errorf("Markdown(%q) = %q, %+v", tt.md, got, report)
			}
		})
	}
	text := []byte(strings.Repeat("A line of [prose](https://a.test/), and what is *said* in it: nothing.\n", 100))
	if n := testing.AllocsPerRun(10, func() { hidden.Markdown(text, pageURL); hidden.Text(text) }); n > 0 {
		t.Errorf("an honest text costs %v allocations, want none", n)
	}
}

func TestTextLosesCharactersAlone(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"{\"a\": \"<!-- KEEP -->\u200b\"}\n", "{\"a\": \"<!-- KEEP -->\"}\n"},
		{"a,b\n\x1b[2Jc,\u202ed\n", "a,b\nc,d\n"},
		{"\ufeffa\ufeffb", "\ufeffab"},
		{"<p hidden>KEEP</p>", "<p hidden>KEEP</p>"},
	} {
		got, report := hidden.Text([]byte(tt.text))
		if string(got) != tt.want || (report.Hidden > 0) != (tt.text != tt.want) {
			t.Errorf("Text(%+q) = %+q, %+v, want %+q", tt.text, got, report, tt.want)
		}
	}
}

// FuzzMarkdown holds that cleaning twice removes no more than once, that what is reported as clean is as it was, and
// that nothing grows but by the marks of forged names.
func FuzzMarkdown(f *testing.F) {
	for _, tt := range hostile {
		f.Add(tt.md)
	}
	for _, tt := range honest {
		f.Add(tt.md)
	}
	f.Fuzz(func(t *testing.T, md string) {
		if !utf8.ValidString(md) || len(md) > 10_000 {
			return
		}
		got, report := hidden.Markdown([]byte(md), pageURL)
		if (report.Hidden == 0) != (string(got) == md) {
			t.Fatalf("Markdown(%q) = %q with %d pieces", md, got, report.Hidden)
		}
		if grown := len("origin_") * report.Removed.Counts["front-matter"]; len(got) > len(md)+grown {
			t.Fatalf("Markdown(%q) = %q, which is longer", md, got)
		}
		if again, _ := hidden.Markdown(got, pageURL); !bytes.Equal(again, got) {
			t.Fatalf("Markdown(%q) = %q, and again %q", md, got, again)
		}
		plain, _ := hidden.Text([]byte(md))
		if again, report := hidden.Text(plain); !bytes.Equal(again, plain) || report.Hidden > 0 || len(plain) > len(md) {
			t.Fatalf("Text(%q) = %q, and again %q", md, plain, again)
		}
	})
}

func BenchmarkMarkdown(b *testing.B) {
	for name, line := range map[string]string{
		"prose": "A line of prose, as long as most: it has a [link](https://a.test/path/to/page), and *some* `code` (here).\n\n",
		"html":  "A line with <b>HTML</b> and an <img src=\"https://a.test/x.png\" alt=\"image\" align=\"left\">, which is shown.\n\n",
		"code":  "```html\n<p class=\"x\">an example</p>\n```\n\nA line of prose about it, and another one that says no more.\n\n",
		"dirty": "A line of prose. <!-- a comment --> And more, <span hidden>not seen</span>, of the usual length.\n\n",
	} {
		text := bytes.Repeat([]byte(line), 200_000/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				hidden.Markdown(text, pageURL)
			}
		})
	}
}
