package convert_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// What a page says of itself in its head, and by attributes, is no text of the page: it reaches an agent as metadata,
// as what stands for a picture that is seen, or not at all.
func TestWordsBesideAPageAreNotItsText(t *testing.T) {
	meta := func(attributes string) string { return `<meta ` + attributes + ` content="` + order + `">` }
	structured := func(form string) string {
		quoted, _ := json.Marshal(order) // a string always has a form
		return `<script type="application/ld+json">` + strings.ReplaceAll(form, "%s", string(quoted)) + `</script>`
	}
	image := func(attributes string) string {
		return `<p><img src="a.png" ` + attributes + ` alt="` + order + `"></p>`
	}
	const large = `width="400" height="300"`
	for _, tt := range []struct {
		name, head, body string
		as               []string // metadata
		shown            bool     // in the text
	}{
		{"description", meta(`name="description"`), "", []string{"description"}, false},
		{"description of a card", meta(`property="og:description"`), "", []string{"description", "og:description"}, false},
		{"description of a tweet", meta(`name="twitter:description"`), "", []string{"twitter:description"}, false},
		{"description as a property", meta(`itemprop="description"`), "", []string{"description"}, false},
		{"description by Dublin Core", meta(`name="dc.description"`), "", nil, false},
		{"keywords", meta(`name="keywords"`), "", []string{"keywords"}, false},
		{"author", meta(`name="author"`), "", []string{"author"}, false},
		{"title of a card", meta(`property="og:title"`), "", []string{"og:title"}, false},
		{"name of the site", meta(`property="og:site_name"`), "", []string{"og:site_name"}, false},
		{"picture of a card", meta(`property="og:image:alt"`), "", nil, false},
		{"tag", meta(`property="article:tag"`), "", []string{"article:tag"}, false},
		{"abstract", meta(`name="abstract"`), "", nil, false},
		{"generator", meta(`name="generator"`), "", nil, false},
		{"unknown name", meta(`name="x-assistant"`), "", nil, false},
		{"field of HTTP", meta(`http-equiv="x-note"`), "", nil, false},
		{"title of an alternate", `<link rel="alternate" href="/x" title="` + order + `">`, "", nil, false},
		{"structured description", structured(`{"@type":"Article","description":%s}`), "", nil, false},
		{"structured headline", structured(`{"@type":"Article","headline":%s}`), "", nil, false},
		{"structured body, where the page has one", structured(`{"@type":"Article","articleBody":%s}`), "", nil, false},
		{"structured publisher", structured(`{"@type":"Article","publisher":{"name":%s}}`), "", nil, false},
		{"structured keywords", structured(`{"@type":"Article","keywords":%s}`), "", nil, false},
		{"structured comment", structured(`{"@type":"Article","comment":[{"text":%s}]}`), "", nil, false},
		{"answer", structured(`{"@type":"FAQPage","mainEntity":[{"acceptedAnswer":{"text":%s}}]}`), "", nil, false},
		{"review", structured(`{"@type":"Review","reviewBody":%s}`), "", nil, false},
		{"step", structured(`{"@type":"HowTo","step":[{"@type":"HowToStep","text":%s}]}`), "", nil, false},
		{"crumb", structured(`{"@type":"BreadcrumbList","itemListElement":[{"name":%s}]}`), "", nil, false},
		{"offer", structured(`{"@type":"Product","offers":{"description":%s}}`), "", nil, false},
		{"structured key", structured(`{"@type":"Article",%s:"x"}`), "", nil, false},
		{"structured data of no type", structured(`{"x":%s}`), "", nil, false},
		{"other data", `<script type="application/json">["` + order + `"]</script>`, "", nil, false},

		{"picture", "", image(large), nil, true},
		{"picture of a pixel", "", image(`width="1" height="1"`), nil, false},
		{"picture of no size", "", image(`style="width:0;height:0"`), nil, false},
		{"hidden picture", "", image(large + " hidden"), nil, false},
		{"picture that is not displayed", "", image(large + ` style="display:none"`), nil, false},
		{"transparent picture", "", image(large + ` style="opacity:0"`), nil, false},
		{"picture moved away", "", image(large + ` style="position:absolute;left:-9999px"`), nil, false},
		{"picture without a source", "", `<p><img alt="` + order + `"></p>`, nil, false},
		{"picture of a spacer", "", `<p><img src="spacer.gif" alt="` + order + `"></p>`, nil, false},
		{"area of a map", "", `<img src="a.png" usemap="#m" alt="x"><map name="m"><area href="/x" alt="` + order +
			`"></map>`, nil, true},
		{"button of a picture", "", `<form><input type="image" src="a.png" alt="` + order + `"></form>`, nil, false},
		{"title of a picture", "", `<p><img src="a.png" ` + large + ` alt="x" title="` + order + `"></p>`, nil, false},
		{"title of a link", "", `<p><a href="/x" title="` + order + `">lakes</a></p>`, nil, false},
		{"title of a paragraph", "", `<p title="` + order + `">lakes</p>`, nil, false},
		{"title of words", "", `<p><span title="` + order + `">lakes</span></p>`, nil, false},
		{"title of an abbreviation", "", `<p><abbr title="` + order + `">WWW</abbr></p>`, nil, false},
		{"title of a cell", "", `<table><tr><th title="` + order + `">a<th>b<tr><td>1<td>2</table>`, nil, false},
		{"title of a button", "", `<button title="` + order + `">x</button>`, nil, false},
		{"title of a frame, which is a link", "", `<iframe src="https://www.youtube.com/embed/abc12345678" title="` + order +
			`"></iframe>`, nil, true},
		{"title of a film, which is a link", "", `<video src="a.mp4" title="` + order + `"></video>`, nil, true},
		{"title of a drawing", "", `<svg role="img"><title>` + order + `</title></svg>`, nil, false},
		{"label", "", `<p aria-label="` + order + `">lakes</p>`, nil, false},
		{"label of a link without a text", "", `<p>x<a href="/x" aria-label="` + order + `"></a></p>`, nil, false},
		{"description for readers aloud", "", `<p aria-description="` + order + `">lakes</p>`, nil, false},
		{"hint of a field", "", `<form><input placeholder="` + order + `"></form>`, nil, false},
		{"hidden value", "", `<form><input type="hidden" value="` + order + `"></form>`, nil, false},
		{"summary of a table", "", `<table summary="` + order + `"><tr><th>a<th>b<tr><td>1<td>2</table>`, nil, false},
		{"source of a quotation", "", `<blockquote cite="` + order + `">x</blockquote>`, nil, false},
		{"data of a script", "", `<p data-prompt="` + order + `">lakes</p>`, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			words := `<p>` + strings.Repeat(seenText+" ", 30) + `</p>`
			res := convertPage(t, `<html><head><title>Of rivers</title>`+tt.head+`</head><body><h1>Of rivers</h1>`+words+tt.body+
				words+`</body></html>`, convert.Options{WholePage: true})
			var as []string
			for name, value := range res.Meta {
				if strings.Contains(value, order) {
					as = append(as, name)
				}
			}
			if slices.Sort(as); !slices.Equal(as, tt.as) || strings.Contains(res.Markdown, order) != tt.shown ||
				strings.Contains(res.Title, order) {
				t.Errorf("as %q, title %q, %q; want it as %q, in the text: %t", as, res.Title, res.Markdown, tt.as, tt.shown)
			}
		})
	}
}
