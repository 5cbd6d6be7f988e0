package convert_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/readthru/readthru/convert"
)

// unseenText is text that no reader sees. Told says that it carries words, or may: that is counted.
type unseenText struct {
	name, text string
	told       bool
}

func unseenTexts() []unseenText {
	selectors := "" // a byte as a selector
	for _, c := range []byte(order) {
		selectors += string(0xe0100 + rune(c) - 16)
	}
	bits := func(zero, one rune) string {
		var b strings.Builder
		for _, c := range []byte(order) {
			for i := range 8 {
				if c>>i&1 == 0 {
					b.WriteRune(zero)
				} else {
					b.WriteRune(one)
				}
			}
		}
		return b.String()
	}
	return []unseenText{
		{"tags", smuggle(order), true},
		{"tags with an end", "\U000e0001" + smuggle(order) + "\U000e007f", true},
		{"tags after a flag", "\U0001f3f4" + smuggle(order), true},
		{"selectors that spell", selectors, true},
		{"selectors after an emoji", "\u263a" + selectors, true},
		{"sixteen selectors as digits", bits(0xfe00, 0xfe01), true},
		{"right-to-left override", "\u202e" + "drow" + "\u202c", true},
		{"left-to-right override", "\u202d" + "word" + "\u202c", true},
		{"widths of zero as bits", bits(0x200b, 0x200c), true},
		{"joiners as bits", bits(0x2060, 0x200d), true},
		{"operators as bits", bits(0x2062, 0x2064), true},
		{"embeddings", "\u202aword\u202c", false},
		{"isolates", "\u2066word\u2069", false},
		{"marks of direction", "\u200eword\u200f", false},
		{"a space of no width", "wo\u200brd", false},
		{"a byte order mark", "wo\ufeffrd", false},
		{"soft hyphens", "wo\u00adrd", false},
		{"a joiner of graphemes", "wo\u034frd", false},
		{"an Arabic mark", "wo\u061crd", false},
		{"fillers of Hangul", "wo\u115f\u1160\u3164\uffa0rd", false},
		{"vowels of Khmer", "wo\u17b4\u17b5rd", false},
		{"selectors of Mongolian", "wo\u180b\u180erd", false},
		{"forms that are out of use", "wo\u206a\u206frd", false},
		{"annotations between lines", "wo\ufff9rd\ufffb", false},
		{"beams of music", "wo\U0001d173rd\U0001d17a", false},
		{"a terminal's hidden text", "wo\x1b[8mrd\x1b[0m", false},
		{"a terminal's title", "wo\x1b]0;" + "title\ard", false},
		{"control characters", "wo\x01\x08rd", false},
		{"upper control characters", "wo\u0085\u009brd", false},
	}
}

