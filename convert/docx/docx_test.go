package docx_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert/docx"
	"github.com/readthru/readthru/convert/guard"
)

const maxPart = 1 << 20

// file returns a DOCX with these parts.
func file(parts map[string]string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range parts {
		if w, err := z.Create(name); err == nil {
			_, _ = w.Write([]byte(content)) // a buffer takes everything
		}
	}
	_ = z.Close()
	return out.Bytes()
}

// paragraph returns a paragraph of one run with properties.
func paragraph(properties, text string) string {
	return "<w:p><w:pPr>" + properties + "</w:pPr><w:r><w:t>" + text + "</w:t></w:r></w:p>"
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, part, body, want string
		damaged, cut           bool
	}{
		{"paragraph", "word/document.xml", paragraph("", "text"), "<p>text</p>", false, false},
		{
			"heading by outline level", "word/document.xml", paragraph(`<w:outlineLvl w:val="1"/>`, "Two"), "<h2>Two</h2>",
			false, false,
		},
		{"document under a numbered name", "word/document2.xml", paragraph("", "text"), "<p>text</p>", false, false},
		{
			"deleted text", "word/document.xml", "<w:p><w:del><w:r><w:t>no</w:t></w:r></w:del><w:r><w:t>yes</w:t></w:r></w:p>",
			"<p>yes</p>", false, false,
		},
		{"markup that is text", "word/document.xml", paragraph("", "&lt;b&gt;"), "<p>&lt;b&gt;</p>", false, false},
		{"truncated part", "word/document.xml", paragraph("", "kept") + "<w:p><w:r", "<p>kept</p>", true, false},
		{
			"part over the limit", "word/document.xml", paragraph("", "kept") + paragraph("", strings.Repeat("x", maxPart)),
			"<p>kept</p>", false, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			content := file(map[string]string{tt.part: "<w:document><w:body>" + tt.body})
			if !tt.damaged && !tt.cut {
				content = file(map[string]string{tt.part: "<w:document><w:body>" + tt.body + "</w:body></w:document>"})
			}
			doc, err := docx.Read(t.Context(), content, maxPart)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(strings.TrimSpace(doc.Body), tt.want) || doc.Damaged != tt.damaged || doc.Cut != tt.cut {
				t.Errorf("body %.200q, damaged %v, cut %v; want %q, %v, %v", doc.Body, doc.Damaged, doc.Cut, tt.want, tt.damaged,
					tt.cut)
			}
		})
	}
}

func TestReadFailsWithoutAnArchive(t *testing.T) {
	if doc, err := docx.Read(t.Context(), []byte("PK\x03\x04 word/document.xml"), maxPart); err == nil {
		t.Errorf("Read = %+v, want an error", doc)
	}
}

// FuzzRead checks that no part stops the reader, and that its output is bounded.
func FuzzRead(f *testing.F) {
	f.Add("<w:document><w:body>"+paragraph(`<w:pStyle w:val="x"/>`, "text"),
		"<w:styles><w:style w:styleId='x'><w:name w:val='heading 1'/>")
	f.Add("<w:tbl><w:tr><w:tc>", "")
	f.Add(`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK`, "")
	f.Add("<w:p><m:oMath><m:f><m:num>", "")
	f.Fuzz(func(t *testing.T, document, styles string) {
		content := file(map[string]string{"word/document.xml": document, "word/styles.xml": styles})
		err := guard.Run(func() {
			doc, err := docx.Read(t.Context(), content, maxPart)
			if err == nil && len(doc.Body) > guard.OutputLimit(16*(len(document)+len(styles))) {
				t.Errorf("%d bytes of HTML from %d", len(doc.Body), len(document))
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}
