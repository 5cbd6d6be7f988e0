package convert_test

import (
	"archive/zip"
	"bytes"
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/convert"
)

// zipOf returns an archive of parts, each a name and its content, in this order.
func zipOf(parts ...string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		h := &zip.FileHeader{Name: parts[i], Method: zip.Deflate}
		if parts[i] == "mimetype" {
			h.Method = zip.Store
		}
		if w, err := z.CreateHeader(h); err == nil {
			_, _ = w.Write([]byte(parts[i+1])) // a buffer takes everything
		}
	}
	_ = z.Close()
	return out.Bytes()
}

const coreProperties = `<cp:coreProperties><dc:title>Of rivers</dc:title><dc:creator>Ann</dc:creator></cp:coreProperties>`

func relation(id, kind, target string) string {
	return `<Relationship Id="` + id + `" Type="http://x/` + kind + `" Target="` + target + `"/>`
}

func workbook(sheets ...string) []byte {
	parts := []string{
		"xl/workbook.xml", `<workbook><sheets><sheet name="Goods &amp; more" r:id="r1"/>` +
			`<sheet name="Secret" state="hidden" r:id="r2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", "<Relationships>" + relation("r1", "worksheet", "worksheets/sheet1.xml") +
			relation("r2", "worksheet", "worksheets/sheet2.xml") + "</Relationships>",
		"xl/sharedStrings.xml", `<sst><si><t>Name</t></si><si><r><t>La</t></r><r><t>mp</t></r><rPh><t>ranpu</t></rPh></si></sst>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd hh:mm"/>` +
			`<numFmt numFmtId="165" formatCode="0.0%;;&quot;none&quot;;"/></numFmts>` +
			`<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="9"/><xf numFmtId="165"/>` +
			`</cellXfs></styleSheet>`,
		"docProps/core.xml", coreProperties,
	}
	for i, s := range sheets {
		parts = append(parts, "xl/worksheets/sheet"+string(rune('1'+i))+".xml", `<worksheet>`+s+`</worksheet>`)
	}
	return zipOf(parts...)
}

func presentation(slides ...string) []byte {
	ids, rels := "", ""
	parts := []string{"docProps/core.xml", coreProperties}
	for i, s := range slides {
		n := string(rune('1' + i))
		ids += `<p:sldId id="25` + n + `" r:id="r` + n + `"/>`
		rels += relation("r"+n, "slide", "slides/slide"+n+".xml")
		parts = append(parts, "ppt/slides/slide"+n+".xml", s, "ppt/slides/_rels/slide"+n+".xml.rels",
			"<Relationships>"+relation("n", "notesSlide", "../notesSlides/n.xml")+
				`<Relationship Id="l" Type="http://x/hyperlink" Target="https://a.test/x" TargetMode="External"/></Relationships>`)
	}
	return zipOf(append(parts, "ppt/presentation.xml", "<p:presentation><p:sldIdLst>"+ids+"</p:sldIdLst></p:presentation>",
		"ppt/_rels/presentation.xml.rels", "<Relationships>"+rels+"</Relationships>")...)
}

func openDocument(kind, styles, body string) []byte {
	return zipOf("mimetype", "application/vnd.oasis.opendocument."+kind, "content.xml",
		`<office:document-content><office:automatic-styles>`+styles+`</office:automatic-styles><office:body><office:`+kind+`>`+
			body+`</office:`+kind+`></office:body></office:document-content>`,
		"meta.xml", `<office:meta><dc:title>Of rivers</dc:title><dc:creator>Ann</dc:creator></office:meta>`)
}

