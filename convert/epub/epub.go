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

const maxChapters = 5000

// Is reports whether a zip archive states at its beginning that it is a book.
func Is(content []byte) bool {
	return bytes.Contains(content[:min(len(content), 256)], []byte("mimetype"+Type))
}

// Read reads a book (EPUB 3, and 2). Chapters outside of the reading order and the table of contents are left out.
// Links between chapters lead to the place within the page, and pictures are their descriptions. asHTML turns the XHTML
// of a chapter into HTML. One part may unpack to maxPart bytes. Read fails if content is not a zip archive.
func Read(ctx context.Context, content []byte, maxPart int, asHTML func([]byte) []byte) (*archive.Document, error) {
	files, err := archive.Open(ctx, content, maxPart)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what was being done
	}
	b := &book{ctx: ctx, files: files, asHTML: asHTML, items: map[string]item{}, encrypted: map[string]bool{}}
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

// book is a book that is being read.
type book struct {
	ctx       context.Context
	files     *archive.Archive
	asHTML    func([]byte) []byte
	items     map[string]item // by id
	order     []string        // ids of the chapters
	encrypted map[string]bool // parts
	doc       archive.Document
	out       bytes.Buffer
}

type item struct{ part, properties string }

// readEncryption reads which parts need a key.
func (b *book) readEncryption() {
	b.files.Each("META-INF/encryption.xml", func(_ *xml.Decoder, t xml.StartElement) {
		if t.Name.Local == "CipherReference" && len(b.encrypted) < maxChapters {
			if part, err := url.PathUnescape(xmlread.Attr(t, "URI")); err == nil {
				b.encrypted[part] = true
			}
		}
	})
}

// readPackage reads the properties of the book, its parts and their order.
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

// chapter writes the body of a part.
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

// place makes the addresses of an element those of one page. What lies in the archive has no address.
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