// carriersOfNames make a page, with its media type and address, of which a part that is not the text of its body has a
// text.
var carriersOfNames = map[string]func(text string) (content, contentType, address string){
	"title":             headOf(`<title>A title %s here</title>`),
	"description":       headOf(`<meta name="description" content="Of %s rivers.">`),
	"og:title":          headOf(`<meta property="og:title" content="A title %s here">`),
	"og:description":    headOf(`<meta property="og:description" content="Of %s rivers.">`),
	"og:site_name":      headOf(`<meta property="og:site_name" content="Site %s of rivers">`),
	"twitter:title":     headOf(`<meta name="twitter:title" content="A title %s here">`),
	"keywords":          headOf(`<meta name="keywords" content="rivers, %s">`),
	"author":            headOf(`<meta name="author" content="Ann %s Lee">`),
	"article:section":   headOf(`<meta property="article:section" content="Rivers %s">`),
	"language":          headOf(`</head></html><html lang="en%s"><head>`),
	"canonical":         headOf(`<link rel="canonical" href="https://site.test/rivers/%s">`),
	"address of base":   headOf(`<base href="https://site.test/%s/">`),
	"image of the page": headOf(`<meta property="og:image" content="https://site.test/%s.png">`),
	"JSON-LD author":    structured(`{"@type":"Article","author":{"@type":"Person","name":%s}}`),
	"JSON-LD headline":  structured(`{"@type":"Article","headline":%s,"description":"x"}`),
	"JSON-LD article":   structured(`{"@type":"Article","articleBody":%s}`),
	"heading":           bodyOf(`<h1>Rivers %s here</h1>`),
	"alternative text":  bodyOf(`<p><img src="a.png" alt="A river %s here" width="400" height="300"></p>`),
	"title of an image": bodyOf(`<p>` +
		`<img src="a.png" alt="River" title="A river %s here" width="400" height="300"></p>`),
	"title of a link":   bodyOf(`<p>Of <a href="https://b.test/" title="Lakes %s here">lakes</a> too.</p>`),
	"text of a link":    bodyOf(`<p>Of <a href="https://b.test/">lakes %s here</a> too.</p>`),
	"address of a link": bodyOf(`<p>Of <a href="https://b.test/%s/x">lakes</a> too.</p>`),
	"address of an image": bodyOf(`<p>` +
		`<img src="https://b.test/%s.png" alt="A river here" width="400" height="300"></p>`),
	"anchor": bodyOf(`<h2 id="rivers%s">More of rivers</h2><p>Text ` +
		`<a href="#rivers%s">there</a>.</p>`),
	"abbreviation": bodyOf(`<p>The <abbr title="World %s Wide Web">WWW</abbr> has rivers.</p>`),
	"label of a frame": bodyOf(`<iframe title="Film %s of rivers" ` +
		`src="https://www.youtube.com/embed/abc12345678"></iframe>`),
	"caption": bodyOf(`<figure><img src="a.png" alt="x" width="400" height="300">` +
		`<figcaption>A %s river</figcaption></figure>`),
	"caption of a table": bodyOf(`<table><caption>Rivers %s here</caption><tr><th>a<th>b<tr><td>1<td>2</table>`),
	"language of code":   bodyOf(`<pre><code class="language-go%s">x := 1</code></pre>`),
	"code":               bodyOf(`<pre><code>x := "%s"</code></pre>`),
	"label of a field":   bodyOf(`<p>Rivers <span aria-label="%s">1</span></p>`),
	"label of a film": bodyOf(`<video src="a.mp4" title="Film %s here">` +
		`<track label="Text %s" src="b.vtt"></video>`),
	"area of a map": bodyOf(`<img usemap="#m" src="a.png" alt="map"><map name="m">` +
		`<area href="https://b.test/" alt="Lake %s here"></map>`),
	"name of a file": func(text string) (string, string, string) {
		return "one,two\n1,2\n", "text/csv", "https://site.test/rivers" + url.PathEscape(text) + ".csv"
	},
	"title of a workbook": func(text string) (string, string, string) {
		return string(zipOf("xl/workbook.xml", `<workbook><sheets><sheet name="One" r:id="r1"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels", "<Relationships>"+relation("r1", "worksheet", "1.xml")+"</Relationships>",
			"xl/1.xml", `<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData></worksheet>`,
			"docProps/core.xml", `<p><dc:title>Of `+xmlText(text)+` rivers</dc:title></p>`)), "", "https://site.test/a.xlsx"
	},
	"name of a sheet": func(text string) (string, string, string) {
		return string(zipOf("xl/workbook.xml", `<workbook><sheets><sheet name="One `+xmlText(text)+
				` here" r:id="r1"/></sheets></workbook>`,
				"xl/_rels/workbook.xml.rels", "<Relationships>"+relation("r1", "worksheet", "1.xml")+"</Relationships>",
				"xl/1.xml", `<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData></worksheet>`)), "",
			"https://site.test/a.xlsx"
	},
	"title of a feed": func(text string) (string, string, string) {
		return `<rss version="2.0"><channel><title>News ` + xmlText(text) + ` here</title><item><title>One</title>` +
			`<description>` + seenText + `</description></item></channel></rss>`, "application/rss+xml", "https://site.test/a"
	},
	"title of an entry": func(text string) (string, string, string) {
		return `<rss version="2.0"><channel><title>News</title><item><title>One ` + xmlText(text) + ` here</title>` +
			`<description>` + seenText + `</description></item></channel></rss>`, "application/rss+xml", "https://site.test/a"
	},
	"title of a drawing": func(text string) (string, string, string) {
		return `<svg xmlns="http://www.w3.org/2000/svg"><title>A ` + xmlText(text) + ` river</title><text x="1" y="9">` +
			seenText + `</text></svg>`, "image/svg+xml", "https://site.test/a.svg"
	},
	"escapes of JSON-LD": func(text string) (string, string, string) {
		var escaped strings.Builder
		for _, c := range utf16.Encode([]rune(text)) {
			fmt.Fprintf(&escaped, `\u%04x`, c)
		}
		return `<html><head><script type="application/ld+json">{"author":{"name":"Ann ` + escaped.String() +
			` Lee"}}</script></head><body><p>` + seenText + `</p></body></html>`, "text/html", "https://site.test/page"
	},
}