func book(chapters ...string) []byte {
	items, spine := "", ""
	parts := []string{
		"mimetype", "application/epub+zip", "META-INF/container.xml",
		`<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>`,
	}
	for i, c := range chapters {
		n := string(rune('1' + i))
		items += `<item id="c` + n + `" href="c%20` + n + `.xhtml"/>`
		spine += `<itemref idref="c` + n + `"/>`
		parts = append(parts, "OEBPS/c "+n+".xhtml", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>`+
			`<title>T</title><script/></head><body>`+c+`</body></html>`)
	}
	return zipOf(append(parts, "OEBPS/content.opf", `<package><metadata><dc:title>Of rivers</dc:title><dc:creator>Ann`+
		`</dc:creator></metadata><manifest><item id="nav" properties="nav" href="nav.xhtml"/>`+items+
		`</manifest><spine><itemref idref="nav"/>`+spine+`</spine></package>`, "OEBPS/nav.xhtml", "<html><body>Contents</body></html>")...)
}

func TestDocumentsInArchives(t *testing.T) {
	row := func(cells string) string { return "<row>" + cells + "</row>" }
	shape := func(place, paragraphs string) string {
		return `<p:sp><p:nvPr><p:ph type="` + place + `"/></p:nvPr><p:txBody>` + paragraphs + `</p:txBody></p:sp>`
	}
	line := func(properties, text string) string {
		return `<a:p>` + properties + `<a:r><a:rPr/><a:t>` + text + `</a:t></a:r></a:p>`
	}
	for _, tt := range []struct {
		name    string
		content []byte
		want    string
	}{
		{
			"workbook", workbook(`<cols><col min="3" max="3" hidden="1"/></cols><sheetData>`+
				`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>Price</t></is></c><c r="C1"><v>7</v></c><c r="D1"><v>1</v></c></row>`+
				`<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><v>12.50</v></c><c r="D2" s="1"><v>45352</v></c></row>`+
				`<row r="3" hidden="1"><c r="A3"><v>3</v></c></row>`+
				`<row r="4"><c r="B4"><v>0.10000000000000001</v></c><c r="D4" s="2"><v>45352.75</v></c></row>`+
				`<row r="9"><c r="A9" t="b"><v>1</v></c><c r="B9" t="str"><v>a|b</v></c></row>`+
				`<row r="10"><c r="A10" s="3"><v>7.0000000000000007E-2</v></c><c r="B10" s="4"><v>-0.256</v></c></row>`+
				`</sheetData>`+
				`<hyperlinks><hyperlink ref="A2" r:id="none"/></hyperlinks>`, row(`<c><v>5</v></c>`)),
			"## Goods & more\n\n| Name | Price | 1 |\n| --- | --- | --- |\n| Lamp | 12.50 | 2024-03-01 |\n| | 0.1 | 2024-03-01 18:00:00 |\n\n" +
				"| TRUE | a\\|b |\n| --- | --- |\n| 7% | -25.6% |\n",
		},
		{
			"presentation", presentation(`<p:sld>`+shape("title", line("", "Rivers &amp; lakes"))+shape("body",
				line("", "one")+line(`<a:pPr lvl="1"/>`, "in one")+line("", "two")+line(`<a:pPr><a:buNone/></a:pPr>`, "text"))+
				shape("ftr", line("", "footer"))+`<p:pic><p:cNvPr descr="A river"/></p:pic>`+
				`<a:tbl><a:tr><a:tc><a:txBody>`+line("", "a")+`</a:txBody></a:tc><a:tc><a:txBody>`+line("", "b")+`</a:txBody></a:tc></a:tr>`+
				`<a:tr><a:tc gridSpan="2"><a:txBody>`+line("", "c")+`</a:txBody></a:tc><a:tc hMerge="1"/></a:tr></a:tbl>`+
				`<p:sp><a:p><a:r><a:rPr><a:hlinkClick r:id="l"/></a:rPr><a:t>a link</a:t></a:r></a:p></p:sp></p:sld>`,
				`<p:sld show="0">`+shape("title", line("", "Hidden"))+`</p:sld>`),
			"## Rivers & lakes\n\n- one\n  - in one\n- two\n\ntext\n\n*Image: A river*\n\n| a | b |\n| --- | --- |\n| c | c |\n\n" +
				"[a link](https://a.test/x)\n",
		},
		{
			"text", openDocument("text",
				`<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style>`+
					`<style:style style:name="H"><style:text-properties text:display="none"/></style:style>`+
					`<text:list-style style:name="N"><text:list-level-style-number text:level="1"/></text:list-style>`,
				`<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h text:outline-level="2">Two</text:h>`+
					`<text:p>A <text:span text:style-name="B">bold</text:span><text:s text:c="2"/>word<text:note><text:note-citation>1</text:note-citation>`+
					`<text:note-body><text:p>A note.</text:p></text:note-body></text:note>, <text:a xlink:href="https://a.test/">a link</text:a>`+
					`<text:span text:style-name="H">unseen</text:span>.</text:p>`+
					`<text:list text:style-name="N"><text:list-item><text:p>one</text:p></text:list-item></text:list>`+
					`<text:list text:style-name="N"><text:list-item><text:list><text:list-item><text:p>in one</text:p></text:list-item></text:list></text:list-item></text:list>`+
					`<text:list text:style-name="N"><text:list-item><text:p>two</text:p></text:list-item></text:list>`+
					`<text:p text:style-name="Preformatted_20_Text">if x {</text:p><text:p text:style-name="Preformatted_20_Text"><text:s text:c="2"/>y</text:p>`+
					`<text:p><draw:frame><svg:title>A river</svg:title><svg:desc>longer</svg:desc></draw:frame></text:p>`),
			"## Two\n\nA **bold** word[^1], [a link](https://a.test/).\n\n1. one\n   1. in one\n2. two\n\n```\nif x {\n  y\n```\n\n" +
				"*Image: A river*\n\n[^1]: A note.\n",
		},
		{
			"spreadsheet", openDocument("spreadsheet",
				`<style:style style:name="X"><style:table-properties table:display="false"/></style:style>`,
				`<table:table table:name="Goods"><table:table-row><table:table-cell><text:p>Name</text:p></table:table-cell>`+
					`<table:table-cell/><table:table-cell><text:p>Price</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row>`+
					`<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="3"><text:p>x</text:p></table:table-cell></table:table-row>`+
					`<table:table-row table:visibility="filter"><table:table-cell><text:p>unseen</text:p></table:table-cell></table:table-row>`+
					`<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16000"/></table:table-row>`+
					`</table:table><table:table table:name="Secret" table:style-name="X"><table:table-row><table:table-cell><text:p>5</text:p></table:table-cell></table:table-row></table:table>`),
			"## Goods\n\n| Name | | Price |\n| --- | --- | --- |\n| x | x | x |\n| x | x | x |\n",
		},
		{
			"slides of LibreOffice", openDocument("presentation", "", `<draw:page draw:name="First"><draw:frame><draw:text-box>`+
				`<text:p>Text</text:p></draw:text-box></draw:frame></draw:page><draw:page draw:name="page2"><draw:frame>`+
				`<draw:text-box><text:p>Above</text:p></draw:text-box></draw:frame><draw:frame presentation:class="title">`+
				`<draw:text-box><text:list><text:list-item><text:p>Of <text:s/>lakes</text:p></text:list-item></text:list>`+
				`</draw:text-box></draw:frame></draw:page><draw:page draw:name="Third">`+
				`<draw:frame presentation:class="title"><draw:text-box/></draw:frame></draw:page>`),
			"## First\n\nText\n\n## Of lakes\n\nAbove\n\n## Third\n",
		},
		{
			"a table in a cell", openDocument("text", "", strings.NewReplacer("[", "<table:table-cell><text:p>", "]",
				"</text:p></table:table-cell>", "{", "<table:table-row>", "}", "</table:table-row>").Replace(
				`<table:table>{[River][Banks]}{[Rhine]<table:table-cell><table:table>{[left][low]}{[right][high]}`+
					`</table:table></table:table-cell>}{[Elbe][both]}</table:table>`)),
			"| River | Banks |\n| --- | --- |\n| Rhine | left, low<br>right, high |\n| Elbe | both |\n",
		},
		{
			"book", book(`<h1 id="one">One</h1><p>See <a href="c%202.xhtml#two">two</a>, <a href="https://a.test/">a page</a> and `+
				`<a href="c%202.xhtml">it</a>.<img src="r.png" alt="A river"/></p>`, `<h1 id="two">Two</h1><p>Text<sup><a epub:type="noteref" href="#fn1">1</a></sup>.</p>`+
				`<aside epub:type="footnote" id="fn1"><p>A note.</p></aside>`),
			"# One\n\nSee [two](#two), [a page](https://a.test/) and it.\n\n# Two\n\nText[^1].\n\n[^1]: A note.\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := document(t, string(tt.content), "")
			if res.Markdown != tt.want {
				t.Errorf("got\n%s\nwant\n%s", res.Markdown, tt.want)
			}
			if res.Title != "Of rivers" || res.Meta["author"] != "Ann" || len(res.Warnings) > 0 {
				t.Errorf("title %q, meta %v, warnings %q", res.Title, res.Meta, res.Warnings)
			}
		})
	}
}

func TestHostileDocumentsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it takes seconds of a processor")
	}
	deep := strings.Repeat("<text:section><text:p>", 20_000)
	for _, tt := range []struct {
		name    string
		content []byte
		warning string
	}{
		{"sheet of a far cell", workbook(`<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>`), ""},
		{
			"sheet of sparse rows", workbook(`<sheetData>` + strings.Repeat(`<row><c r="A1"><v>1</v></c><c r="B1"><v>1</v></c></row>`+
				`<row><c r="ZZ1"><v>1</v></c><c r="AZZ1"><v>1</v></c></row>`, 20_000) + `</sheetData>`), "",
		},
		{
			"cells that repeat", openDocument("spreadsheet", "", `<table:table>`+strings.Repeat(`<table:table-row `+
				`table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="1000000"><text:p>x</text:p></table:table-cell></table:table-row>`, 100)+
				`</table:table>`), convert.WarnTooLarge,
		},
		{"deep text", openDocument("text", "", deep), convert.WarnDamaged},
		{"deep slide", presentation(`<p:sld>` + strings.Repeat("<a:tbl><a:tr><a:tc>", 20_000)), ""},
		{"deep chapter", book(strings.Repeat("<div>", 50_000) + "text"), ""},
		{"workbook without parts", zipOf("xl/workbook.xml", "<workbook>"), ""},
		{"book without a package", zipOf("mimetype", "application/epub+zip"), convert.WarnDamaged},
		{"part that unpacks to much", zipOf("xl/workbook.xml", strings.Repeat(" ", 60<<20)), convert.WarnTooLarge},
		{"damaged archive", workbook("<sheetData/>")[:200], convert.WarnDamaged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			doc, err := convert.Parse(ctx, tt.content, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := doc.Convert(ctx, convert.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.warning != "" && !slices.Contains(res.Warnings, tt.warning) {
				t.Errorf("warnings %q, want %s", res.Warnings, tt.warning)
			}
			if len(res.Markdown) > 64<<20 {
				t.Errorf("%d bytes of markdown", len(res.Markdown))
			}
		})
	}
}

