package convert_test

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// storedZip returns an archive whose parts, each a name and its content, are not compressed.
func storedZip(t *testing.T, parts ...string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i], Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(parts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A document in an archive is known by the archive's own parts, wherever they stand and whatever is within them.
func TestAnArchiveIsKnownByItsOwnParts(t *testing.T) {
	workbook := storedZip(t, "xl/workbook.xml", "<workbook/>")
	slide := "<p:sld><p:sp><p:txBody><a:p><a:r><a:t>Rivers</a:t></a:r></a:p></p:txBody></p:sp></p:sld>"
	presentation := []string{
		"ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", "<Relationships>" + relation("r1", "slide", "slides/slide1.xml") + "</Relationships>",
		"ppt/slides/slide1.xml", slide,
	}
	chapter := `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Rivers</p></body></html>`
	book := []string{
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>`, "b.opf",
		`<package><manifest><item id="c" href="c.xhtml"/></manifest><spine><itemref idref="c"/></spine></package>`, "c.xhtml", chapter,
	}
	text := []string{
		"content.xml", "<office:document-content><office:body><office:text><text:p>Rivers</text:p></office:text></office:body>" +
			"</office:document-content>",
	}
	for _, tt := range []struct {
		name, contentType string
		parts             []string
	}{
		{"a workbook before the slides that show it", "", slices.Concat([]string{"ppt/embeddings/1.xlsx", workbook}, presentation)},
		{"a workbook after the slides that show it", "", slices.Concat(presentation, []string{"ppt/embeddings/1.xlsx", workbook})},
		{"a book whose type stands last", "", slices.Concat(book, []string{"mimetype", "application/epub+zip"})},
		{"a book that states no type", "", book},
		{"a book whose type ends with a line", "", slices.Concat([]string{"mimetype", "application/epub+zip\n"}, book)},
		{"a text whose type stands last", "", slices.Concat(text, []string{"mimetype", "application/vnd.oasis.opendocument.text"})},
		{"a text that its server names", "application/vnd.oasis.opendocument.text", text},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := document(t, storedZip(t, tt.parts...), tt.contentType)
			if !strings.Contains(res.Markdown, "Rivers") || len(res.Warnings) > 0 {
				t.Errorf("%q, warnings %v", res.Markdown, res.Warnings)
			}
		})
	}
}

// RTF is text, but none that a reader wants.
func TestRTFIsNotShown(t *testing.T) {
	for _, contentType := range []string{"", "text/plain", "application/rtf", "text/rtf"} {
		res := document(t, `{\rtf1\ansi{\fonttbl\f0 Arial;}\f0 Rivers\par}`, contentType)
		if strings.Contains(res.Markdown, "fonttbl") || !strings.Contains(res.Markdown, "RTF document") ||
			!slices.Contains(res.Warnings, convert.WarnBinary) {
			t.Errorf("as %q: %q, warnings %v", contentType, res.Markdown, res.Warnings)
		}
	}
}
