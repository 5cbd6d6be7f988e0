package convert_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

func TestXHTMLIsReadAsXML(t *testing.T) {
	const head = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Self-closed</title>` +
		`<script src="a.js"/></head><body>`
	const text = `<p>The text after the script is on the page, and its <a href="/next">link</a> as well.</p></body></html>`
	for _, tt := range []struct{ name, page, contentType, want string }{
		{"script that closes itself", head + text, "application/xhtml+xml", "The text after the script"},
		{"the same under the type of HTML", head + text, "text/html", "The text after the script"},
		{"the same without a type", head + text, "", "The text after the script"},
		{"anchor that closes itself", head + `<p><b/>Not bold.</p>` + text, "application/xhtml+xml", "\nNot bold."},
		{"element in upper case", head + `<DIV/><p>After.</p>` + text, "application/xhtml+xml", "After."},
		{
			"section of characters", head + "<pre><![CDATA[if (a < b && c) {}]]></pre>" + text, "application/xhtml+xml",
			"if (a < b && c) {}",
		},
		{"void elements", head + `<p>One<br/>two</p>` + text, "application/xhtml+xml", "One  \ntwo"},
		{
			"HTML is left alone", `<html><body><p>Before <i/>slanted</p>` + text, "text/html",
			"*slanted*",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, _ := url.Parse("https://site.test/")
			doc, err := convert.Parse(t.Context(), []byte(tt.page), tt.contentType, u)
			if err != nil {
				t.Fatal(err)
			}
			res, err := doc.Convert(t.Context(), convert.Options{WholePage: true})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains("\n"+res.Markdown, tt.want) {
				t.Errorf("markdown %q lacks %q", res.Markdown, tt.want)
			}
			links, _ := convert.Links([]byte(tt.page), tt.contentType, u)
			if !slices.Equal(links, []string{"https://site.test/next"}) {
				t.Errorf("links %q, want that after the script", links)
			}
		})
	}
}

func TestAFramesetLinksToItsFrames(t *testing.T) {
	const content = `<!doctype html><html><head><title>Library 1.2</title></head>
<frameset cols="20%,80%"><frame src="list.html" name="packages" title="All packages"><frame src="about:blank">
<frame src="overview.html" name="main">
<noframes><h2>Frame alert</h2><p>Without frames, read the <a href="plain.html">plain version</a>.</p></noframes>
</frameset></html>`
	u, _ := url.Parse("https://site.test/api/index.html")
	doc, err := convert.Parse(context.Background(), []byte(content), "text/html", u)
	if err != nil {
		t.Fatal(err)
	}
	res, err := doc.Convert(context.Background(), convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `## Frame alert

Without frames, read the [plain version](https://site.test/api/plain.html).

- [All packages](https://site.test/api/list.html)
- [main](https://site.test/api/overview.html)
`
	if res.Markdown != want || res.Title != "Library 1.2" {
		t.Errorf("markdown %q, want %q; title %q", res.Markdown, want, res.Title)
	}
}
