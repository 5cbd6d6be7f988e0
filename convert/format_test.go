package convert_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/readthru/readthru/convert"
)

// document converts content of a media type.
func document(tb testing.TB, content, contentType string) *convert.Result {
	tb.Helper()
	return documentAt(tb, content, contentType, "https://site.test/dir/file")
}

func documentAt(tb testing.TB, content, contentType, address string) *convert.Result {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	doc, err := convert.Parse(tb.Context(), []byte(content), contentType, u)
	if err != nil {
		tb.Fatal(err)
	}
	res, err := doc.Convert(tb.Context(), convert.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

func TestFormats(t *testing.T) {
	row := func(n string) string { return `{"n":` + n + `,"s":"a|b"}` }
	five := "[" + strings.Join([]string{row("1"), row("2.50"), row("3e400"), row("12345678901234567890"), row("null")},
		",") + "]"
	const table = "| n | s |\n| --- | --- |\n| 1 | a\\|b |\n| 2.50 | a\\|b |\n| 3e400 | a\\|b |\n| 12345678901234567890 | a\\|b |\n| null | a\\|b |\n"
	for _, tt := range []struct{ name, contentType, address, content, want string }{
		{
			"JSON: order and numbers stay", "application/json", "", `{"b":1.0,"a":[1e400,"x"],"c":{}}`,
			"```json\n{\n  \"b\": 1.0,\n  \"a\": [\n    1e400,\n    \"x\"\n  ],\n  \"c\": {}\n}\n```\n",
		},
		{"JSON: +json is JSON", "application/problem+json; charset=utf-8", "", `[1]`, "```json\n[\n  1\n]\n```\n"},
		{"JSON: equal flat objects are a table", "application/json", "", five, table},
		{
			"JSON: a member that is such an array follows", "application/json", "", `{"total":5,"items":` + five + `}`,
			"```json\n{\n  \"total\": 5,\n  \"items\": \"(the table below)\"\n}\n```\n\n## items\n\n" + table,
		},
		{
			"JSON: four rows are none", "application/json", "", `[{"a":1},{"a":1},{"a":1},{"a":1}]`,
			"```json\n[\n" + strings.TrimSuffix(strings.Repeat("  {\n    \"a\": 1\n  },\n", 4), ",\n") + "\n]\n```\n",
		},
		{
			"JSON: other members are no table", "application/json", "", `[{"a":1},{"a":1},{"a":1},{"a":1},{"b":1}]`,
			"```json\n[\n" + strings.Repeat("  {\n    \"a\": 1\n  },\n", 4) + "  {\n    \"b\": 1\n  }\n]\n```\n",
		},
		{"JSON that is none stays", "application/json", "", "{'a':`1`}", "```json\n{'a':`1`}\n```\n"},
		{"JSON with fences in it", "application/json", "", "\"```\"", "````json\n\"```\"\n````\n"},
		{"lines of JSON", "application/x-ndjson", "", "{\"a\":1}\n{\"a\":2}\n", "```json\n{\"a\":1}\n{\"a\":2}\n```\n"},

		{
			"CSV", "text/csv", "", "a,b\r\n\"x, y\",\"two\nlines\"\r\n3\r\n",
			"| a | b |\n| --- | --- |\n| x, y | two<br>lines |\n| 3 |\n",
		},
		{"CSV: semicolons", "text/csv", "", "a;b\n1,5;2\n2,5;3\n", "| a | b |\n| --- | --- |\n| 1,5 | 2 |\n| 2,5 | 3 |\n"},
		{
			"CSV: rows longer than the first", "text/csv", "", "a,b\n1,2,3\n",
			"| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n",
		},
		{"CSV: markup is text", "text/csv", "", "a\n*b*\n<i>\n", "| a |\n| --- |\n| \\*b\\* |\n| \\<i> |\n"},
		{"CSV: stray quotes", "text/csv", "", "a,b\nx\"y,2\n", "| a | b |\n| --- | --- |\n| x\"y | 2 |\n"},
		{"TSV", "text/tab-separated-values", "", "a\tb,c\n1\t2,3\n", "| a | b,c |\n| --- | --- |\n| 1 | 2,3 |\n"},

		{
			"sitemap", "application/xml", "",
			`<?xml version="1.0"?><urlset xmlns="x"><url><loc> https://site.test/a </loc><lastmod>2026-01-02T03:04:05Z</lastmod></url><url><loc>https://site.test/b?x=1&amp;y=2</loc></url><url><loc>javascript:alert(1)</loc></url></urlset>`,
			"- <https://site.test/a>, 2026-01-02T03:04:05Z\n- <https://site.test/b?x=1&y=2>\n",
		},
		{
			"index of sitemaps", "text/xml", "",
			`<sitemapindex><sitemap><loc>https://site.test/s.xml</loc><lastmod>2026-01-02</lastmod></sitemap></sitemapindex>`,
			"- <https://site.test/s.xml>, 2026-01-02\n",
		},
		{"other XML stays", "application/xml", "", "<a>\n <b/>\n</a>", "```xml\n<a>\n <b/>\n</a>\n```\n"},
		{
			"XML in another encoding", "application/xml", "", "<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>",
			"```xml\n<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>\n```\n",
		},

		{"source by path", "text/plain", "https://site.test/main.go", "package main\n", "```go\npackage main\n```\n"},
		{"source by name", "text/plain", "https://site.test/Dockerfile", "FROM x\n", "```dockerfile\nFROM x\n```\n"},
		{"source by type", "text/css", "", "a{}\n", "```css\na{}\n```\n"},
		{"source by both: the path knows better", "text/plain", "https://site.test/x.tsx", "x", "```tsx\nx\n```\n"},
		{"markdown by path", "text/plain", "https://site.test/README.md", "# T", "# T\n"},
		{"text of a type unknown", "application/x-unknown", "", "words", "words\n"},
		{"text", "text/plain", "https://site.test/robots.txt", "User-agent: *\r\nDisallow:\n", "User-agent: *\nDisallow:\n"},

		{
			"PNG", "image/png", "https://site.test/a_b.png",
			"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x02\x80\x00\x00\x01\xe0\x08",
			"a_b.png: PNG image, 640 × 480 pixels, 25 bytes.\n",
		},
		{
			"GIF whose type says nothing", "application/octet-stream", "", "GIF89a\x0a\x00\x14\x00\x00\x00\x00",
			"file: GIF image, 10 × 20 pixels, 13 bytes.\n",
		},
		{
			"JPEG", "image/jpeg", "", "\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xc0\x00\x11\x08\x00\x64\x00\xc8\x03",
			"file: JPEG image, 200 × 100 pixels, 18 bytes.\n",
		},
		{
			"WebP", "image/webp", "", "RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x1f\x00\x00\x0f\x00\x00",
			"file: WebP image, 32 × 16 pixels, 30 bytes.\n",
		},
		{
			"SVG says what it shows", "image/svg+xml", "",
			`<svg width="10" height="20px"><title>A *map*</title><desc>Of a river</desc><style>x{}</style><text>Sea</text></svg>`, "file: SVG image, 10 × 20 pixels, 115 bytes.\n\nA \\*map\\*\n\nOf a river\n\nSea\n",
		},
		{"archive", "application/zip", "", "PK\x03\x04\x00\x00", "file: Zip archive, 6 bytes.\n"},
		{
			"bytes of a type unknown", "application/x-`thing`", "", "\x00\x01",
			"file: File of type application/x-thing, 2 bytes.\n",
		},
		{"bytes", "", "", "\x00\x01", "file: Binary file of unknown type, 2 bytes.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			address := tt.address
			if address == "" {
				address = "https://site.test/dir/file"
			}
			if got := documentAt(t, tt.content, tt.contentType, address).Markdown; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestFeeds(t *testing.T) {
	const html = `&lt;p&gt;It &lt;b&gt;is&lt;/b&gt; &lt;a href="x"&gt;wet&lt;/a&gt;.&lt;div hidden&gt;a secret that no reader sees here &lt;!-- open`
	const items = "# News\n\n## [One & two](https://site.test/1)\n\n2026-01-02T03:04:05Z · Ann\n\nIt **is** [wet](https://site.test/x).\n\n## [Three](https://site.test/3)\n\nPlain & simple\n"
	for _, tt := range []struct{ name, contentType, content string }{
		{
			"RSS", "application/rss+xml",
			`<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title><link>https://site.test/</link>
			<item><title>One &amp;amp; two</title><link>https://site.test/1</link><pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate><dc:creator>Ann</dc:creator><description>` + html + `</description></item>
			<item><title>Three</title><link>https://site.test/3</link><description>Plain &amp;amp; simple</description></item></channel></rss>`,
		},
		{"Atom", "text/xml", `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><link href="https://site.test/"/>
			<entry><title type="html">One &amp;amp; two</title><link href="https://site.test/1"/><published>2026-01-02T03:04:05Z</published><author><name>Ann</name></author><content type="html">` + html + `</content></entry>
			<entry><title>Three</title><link href="https://site.test/3"/><summary>Plain &amp; simple</summary></entry></feed>`},
		{
			"JSON Feed", "application/json",
			`{"version":"https://jsonfeed.org/version/1.1","title":"News","home_page_url":"https://site.test/","items":[
			{"id":"1","title":"One & two","url":"https://site.test/1","date_published":"2026-01-02T03:04:05Z","authors":[{"name":"Ann"}],"content_html":"<p>It <b>is</b> <a href='x'>wet</a>.<div hidden>a secret that no reader sees here <!-- open"},
			{"id":"3","title":"Three","url":"https://site.test/3","content_text":"Plain & simple"}]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := document(t, tt.content, tt.contentType)
			if res.Markdown != items || res.Title != "News" {
				t.Errorf("title %q, got %q\nwant %q", res.Title, res.Markdown, items)
			}
			if !slices.Contains(res.Warnings, "hidden-text-removed=1") {
				t.Errorf("warnings %q", res.Warnings)
			}
		})
	}
	const episode = `<rss><channel><title>Talks</title><item><title>One</title><link>https://site.test/1</link>
		<category>Go</category><category>Web</category><description>Said.</description>
		<enclosure url="https://site.test/one.mp3" type="audio/mpeg" length="9"/></item></channel></rss>`
	const want = "# Talks\n\n## [One](https://site.test/1)\n\nGo, Web\n\nSaid.\n\n[one.mp3](https://site.test/one.mp3)\n"
	if got := document(t, episode, "application/rss+xml").Markdown; got != want {
		t.Errorf("a podcast gives %q\nwant %q", got, want)
	}
	if got := document(t, "<rss><channel><title>cut", "application/rss+xml").Markdown; !strings.HasPrefix(got,
		"```xml\n") {
		t.Errorf("broken feed gives %q", got)
	}
}

func TestEntitiesAreNeverExpanded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY x SYSTEM "file:///etc/passwd">`)
	for i := range 20 {
		b.WriteString("<!ENTITY l" + string(rune('a'+i)) + ` "` + many("&l"+string(rune('a'+i-1))+";", 10) + `">`)
	}
	for _, body := range []string{
		b.String() + "]><lolz>&lt; &x;</lolz>",
		b.String() + "]><rss version='2.0'><channel><title>&lt; &x;</title><item><title>&lt;</title></item></channel></rss>",
		b.String() + "]><urlset><url><loc>https://site.test/&x;</loc></url></urlset>",
		b.String() + "]><svg><title>&lt; &x;</title></svg>",
	} {
		res := document(t, body, "application/xml")
		if len(res.Markdown) > 2*len(body) || strings.Contains(res.Markdown, "root:") {
			t.Errorf("%d bytes from %d: %.200q", len(res.Markdown), len(body), res.Markdown)
		}
	}
}

// formatBombs are bodies that make naive converters hang, overflow or swell.
func formatBombs() map[string][2]string {
	return map[string][2]string{
		"deep JSON":                {"application/json", many("[", 5e6)},
		"deep JSON that is closed": {"application/json", many("[", 9000) + many("1,", 1e6) + "1" + many("]", 9000)},
		"many rows":                {"application/json", "[" + strings.TrimSuffix(many(`{"a":1},`, 3e5), ",") + "]"},
		"deep XML":                 {"application/rss+xml", "<rss><channel><item>" + many("<a:b>", 1e6)},
		"deep XML in disguise": {
			"application/rss+xml",
			`<rss xmlns:a="https://a.test/"><channel><item>` + many(`<a:b c="/>">`, 7e5),
		},
		"deep Atom in disguise": {
			"application/atom+xml",
			`<feed xmlns="http://www.w3.org/2005/Atom"><entry><content type="xhtml">` + many(`<b c="/>">`, 7e5),
		},
		"one wide row of CSV": {"text/csv", many(",", 9e6)},
		"wide CSV":            {"text/csv", many(",", 1e6) + many("\n1", 1e6)},
		"one quote":           {"text/csv", "a,b\n\"" + many("x\n", 1e6)},
		"items": {
			"application/rss+xml",
			"<rss version='2.0'><channel>" +
				many("<item><title>x</title><description>&lt;b&gt;&lt;table&gt;</description></item>", 5000),
		},
		"addresses":          {"application/xml", "<urlset>" + many("<url><loc>https://site.test/x</loc></url>", 1e5)},
		"backticks":          {"text/css", many("`", 1e6)},
		"words in a picture": {"image/svg+xml", "<svg>" + many("<text>x</text>", 3e5)},
		"zip":                {"application/zip", "PK\x03\x04" + many("word/document", 1e5)},
		"PDF":                {"application/pdf", pdfFile(many("BT /F1 10 Tf 50 700 Td (a b) Tj ET ", 5e4))},
		"PDF of rows": {
			"application/pdf",
			pdfFile(many("0 -.01 TD (a) Tj ", 10) + "BT /F1 2 Tf 50 790 Td " + many("0 -.05 Td (ab) Tj ", 15e3) + "ET"),
		},
		"PDF of columns": {
			"application/pdf",
			pdfFile("BT /F1 2 Tf 1 0 0 1 0 790 Tm " + many("[(a) -9000 (b) -9000 (c) -9000 (d)] TJ 0 -3 Td ", 250) + "ET"),
		},
	}
}

func TestHostileFormatsEndInTime(t *testing.T) {
	for name, bomb := range formatBombs() {
		t.Run(name, func(t *testing.T) {
			var res *convert.Result
			checkCost(t, bomb[1], func() { res = document(t, bomb[1], bomb[0]) })
			if len(res.Markdown) > 8*len(bomb[1])+1<<20 {
				t.Errorf("%d bytes from %d", len(res.Markdown), len(bomb[1]))
			}
		})
	}
}

// FuzzFormats holds what must be true of every body: no panic, text in UTF-8, output in proportion.
func FuzzFormats(f *testing.F) {
	types := []string{
		"", "application/json", "text/csv", "application/xml", "application/rss+xml", "application/pdf",
		"image/svg+xml", "text/plain", "application/zip",
	}
	f.Add([]byte(pdfFile(lines(50, 700, "text"))), uint8(5))
	f.Add([]byte(`[{"a":1,"b":"x"},{"a":1,"b":"x"},{"a":1,"b":"x"},{"a":1,"b":"x"},{"a":1,"b":"x"}]`), uint8(1))
	f.Add([]byte("<rss version='2.0'><channel><item><title>x</title></item></channel></rss>"), uint8(4))
	f.Add([]byte("<urlset><url><loc>https://a.test/</loc></url></urlset>"), uint8(3))
	f.Add([]byte("a;b\n\"c\n\";d"), uint8(2))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x02\x80\x00\x00\x01\xe0\x08"), uint8(0))
	f.Add(docxFile(`<w:p><w:r><w:t>x</w:t></w:r></w:p>`, nil), uint8(8))
	for _, bomb := range formatBombs() {
		f.Add([]byte(bomb[1][:min(len(bomb[1]), 500)]), uint8(slices.Index(types, bomb[0])))
	}
	f.Fuzz(func(t *testing.T, content []byte, kind uint8) {
		res := document(t, string(content), types[int(kind)%len(types)])
		if !utf8.ValidString(res.Markdown) {
			t.Errorf("not UTF-8: %q", res.Markdown)
		}
		if len(res.Markdown) > 16*len(content)+1<<20 {
			t.Errorf("%d bytes from %d", len(res.Markdown), len(content))
		}
	})
}

func BenchmarkFormats(b *testing.B) {
	item := `{"name":"A name","value":12.5,"text":"Some words of text in it"},`
	for _, f := range []struct{ name, contentType, content string }{
		{"json", "application/json", `{"a":{"list":[` + many(item, 500) + `1]}}`},
		{"json-table", "application/json", "[" + strings.TrimSuffix(many(item, 500), ",") + "]"},
		{"csv", "text/csv", "name,value,text\n" + many("A name,12.5,Some words of text in it\n", 1000)},
		{"sitemap", "application/xml", "<urlset>" +
			many("<url><loc>https://site.test/page</loc><lastmod>2026-01-02</lastmod></url>", 500) + "</urlset>"},
		{"rss", "application/rss+xml", "<rss version='2.0'><channel><title>T</title>" +
			many("<item><title>One</title><link>https://site.test/1</link><description>&lt;p&gt;Some &lt;b&gt;text&lt;/b&gt;.</description></item>", 50) + "</channel></rss>"},
		{"pdf", "application/pdf", pdfFile(slices.Repeat([]string{lines(50, 750,
			slices.Repeat([]string{"A line of text as pages have it, with some words and a few more of them."}, 45)...)},
			10)...)},
		{"docx", "", string(docxFile(many(`<w:p><w:r><w:t>A paragraph of some words, </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>bold</w:t></w:r></w:p>`, 300), nil))},
		{"source", "text/css", many("a { color: red }\n", 500)},
		{"png", "image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x02\x80\x00\x00\x01\xe0\x08" + many("\x00", 20000)},
	} {
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(int64(len(f.content)))
			b.ReportAllocs()
			for b.Loop() {
				document(b, f.content, f.contentType)
			}
		})
	}
}

func TestTextDropsPDFPageMarks(t *testing.T) {
	if got := convert.Text("One.\n\n<!-- page 2 -->\n\nTwo.\n"); got != "One.\n\nTwo.\n" {
		t.Errorf("got %q", got)
	}
}