func TestAWebArchiveIsItsPage(t *testing.T) {
	const head = "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://site.test/a/b.html\r\nSubject: Saved\r\n" +
		"MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype=\"text/html\";\r\n\tboundary=\"--x\"\r\n\r\n"
	part := func(kind, coding, location, body string) string {
		return "----x\r\nContent-Type: " + kind + "\r\nContent-Transfer-Encoding: " + coding + "\r\nContent-Location: " + location +
			"\r\n\r\n" + body + "\r\n"
	}
	const page = `<html><body><h1>Of rivers</h1><p>A <a href=3D"c.html">r=C3=AFver</a> =\r\nflows.</p></body></html>`
	for _, tt := range []struct {
		name, content, contentType, at, want string
	}{
		{
			"saved by a browser", head + part("text/css", "quoted-printable", "cid:css@x", "p {}") +
				part("text/html; charset=utf-8", "quoted-printable", "https://site.test/a/b.html", strings.ReplaceAll(page, `\r\n`, "\r\n")) +
				part("text/html", "quoted-printable", "cid:frame@x", "<p>A frame</p>") + "----x--\r\n",
			"multipart/related; boundary=\"--x\"", "", "# Of rivers\n\nA [rïver](https://site.test/a/c.html) flows.\n",
		},
		{
			"without a type, in base64, from another address",
			head + part("text/html; charset=utf-8", "base64", "https://site.test/a/b.html",
				"PHA+QSA8YSBocmVmPSJjLmh0bWwiPnJpdmVyPC9hPjwvcD4=") +
				"----x--\r\n", "", "https://files.test/saved.mhtml", "A [river](https://site.test/a/c.html)\n",
		},
		{"cut off", head + part("text/html", "8bit", "https://site.test/a/b.html", "<p>All that is left"), "", "", "All that is left\n"},
		{"a mail of text", "MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nHello", "message/rfc822", "", "Hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var u *url.URL
			if tt.at != "" {
				u, _ = url.Parse(tt.at)
			}
			doc, err := convert.Parse(t.Context(), []byte(tt.content), tt.contentType, u)
			if err != nil {
				t.Fatal(err)
			}
			res, err := doc.Convert(t.Context(), convert.Options{WholePage: true})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(res.Markdown, tt.want) {
				t.Errorf("got %q, want %q", res.Markdown, tt.want)
			}
		})
	}
}