// xmlText returns a text as XML has it, without the characters that XML cannot have.
func xmlText(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, text))
}

func headOf(markup string) func(string) (string, string, string) {
	return func(text string) (string, string, string) {
		return `<html><head>` + strings.ReplaceAll(markup, "%s", html.EscapeString(text)) + `</head><body><p>` + seenText +
			`</p></body></html>`, "text/html; charset=utf-8", "https://site.test/page"
	}
}

func bodyOf(markup string) func(string) (string, string, string) {
	return func(text string) (string, string, string) {
		return `<html><body><p>` + seenText + `</p>` + strings.ReplaceAll(markup, "%s", html.EscapeString(text)) +
			`</body></html>`, "text/html; charset=utf-8", "https://site.test/page"
	}
}

func structured(form string) func(string) (string, string, string) {
	return func(text string) (string, string, string) {
		quoted, _ := json.Marshal("A river " + text + " here") // a string always has a form
		return `<html><head><script type="application/ld+json">` + fmt.Sprintf(form, quoted) + `</script></head><body><p>` +
			seenText + `</p></body></html>`, "text/html; charset=utf-8", "https://site.test/page"
	}
}

// What nobody sees reaches no agent, wherever a page has it, and what carries words is counted.
func TestUnseenTextReachesNoAgentByNames(t *testing.T) {
	for carrier, page := range carriersOfNames {
		for _, unseen := range unseenTexts() {
			t.Run(carrier+"/"+unseen.name, func(t *testing.T) {
				content, contentType, at := page(unseen.text)
				u, err := url.Parse(at)
				if err != nil {
					t.Fatal(err)
				}
				doc, err := convert.Parse(t.Context(), []byte(content), contentType, u)
				if err != nil {
					t.Fatal(err)
				}
				res, err := doc.Convert(t.Context(), convert.Options{})
				if err != nil {
					t.Fatal(err)
				}
				told := map[string]string{"markdown": res.Markdown, "title": res.Title}
				for name, value := range res.Meta {
					told["meta "+name] = value
				}
				for what, text := range told {
					plain, _ := url.PathUnescape(text)
					for _, text := range []string{text, plain} {
						if text != strings.Map(seenRune, text) {
							t.Errorf("%s: %q", what, text)
						}
					}
				}
				counted := strings.Contains(strings.Join(res.Warnings, " "), convert.WarnHidden)
				if unseen.told && !counted {
					t.Errorf("it is not counted: %v", res.Warnings)
				}
			})
		}
	}
}

// seenRune drops what shows nothing by itself. It is no part of what is tested.
func seenRune(r rune) rune {
	switch {
	case r == utf8.RuneError, r < ' ' && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0:
		return -1
	case slices.Contains([]rune{0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xfeff, 0xffa0}, r),
		r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return -1
	}
	return r
}
