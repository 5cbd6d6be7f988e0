package convert_test

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

const docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

// docxFile returns a text document with a body and further parts.
func docxFile(body string, parts map[string]string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name, content string) {
		if w, err := z.Create(name); err == nil {
			_, _ = w.Write([]byte(content)) // a buffer takes everything
		}
	}
	add("word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`+
		body+`</w:body></w:document>`)
	for name, content := range parts {
		add(name, content)
	}
	_ = z.Close()
	return out.Bytes()
}

// paragraphOf writes a paragraph with properties.
func paragraphOf(properties, text string) string {
	return `<w:p><w:pPr>` + properties + `</w:pPr><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
}

func TestDocx(t *testing.T) {
	parts := map[string]string{
		"word/styles.xml": `<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Own"><w:basedOn w:val="berschrift1"/></w:style>
			<w:style w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>
			<w:style w:styleId="Back"><w:basedOn w:val="Gone"/><w:rPr><w:vanish w:val="0"/></w:rPr></w:style>
			<w:style w:styleId="Lvl"><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style><w:style w:styleId="Q"><w:name w:val="Quote"/></w:style><w:style w:styleId="SC"><w:name w:val="Source Code"/></w:style></w:styles>`,
		"word/numbering.xml": `<w:numbering><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
			<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:start w:val="0"/><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>
			<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
			<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
			<w:num w:numId="3"><w:abstractNumId w:val="8"/></w:num></w:numbering>`,
		"word/_rels/document.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/hyperlink" Target="https://a.test/x"/></Relationships>`,
		"word/footnotes.xml":           `<w:footnotes><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>`,
		"docProps/core.xml":            `<cp:coreProperties><dc:title>Of rivers</dc:title><dc:creator>Ann</dc:creator></cp:coreProperties>`,
	}
	listed := func(list, level, text string) string {
		return paragraphOf(`<w:numPr><w:ilvl w:val="`+level+`"/><w:numId w:val="`+list+`"/></w:numPr>`, text)
	}
	item := func(level, text string) string { return listed("1", level, text) }
	run := func(properties, text string) string {
		return `<w:r><w:rPr>` + properties + `</w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
	}
	cell := func(properties, text string) string {
		return `<w:tc><w:tcPr>` + properties + `</w:tcPr>` + paragraphOf("", text) + `</w:tc>`
	}
	for _, tt := range []struct{ name, body, want string }{
		{
			"headings by name, by what they are based on, by level",
			paragraphOf(`<w:pStyle w:val="berschrift1"/>`, "One") + paragraphOf(`<w:pStyle w:val="Own"/>`, "Own") +
				paragraphOf(`<w:pStyle w:val="Lvl"/>`, "Three") + paragraphOf(`<w:outlineLvl w:val="1"/>`, "Two"),
			"# One\n\n# Own\n\n### Three\n\n## Two\n",
		},
		{
			"emphasis", `<w:p>` + run(`<w:b/>`, "bold") + run(``, " and ") + run(`<w:i/>`, "slanted") + run(``, " ") +
				run(`<w:rFonts w:ascii="Courier New"/>`, "code") + run(`<w:b w:val="0"/>`, " plain ") + run(`<w:strike/>`, "gone") +
				`</w:p>`,
			"**bold** and *slanted* `code` plain ~~gone~~\n",
		},
		{
			"lists", item("0", "one") + item("1", "in one") + item("0", "two") + paragraphOf("", "after"),
			"1. one\n   - in one\n2. two\n\nafter\n",
		},
		{
			"table with spans", `<w:tbl><w:tr>` + cell(`<w:gridSpan w:val="2"/>`, "wide") + cell("", "c") + `</w:tr><w:tr>` +
				cell(`<w:vMerge w:val="restart"/>`, "down") + cell("", "1|2") + cell("", "3") + `</w:tr><w:tr>` +
				cell(`<w:vMerge/>`, "") + cell("", "4") + cell("", "5") + `</w:tr></w:tbl>`,
			"| wide | wide | c |\n| --- | --- | --- |\n| down | 1\\|2 | 3 |\n| down | 4 | 5 |\n",
		},
		{
			"links, of both kinds", `<w:p><w:hyperlink r:id="r1">` + run("", "a link") + `</w:hyperlink>` + run("", " ") +
				`<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://b.test/" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + run("", "field") + `<w:r><w:fldChar w:fldCharType="end"/></w:r>` + run("", " end") + `</w:p>`,
			"[a link](https://a.test/x) [field](https://b.test/) end\n",
		},
		{
			"footnote", `<w:p>` + run("", "Text") + `<w:r><w:footnoteReference w:id="2"/></w:r></w:p>`,
			"Text[^1]\n\n[^1]: A note.\n",
		},
		{"code and quotation", paragraphOf(`<w:pStyle w:val="SC"/>`, "if x {") + paragraphOf(`<w:pStyle w:val="SC"/>`,
			"  y") + paragraphOf(`<w:pStyle w:val="Q"/>`, "Quoted."), "```\nif x {\n  y\n```\n\n> Quoted.\n"},
		{
			"a list that goes on after a text",
			item("0", "one") + paragraphOf("", "Text.") + item("0", "two") + item("1", "a") + item("0", "three"),
			"1. one\n\nText.\n\n2. two\n   - a\n3. three\n",
		},
		{"a list that begins with a number of its own", listed("2", "0", "seven") + listed("2", "0", "eight"), "7. seven\n8. eight\n"},
		{"a list whose kind begins with another number", listed("3", "0", "zero"), "0. zero\n"},
		{"picture", `<w:p><w:r><w:drawing><wp:docPr id="1" descr="A river"/></w:drawing></w:r></w:p>`, "*Image: A river*\n"},
		{
			"deleted text, and markup that is text",
			`<w:p><w:del>` + run("", "no") + `</w:del>` + run("", "&lt;b&gt; *x*") + `</w:p>`, "\\<b> \\*x\\*\n",
		},
		{
			"formula", `<w:p><m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup><m:r><m:t>=</m:t></m:r><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>a+b</m:t></m:r></m:den></m:f><m:d><m:e><m:r><m:t>c+d</m:t></m:r></m:e></m:d></m:oMath></w:p>`,
			"$x^{2} = \\frac{1}{a + b} \\left( c + d \\right)$\n",
		},
		{
			"text that its style hides, unless it says otherwise", `<w:p><w:pPr><w:pStyle w:val="Gone"/></w:pPr>` +
				run(``, "unseen ") + run(`<w:vanish w:val="0"/>`, "seen") + `</w:p>` +
				paragraphOf(`<w:pStyle w:val="Back"/>`, "too"),
			"seen\n\ntoo\n",
		},
		{"a word with its reading", `<w:p><w:r><w:ruby><w:rt>` + run("", "とうきょう") + `</w:rt><w:rubyBase>` +
			run("", "東京") + `</w:rubyBase></w:ruby></w:r></w:p>`, "東京\n"},
		{"line breaks", `<w:p>` + run("", "one") + `<w:r><w:br/></w:r>` + run("", "two") + `</w:p>`, "one  \ntwo\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := document(t, string(docxFile(tt.body, parts)), "")
			if res.Markdown != tt.want {
				t.Errorf("got  %q\nwant %q", res.Markdown, tt.want)
			}
			if res.Title != "Of rivers" || res.Meta["author"] != "Ann" {
				t.Errorf("title %q, meta %v", res.Title, res.Meta)
			}
		})
	}
}

