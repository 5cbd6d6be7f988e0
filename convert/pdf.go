package convert

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/formats"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/links"
	"github.com/readthru/readthru/convert/pdf"
	"github.com/readthru/readthru/convert/pdflayout"
)

// The limits of converting a PDF.
const (
	headerWindow = 1024     // bytes in which a PDF's header may stand
	maxPDFText   = 10 << 20 // bytes of text taken from one PDF
)

// pdf makes the markdown of a PDF. Package pdf reads its glyphs, package pdflayout makes blocks of them, and package
// formats writes those. A comment with the page number precedes the first block of each page, so that a reader can find
// a quotation. A file that cannot be read leaves a warning and no text.
func (d *Document) pdf(ctx context.Context, content []byte) {
	f, err := pdf.Open(ctx, content)
	if err != nil {
		guard.Check(ctx)
		warning := WarnDamaged
		if errors.Is(err, pdf.ErrEncrypted) {
			warning = WarnEncrypted
		}
		d.head.Title = d.fileName()
		d.warnings = append(d.warnings, warning)
		return
	}
	var pages []*pdflayout.Page
	size, unmapped, pictures, cut := 0, 0, 0, false
	var notes []pdf.Note
	for p, err := range f.Pages(ctx) {
		if err != nil {
			guard.Stop(err)
		}
		notes = append(notes, p.Notes...)
		if len(p.Unseen) > 0 {
			notes = append(notes, pdf.Note{Text: strings.ToValidUTF8(string(p.Unseen), ""), Hidden: true})
		}
		unmapped += p.Unmapped
		pictures += p.Images
		q := pdflayout.NewPage(ctx, p, linkable)
		if size += q.Length(); size > maxPDFText {
			cut = true
			break
		}
		pages = append(pages, q)
	}
	// What repeats in margins is known only when all pages have been read.
	pdflayout.DropMargins(pages)
	blocks := pdflayout.Blocks(ctx, pages)
	d.ready = formats.PDF(ctx, blocks)
	if d.head.Title = cmp.Or(sensibleTitle(f.Title), formats.PDFTitle(blocks)); d.head.Title == "" {
		d.head.Title = d.fileName()
	}
	d.head.Meta = map[string]string{}
	head.Put(d.head.Meta, "title", d.head.Title)
	head.Put(d.head.Meta, "author", chars.Clip(f.Author))
	head.Put(d.head.Meta, "lang", chars.Clip(f.Lang))
	if !f.Created.IsZero() {
		head.Put(d.head.Meta, "date", f.Created.Format(time.RFC3339))
	}
	d.reportHidden(d.notes(ctx, notes))
	if unmapped > 0 {
		d.warnings = append(d.warnings, WarnUnmapped+"="+strconv.Itoa(unmapped))
	}
	switch {
	case chars.Words(d.ready) == 0 && pictures == 0 && f.Repaired():
		d.ready = ""
		d.warnings = append(d.warnings, WarnDamaged)
	case chars.Words(d.ready) == 0:
		d.ready = ""
		d.warnings = append(d.warnings, WarnScanned)
	case cut:
		d.warnings = append(d.warnings, WarnTooLarge)
	}
	if f.Cut() && !cut {
		d.warnings = append(d.warnings, WarnDamaged)
	}
}

// notes reports annotations of a PDF, and what nobody sees of its pages: of each page one text. The markdown has
// nothing of them but what it says itself.
func (d *Document) notes(ctx context.Context, notes []pdf.Note) hidden.Report {
	if len(notes) == 0 {
		return hidden.Report{}
	}
	said := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	said.AppendChild(&html.Node{Type: html.TextNode, Data: d.ready})
	w := hidden.NewFinal(said)
	for _, note := range notes {
		kind := archive.Annotation
		if note.Hidden {
			kind = ""
		}
		w.Left(kind, note.Text)
	}
	w.Clean(ctx, said)
	return w.Report()
}

// sensibleTitle returns the title that a PDF states, or "" if it is a placeholder of the program that wrote the file.
// Names of files, addresses and "untitled" are such.
func sensibleTitle(s string) string {
	s = chars.Clip(s)
	lower := strings.ToLower(s)
	if len(s) < 3 || strings.HasPrefix(lower, "untitled") || strings.HasPrefix(lower, "microsoft word") ||
		strings.HasPrefix(lower, "(anonymous") || strings.HasPrefix(lower, "http") {
		return ""
	}
	for _, ending := range []string{
		".doc", ".docx", ".dvi", ".tex", ".pdf", ".indd", ".qxd", ".ps", ".rtf", ".odt",
		".html",
	} {
		if strings.HasSuffix(lower, ending) {
			return ""
		}
	}
	return s
}

// linkable reports whether a URL of a PDF may be written in markdown unchanged. Only schemes that links of pages may
// have are; package pdflayout asks it of every link.
func linkable(u string) bool {
	scheme, _, ok := strings.Cut(u, ":")
	return ok && links.Schemes[strings.ToLower(scheme)] && !strings.ContainsAny(u, " <>()\\\"\n\r\t") &&
		strings.IndexFunc(u, chars.Invisible) < 0
}
