package convert

import (
	"bytes"
	"cmp"
	"context"
	"html"

	"readthru/convert/docx"
)

// maxPart is how many bytes one part of a DOCX may unpack to. A test lowers it.
var maxPart = 32 << 20

// docx converts a DOCX to HTML, which the rules for HTML then convert.
func (d *Document) docx(ctx context.Context, content []byte) {
	doc, err := docx.Read(ctx, content, maxPart)
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
	writeHead(&b, "description", doc.Subject)
	b.WriteString("</head><body>")
	b.WriteString(doc.Body)
	b.WriteString("</body></html>")
	if doc.Damaged {
		d.warnings = append(d.warnings, WarnDamaged)
	}
	if doc.Cut {
		d.warnings = append(d.warnings, WarnTooLarge)
	}
	d.compose(ctx, b.Bytes())
	d.head.title = cmp.Or(doc.Title, d.head.title, fileName(d.path()))
	d.head.meta["title"] = d.head.title
}
