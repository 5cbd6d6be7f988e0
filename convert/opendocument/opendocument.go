// Package opendocument reads the texts, workbooks and presentations of LibreOffice and others (OASIS OpenDocument, ISO
// 26300) as HTML, which a converter of HTML then takes like any page.
//
// Every file is treated as hostile: unpacked bytes, nesting, repeated cells and output are bounded, and a damaged file
// is read as far as possible. When its context ends, [Read] panics with a value for [guard.Run].
package opendocument

import (
	"bytes"
	"context"
	"strings"

	"github.com/readthru/readthru/convert/archive"
)

// TypePrefix begins the media types of OpenDocument: text, spreadsheet and presentation follow.
const TypePrefix = "application/vnd.oasis.opendocument."

// Is reports whether a zip archive states at its beginning that it is an OpenDocument file of a kind that [Read] reads.
// The part "mimetype" is stored first and uncompressed, for that purpose.
func Is(content []byte) bool {
	const begin = "mimetype" + TypePrefix
	head := string(content[:min(len(content), 256)])
	_, kind, ok := strings.Cut(head, begin)
	return ok && (strings.HasPrefix(kind, "text") || strings.HasPrefix(kind, "spreadsheet") ||
		strings.HasPrefix(kind, "presentation"))
}

// Read reads a document: headings, lists, tables, emphasis, links, notes and descriptions of pictures. Deleted text and
// comments are told apart. So are sheets, rows, columns and slides that are hidden, and what stands beside its slide.
// One part may unpack to maxPart bytes. Read fails if content is not a zip archive.
func Read(ctx context.Context, content []byte, maxPart int) (*archive.Document, error) {
	files, err := archive.Open(ctx, content, maxPart)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what was being done
	}
	r := &odfReader{
		ctx: ctx, files: files, styles: map[string]style{}, numbered: map[string]bool{}, blank: map[string]bool{},
		layers: map[string]bool{}, layouts: map[string][2]float64{},
	}
	files.Properties("meta.xml", &r.doc)
	r.readStyles("styles.xml")
	r.readStyles("content.xml")
	if dec := files.Decoder("content.xml"); dec != nil {
		r.read(dec)
	} else {
		r.doc.Damaged = true
	}
	if r.notes.Len() > 0 {
		r.out.WriteString(`<section role="doc-endnotes"><ol>` + r.notes.String() + "</ol></section>")
	}
	r.doc.Body, r.doc.Damaged, r.doc.Cut = r.out.String(), r.doc.Damaged || files.Damaged, r.doc.Cut || files.Cut
	r.doc.Encrypted = bytes.Contains(files.Part("META-INF/manifest.xml"), []byte("encryption-data"))
	return &r.doc, nil
}