// TestDatesOfDocumentsAreTheirProperties holds that the date of a document is that of its creation in its properties,
// else of its last change, and none that the archive gives its parts.
func TestDatesOfDocumentsAreTheirProperties(t *testing.T) {
	const created = `<dcterms:created xsi:type="dcterms:W3CDTF">2024-05-01T09:00:00Z</dcterms:created>`
	const modified = `<dcterms:modified xsi:type="dcterms:W3CDTF">2024-06-02T09:00:00Z</dcterms:modified>`
	for _, tt := range []struct{ name, properties, want string }{
		{"created", modified + created, "2024-05-01T09:00:00Z"},
		{"modified alone", modified, "2024-06-02T09:00:00Z"},
		{"neither", "", ""},
	} {
		file := docxFile(paragraphOf("", "Text."), map[string]string{
			"docProps/core.xml": `<cp:coreProperties>` + tt.properties + `</cp:coreProperties>`,
		})
		if got := document(t, string(file), "").Meta["date"]; got != tt.want {
			t.Errorf("%s: date = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestDamagedDocxIsReadAsFarAsPossible(t *testing.T) {
	if res := document(t, "PK\x03\x04 word/document.xml", docxType); !slices.Contains(res.Warnings, convert.WarnDamaged) {
		t.Errorf("archive without a directory: warnings %q", res.Warnings)
	}
	cut := string(docxFile(`<w:p><w:r><w:t>kept</w:t></w:r></w:p><w:p><w:r`, nil))
	if res := document(t, cut, docxType); !strings.HasPrefix(res.Markdown, "kept") ||
		!slices.Contains(res.Warnings, convert.WarnDamaged) {
		t.Errorf("truncated part: markdown %q, warnings %q", res.Markdown, res.Warnings)
	}
}

func TestHostileDocxIsCutInTime(t *testing.T) {
	convert.LimitParts(t, 32<<20/shrink)
	long := many("x", 1<<20)
	for _, tt := range []struct {
		name    string
		body    string
		parts   map[string]string
		warning string
	}{
		{"deep", many("<w:tbl><w:tr><w:tc>", 100000), nil, convert.WarnTooLarge},
		{"runs", "<w:p>" + many("<w:r><w:t>x</w:t></w:r>", 300000), nil, ""},
		{"a part that swells", paragraphOf("", many("x", 40<<20)), nil, convert.WarnTooLarge},
		{
			"a long note a thousand times", "<w:p>" + many(`<w:r><w:footnoteReference w:id="2"/></w:r>`, 20000) + "</w:p>",
			map[string]string{
				"word/footnotes.xml": `<w:footnotes><w:footnote w:id="2">` + paragraphOf("", long) + `</w:footnote></w:footnotes>`,
			},
			"",
		},
		{"a long address a thousand times", "<w:p>" + many(`<w:hyperlink r:id="r1"><w:r><w:t>x</w:t></w:r></w:hyperlink>`,
			20000) + "</w:p>", map[string]string{
			"word/_rels/document.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/hyperlink" Target="https://a.test/` + long + `"/></Relationships>`,
		}, ""},
		{"a long text and empty tables", paragraphOf("", many("x", 4<<20)) + many("<w:tbl><w:tr><w:tc/></w:tr></w:tbl>",
			20000), nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := string(docxFile(tt.body, tt.parts))
			var res *convert.Result
			checkCost(t, tt.body, func() { res = document(t, file, docxType) })
			if limit := 2*(len(tt.body)+len(long)) + 1<<20; len(res.Markdown) > limit {
				t.Errorf("%d bytes of markdown, limit is %d", len(res.Markdown), limit)
			}
			if tt.warning != "" && !slices.Contains(res.Warnings, tt.warning) {
				t.Errorf("warnings %q lack %s", res.Warnings, tt.warning)
			}
		})
	}
}

func TestDocxKeepsTextAroundInsertions(t *testing.T) {
	run := func(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
	for _, tt := range []struct{ name, body, want string }{
		{"text box", `<w:p>` + run("before ") + `<w:r><w:pict><v:textbox><w:txbxContent>` + paragraphOf("", "in the box") +
			`</w:txbxContent></v:textbox></w:pict></w:r>` + run("after") + `</w:p>`, "in the box\n\nbefore after\n"},
		{"table in a text box", `<w:p>` + run("before ") + `<w:r><w:pict><w:txbxContent><w:tbl><w:tr><w:tc>` + paragraphOf("",
			"cell") + `</w:tc><w:tc>` + paragraphOf("", "b") + `</w:tc></w:tr></w:tbl></w:txbxContent></w:pict></w:r>` +
			run("after") + `</w:p>`, "| cell | b |\n| --- | --- |\n\nbefore after\n"},
		{
			"code of a field that never began", `<w:p><w:r><w:instrText>PAGE</w:instrText></w:r>` + run("text") + `</w:p>`,
			"text\n",
		},
		{
			"field that never ends",
			`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>` + run("7") +
				`</w:p>` + paragraphOf("", "text"), "text\n",
		},
		{"note that is referred to twice", `<w:p>` + run("a") + `<w:r><w:footnoteReference w:id="2"/></w:r>` + run("b") +
			`<w:r><w:footnoteReference w:id="2"/></w:r></w:p>`, "a[^1]b[^1]\n\n[^1]: A note.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := docxFile(tt.body, map[string]string{"word/footnotes.xml": `<w:footnotes><w:footnote w:id="2">` +
				paragraphOf("", "A note.") + `</w:footnote></w:footnotes>`})
			if res := document(t, string(file), docxType); res.Markdown != tt.want {
				t.Errorf("got  %q\nwant %q", res.Markdown, tt.want)
			}
		})
	}
}
