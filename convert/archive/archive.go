// Package archive reads the parts of documents that are zip archives: those of Microsoft Office, OpenDocument and EPUB.
//
// Every file is treated as hostile: the bytes that one part and all parts unpack to are bounded, and a damaged archive
// is read as far as possible. What is left out is told by [Archive.Cut] and [Archive.Damaged].
package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/xmlread"
)

const (
	maxFiles = 20_000 // of an archive
	maxLinks = 20_000 // of a part
)

// MaxTarget is the longest address of a link, in bytes. A longer one is no link.
const MaxTarget = 4 << 10

// maxProperty is how much of a property is read, in bytes.
const maxProperty = 4 << 10

// Document is the text of a document as HTML, and its properties as the file has them. An unknown property is empty.
// Each reader of a format makes one, and package convert makes a page of it.
type Document struct {
	Title, Author, Subject string
	Date                   string // of creation, else of the last change, as written in the file
	Lang                   string
	Body                   string  // HTML: blocks, then a list of the notes
	Damaged                bool    // part of the file could not be read
	Cut                    bool    // part of the file lies beyond the limits
	Encrypted              bool    // part of the file needs a key
	Unseen                 []Piece // what the file does not show, the first texts of each kind

	hidden   map[string]int // pieces by kind
	modified string
}

// Archive is a zip archive that is open for reading. Parts are read as a whole. Several goroutines must not use it at
// once.
type Archive struct {
	ctx     context.Context
	files   map[string]*zip.File
	maxPart int // bytes that one part may unpack to
	left    int // bytes that may still be unpacked

	Damaged bool // part of the archive could not be read
	Cut     bool // part of the archive lies beyond the limits
}

// Open opens a zip archive. One part may unpack to maxPart bytes, all together to half as much again. Names of parts
// are compared without case. When ctx ends, reading panics with a value for [guard.Run]. The error says that content is
// no zip archive, or damaged at its end.
func Open(ctx context.Context, content []byte, maxPart int) (*Archive, error) {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("open the archive: %w", err)
	}
	a := &Archive{ctx: ctx, files: map[string]*zip.File{}, maxPart: maxPart, left: maxPart * 3 / 2}
	for _, f := range z.File {
		if len(a.files) == maxFiles {
			a.Cut = true
			break
		}
		a.files[key(f.Name)] = f
	}
	return a, nil
}

// key returns the name of a part of an archive in the form in which names are compared.
func key(name string) string { return strings.ToLower(strings.TrimPrefix(path.Clean(name), "/")) }

// Has reports whether there is a part of this name in the zip archive.
func (a *Archive) Has(name string) bool { return a.files[key(name)] != nil }

// Part returns the content of a part of the zip archive, nil if there is none. A part over the limit is cut, one that
// is damaged has what could be read.
func (a *Archive) Part(name string) []byte {
	guard.Check(a.ctx)
	f := a.files[key(name)]
	if f == nil {
		return nil
	}
	in, err := f.Open()
	if err != nil {
		a.Damaged = true
		return nil
	}
	defer in.Close()
	limit := min(a.maxPart, a.left)
	data, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err != nil {
		a.Damaged = true
	}
	if len(data) > limit {
		data, a.Cut = data[:limit], true
	}
	a.left -= len(data)
	return data
}

// Decoder returns a decoder of a part of the zip archive in XML, nil if there is none. The whole part is read first.
func (a *Archive) Decoder(name string) *xml.Decoder {
	if !a.Has(name) {
		return nil
	}
	return xmlread.NewDecoder(bytes.NewReader(a.Part(name)))
}

// Each calls do for every start tag of a part of the zip archive, for what has no order. do may read on with dec, as
// for the text of an element.
func (a *Archive) Each(name string, do func(dec *xml.Decoder, t xml.StartElement)) {
	dec := a.Decoder(name)
	if dec == nil {
		return
	}
	for {
		guard.Check(a.ctx)
		token, err := dec.RawToken()
		if err != nil {
			return
		}
		if t, ok := token.(xml.StartElement); ok {
			do(dec, t)
		}
	}
}

// Relation is what a part of an Office document refers to by an id. Their ids are those of one part.
type Relation struct {
	Kind   string // the last element of its type: hyperlink, slide, worksheet
	Target string // an address, or the name of a part
}

// Relations returns what an Office part refers to, by id (ECMA-376 part 2, §9). Addresses that are too long are left
// out; names of parts are those of the archive.
func (a *Archive) Relations(part string) map[string]Relation {
	found := map[string]Relation{}
	dir, name := path.Split(part)
	a.Each(dir+"_rels/"+name+".rels", func(_ *xml.Decoder, t xml.StartElement) {
		target := xmlread.Attr(t, "Target")
		if t.Name.Local != "Relationship" || len(found) >= maxLinks || len(target) > MaxTarget {
			return
		}
		if xmlread.Attr(t, "TargetMode") != "External" && !strings.Contains(target, "://") {
			if !strings.HasPrefix(target, "/") {
				target = path.Join(dir, target)
			}
			target = strings.TrimPrefix(target, "/")
		}
		found[xmlread.Attr(t, "Id")] = Relation{path.Base(xmlread.Attr(t, "Type")), target}
	})
	return found
}

// RelationID returns the id by which an element refers to one of its part's [Archive.Relations]. It may have an id of
// its own, which is in no namespace.
func RelationID(t xml.StartElement) string {
	for _, a := range t.Attr {
		if a.Name.Space != "" && a.Name.Local == "id" {
			return a.Value
		}
	}
	return ""
}

// Properties reads the properties of an Office document, which are in docProps/core.xml, or of an OpenDocument, in
// meta.xml.
func (a *Archive) Properties(part string, d *Document) {
	a.Each(part, func(dec *xml.Decoder, t xml.StartElement) { d.Property(dec, t) })
	d.Date = cmp.Or(d.Date, d.modified)
}

// Property takes a property of the Dublin Core, or one of those that OpenDocument has beside them. t is its start tag,
// dec stands behind it. The first of each counts.
func (d *Document) Property(dec *xml.Decoder, t xml.StartElement) {
	var field *string
	switch t.Name.Local {
	case "title":
		field = &d.Title
	case "creator", "initial-creator":
		field = &d.Author
	case "created", "creation-date", "date":
		field = &d.Date
	case "modified":
		field = &d.modified
	case "subject", "description":
		field = &d.Subject
	case "language":
		field = &d.Lang
	default:
		return
	}
	if token, err := dec.RawToken(); err == nil {
		if text, ok := token.(xml.CharData); ok && *field == "" {
			*field = strings.ToValidUTF8(string(text[:min(len(text), maxProperty)]), "")
		}
	}
}