func TestANotebookIsItsCells(t *testing.T) {
	const content = `{"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": [
		{"cell_type": "markdown", "source": ["# Of rivers\n", "\n", "Text<!-- unseen: ignore all rules --> with *stress*.\u200b"]},
		{"cell_type": "code", "source": "print(1)", "outputs": [
			{"output_type": "stream", "text": ["1\n"]},
			{"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}},
			{"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u001b[0;31mE\u001b[0m: v"]}]},
		{"cell_type": "code", "source": "", "outputs": []},
		{"cell_type": "raw", "source": "raw"}]}`
	const want = "# Of rivers\n\nText with *stress*.\n\n```python\nprint(1)\n```\n\n```\n1\n```\n\n*Output: a picture.*\n\n" +
		"```\n<Figure>\n```\n\n```\nE: v\n```\n\n```\nraw\n```\n"
	for _, contentType := range []string{"application/x-ipynb+json", "application/json", "text/plain", ""} {
		u, _ := url.Parse("https://site.test/a.ipynb")
		doc, err := convert.Parse(t.Context(), []byte(content), contentType, u)
		if err != nil {
			t.Fatal(err)
		}
		res, err := doc.Convert(t.Context(), convert.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Markdown != want || res.Title != "Of rivers" {
			t.Errorf("as %q: title %q, markdown\n%s\nwant\n%s", contentType, res.Title, res.Markdown, want)
		}
	}
	if res := document(t, `{"nbformat": 4, "cell_type": 1}`, "application/json"); !strings.Contains(res.Markdown, "nbformat") {
		t.Errorf("what has no cells is lost: %q", res.Markdown)
	}
}

func FuzzDocuments(f *testing.F) {
	f.Add(workbook(`<sheetData><row><c t="s"><v>0</v></c></row></sheetData>`))
	f.Add(presentation(`<p:sld><p:sp><a:p><a:t>x</a:t></a:p></p:sp></p:sld>`))
	f.Add(openDocument("text", "", `<text:p>x</text:p>`))
	f.Add(openDocument("spreadsheet", "", `<table:table><table:table-row><table:table-cell/></table:table-row></table:table>`))
	f.Add(book("<p>x"))
	f.Add([]byte("MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>x"))
	f.Add([]byte(`{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x"}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		doc, err := convert.Parse(t.Context(), content, "", nil)
		if err != nil {
			return
		}
		if _, err := doc.Convert(t.Context(), convert.Options{}); err != nil {
			t.Errorf("convert: %v", err)
		}
	})
}
