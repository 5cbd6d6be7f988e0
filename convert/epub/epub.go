// Package epub reads the books of the EPUB format as one page of HTML, which a converter of HTML then takes like any
// page: the chapters in reading order.
//
// Every file is treated as hostile: unpacked bytes, chapters and output are bounded, and a damaged file is read as far
// as possible. When its context ends, [Read] panics with a value for [guard.Run].
package epub

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/xmlread"
)

// Type is the media type of a book.
const Type = "application/epub+zip"

// maxChapters is how many chapters of a book are read. A book has some dozens.
const maxChapters = 5000

// Is reports whether a zip archive states at its beginning that it is a book. The part "mimetype" is stored first and
// uncompressed, for that purpose.
func Is(content []byte) bool {
	return bytes.Contains(content[:min(len(content), 256)], []byte("mimetype"+Type))
}

// Read reads a book (EPUB 3, and 2). Chapters outside of the reading order and the table of contents are left out.
// Links between chapters lead to the place within the page, and pictures are their descriptions. asHTML turns the XHTML
// of a chapter into HTML. clean takes out of the body of a chapter what its sheets hide, which stand in its head by
// then. One part may unpack to maxPart bytes. Read fails if content is not a zip archive.
func Read(
	ctx context.Context, content []byte, maxPart int, asHTML func([]byte) []byte, clean func(root, body *html.Node),
) (*archive.Document, error) {
	files, err := archive.Open(ctx, content, maxPart)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what was being done
	}
	b := &book{
		ctx: ctx, files: files, asHTML: asHTML, clean: clean, items: map[string]item{}, encrypted: map[string]bool{},
	}
	b.readEncryption()
	b.readPackage()
	for _, id := range b.order {
		if b.out.Len() > guard.MaxInput {
			b.doc.Cut = true
			break
		}
		if it := b.items[id]; !strings.Contains(" "+it.properties+" ", " nav ") {
			b.chapter(it.part)
		}
	}
	b.doc.Body, b.doc.Damaged, b.doc.Cut = b.out.String(), b.doc.Damaged || files.Damaged, b.doc.Cut || files.Cut
	return &b.doc, nil
}

// book is a book that is being read. It is made for one [Read].
type book struct {
	ctx       context.Context
	files     *archive.Archive
	asHTML    func([]byte) []byte
	clean     func(root, body *html.Node)
	sheets    int             // bytes of style sheets that were taken
	items     map[string]item // by id
	order     []string        // ids of the chapters
	encrypted map[string]bool // parts
	doc       archive.Document
	out       bytes.Buffer
}

// item is a part that the book's manifest lists.
type item struct{ part, properties string }

// readEncryption reads which parts need a key. Only fonts are encrypted in many books, which nobody reads here.
func (b *book) readEncryption() {
	b.files.Each("META-INF/encryption.xml", func(_ *xml.Decoder, t xml.StartElement) {
		if t.Name.Local == "CipherReference" && len(b.encrypted) < maxChapters {
			if part, err := url.PathUnescape(xmlread.Attr(t, "URI")); err == nil {
				b.encrypted[part] = true
			}
		}
	})
}

// readPackage reads the properties of the book, its parts and their order. The container names the package document,
// which has a manifest of parts and a spine of chapters.
func (b *book) readPackage() {
	root := ""
	b.files.Each("META-INF/container.xml", func(_ *xml.Decoder, t xml.StartElement) {
		if t.Name.Local == "rootfile" && root == "" {
			root = xmlread.Attr(t, "full-path")
		}
	})
	if !b.files.Has(root) {
		b.doc.Damaged = true
		return
	}
	b.files.Each(root, func(dec *xml.Decoder, t xml.StartElement) {
		switch t.Name.Local {
		case "item":
			href, err := url.PathUnescape(xmlread.Attr(t, "href"))
			if err == nil && len(b.items) < 4*maxChapters {
				b.items[xmlread.Attr(t, "id")] = item{path.Join(path.Dir(root), href), xmlread.Attr(t, "properties")}
			}
		case "itemref":
			if len(b.order) == maxChapters {
				b.doc.Cut = true
				return
			}
			b.order = append(b.order, xmlread.Attr(t, "idref"))
		default:
			if t.Name.Space == "dc" {
				b.doc.Property(dec, t)
			}
		}
	})
}

// chapter writes the body of a part. A part that needs a key or is missing is told, and left out.
func (b *book) chapter(part string) {
	switch {
	case b.encrypted[part]:
		b.doc.Encrypted = true
		return
	case !b.files.Has(part):
		b.doc.Damaged = true
		return
	}
	root, _, err := dom.Parse(b.ctx, b.asHTML(b.files.Part(part)))
	guard.Check(b.ctx)
	if err != nil {
		b.doc.Damaged = true
		return
	}
	body := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Body) })
	if body == nil {
		return
	}
	b.style(root, path.Dir(part))
	b.clean(root, body)
	for n := range body.Descendants() {
		if n.Type == html.ElementNode {
			place(n)
		}
	}
	for c := range body.ChildNodes() {
		if err := html.Render(&b.out, c); err != nil {
			b.doc.Damaged = true
		}
	}
}

// maxSheets bounds the style sheets of all chapters together, in bytes: each is read anew for each chapter.
const maxSheets = 8 << 20

// style puts the style sheets that a chapter links to into the chapter, in their places. Package css reads only what is
// in the page.
func (b *book) style(root *html.Node, dir string) {
	for _, n := range dom.FindAll(root, func(n *html.Node) bool { return dom.Is(n, atom.Link) }) {
		rel := " " + strings.ToLower(dom.Attr(n, "rel")) + " "
		href, err := url.PathUnescape(dom.Attr(n, "href"))
		part := path.Join(dir, href)
		if err != nil || !strings.Contains(rel, " stylesheet ") || strings.Contains(rel, " alternate ") ||
			!b.files.Has(part) {
			continue
		}
		sheet := b.files.Part(part)
		if b.sheets += len(sheet); b.sheets > maxSheets {
			return
		}
		style := &html.Node{Type: html.ElementNode, DataAtom: atom.Style, Data: "style"}
		if media := dom.Attr(n, "media"); media != "" {
			dom.SetAttr(style, "media", media)
		}
		style.AppendChild(dom.NewText(string(sheet)))
		n.Parent.InsertBefore(style, n)
		dom.Remove(n) // what it says is known
	}
}

// place makes the addresses in an element of a chapter those of one page. What lies in the archive has no address.
// Fragments are kept, so that links between chapters work if ids differ.
func place(n *html.Node) {
	for _, key := range []string{"href", "src", "srcset", "poster"} {
		if !dom.HasAttr(n, key) {
			continue
		}
		address, err := url.Parse(dom.Attr(n, key))
		switch {
		case err == nil && address.IsAbs() && key != "srcset":
		case err == nil && address.Fragment != "":
			dom.SetAttr(n, key, "#"+address.EscapedFragment())
		default:
			dom.DropAttr(n, key)
		}
	}
}
