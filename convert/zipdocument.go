package convert

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"html"
	"io"
	"strings"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/docx"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/epub"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/opendocument"
	"github.com/readthru/readthru/convert/pptx"
	"github.com/readthru/readthru/convert/xlsx"
)

// maxPart is how many bytes one part of a zip archive may unpack to. It is a variable so that tests can lower it.
var maxPart = 32 << 20

// archiveReaders read documents that are zip archives. They take the content and maxPart, and give a page in HTML.
// Books are read by [Document.book].
var archiveReaders = map[format]func(context.Context, []byte, int) (*archive.Document, error){
	docxFormat: docx.Read, xlsxFormat: xlsx.Read, pptxFormat: pptx.Read, openFormat: opendocument.Read,
}

// maxMark is how long the mark of a note in a book may be, in bytes. Longer texts of links are words.
const maxMark = 6

// book reads a book, a document in a zip archive, each chapter without what its sheets hide. Notes stay: readers of
// books show them on a click. It is the reader of archiveReaders for EPUB. Each chapter is cleaned on its own, by its
// own style sheets, before chapters become one page.
func (d *Document) book(ctx context.Context, content []byte, maxPart int) (*archive.Document, error) {
	return epub.Read(ctx, content, maxPart, func(chapter []byte) []byte { return dom.FromXHTML(ctx, chapter, true) },
		func(root, body *xhtml.Node) {
			noted := map[string]bool{} // ids that marks of notes lead to
			for n := range body.Descendants() {
				if _, id, ok := strings.Cut(dom.Attr(n, "href"), "#"); ok && dom.Is(n, atom.A) && len(dom.Text(n)) <= maxMark {
					noted[id] = true
				}
			}
			for n := range body.Descendants() {
				if strings.Contains(dom.Attr(n, "epub:type"), "note") || strings.HasSuffix(dom.Attr(n, "role"), "note") ||
					noted[dom.Attr(n, "id")] && dom.HasAttr(n, "id") {
					dom.SetAttr(n, "style", "display:block")
				}
			}
			w := hidden.NewFinal(root)
			w.Clean(ctx, body)
			d.reportHidden(w.Report())
		})
}

// archived returns the format of a document in a zip archive, "" if it is another archive. The archive's own parts
// decide; of one whose directory cannot be read, the names in its bytes. An archive is told by its parts, not by its
// media type, because servers often send documents as octet streams.
func archived(content []byte) format {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return archivedBytes(content)
	}
	book := false
	for _, file := range z.File {
		switch name := strings.ToLower(file.Name); {
		case strings.HasPrefix(name, "word/document"):
			return docxFormat
		case name == "xl/workbook.xml":
			return xlsxFormat
		case name == "ppt/presentation.xml":
			return pptxFormat
		case name == "mimetype":
			if f := typeFormats[mimetype(file)]; f != "" {
				return f
			}
		case name == "meta-inf/container.xml":
			book = true
		}
	}
	if book {
		return epubFormat
	}
	return ""
}

// mimetype returns the media type that a part of an OpenDocument or a book states, wherever in the archive it stands.
// It reads 256 bytes at most, and returns "" for a part that cannot be read.
func mimetype(file *zip.File) string {
	in, err := file.Open()
	if err != nil {
		return ""
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, 256))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// archivedBytes returns the format of a document in a zip archive without a directory, which has been cut off, by the
// names of parts in its first and last 64 KiB.
func archivedBytes(content []byte) format {
	head, tail := content[:min(len(content), 64<<10)], content[max(0, len(content)-64<<10):]
	for _, f := range []struct {
		format format
		part   string // its name stands near the start and in the directory at the end
	}{{docxFormat, "word/document"}, {xlsxFormat, "xl/workbook.xml"}, {pptxFormat, "ppt/presentation.xml"}} {
		if bytes.Contains(head, []byte(f.part)) || bytes.Contains(tail, []byte(f.part)) {
			return f.format
		}
	}
	switch {
	case opendocument.Is(content):
		return openFormat
	case epub.Is(content):
		return epubFormat
	}
	return ""
}

// archive converts a document in a zip archive to HTML, which the rules for HTML then convert. A document that cannot
// be read leaves the warning damaged and no text. Text that the document has and does not show is handed to package
// hidden for the report.
func (d *Document) archive(ctx context.Context, f format, content []byte) {
	read := archiveReaders[f]
	if f == epubFormat {
		read = d.book
	}
	doc, err := read(ctx, content, maxPart)
	if err != nil {
		d.warnings = append(d.warnings, WarnDamaged)
		return
	}
	var b bytes.Buffer
	b.WriteString("<!doctype html><html")
	if doc.Lang != "" {
		b.WriteString(` lang="` + html.EscapeString(doc.Lang) + `"`)
	}
	b.WriteString("><head>")
	writeHead(&b, "title", doc.Title)
	writeHead(&b, "author", doc.Author)
	writeHead(&b, "date", doc.Date)
	writeHead(&b, "description", strings.TrimSpace(doc.Subject))
	b.WriteString("</head><body>")
	b.WriteString(doc.Body)
	b.WriteString("</body></html>")
	if doc.Damaged {
		d.warnings = append(d.warnings, WarnDamaged)
	}
	if doc.Encrypted {
		d.warnings = append(d.warnings, WarnEncrypted)
	}
	if doc.Cut {
		d.warnings = append(d.warnings, WarnTooLarge)
	}
	if _, report := hidden.Text([]byte(doc.Title + "\n" + doc.Author + "\n" + doc.Subject)); report.Hidden > 0 {
		d.reportHidden(report)
	}
	d.hides = doc.Unseen
	d.compose(ctx, b.Bytes())
	if d.head.Title = cmp.Or(chars.Clip(doc.Title), d.head.Title); d.head.Title == "" {
		d.head.Title = d.fileName()
	}
	d.head.Meta["title"] = d.head.Title
}
