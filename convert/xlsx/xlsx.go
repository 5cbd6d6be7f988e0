// Package xlsx reads the workbooks of Microsoft Excel and others (ECMA-376) as HTML, which a converter of HTML then
// takes like any page: a heading and tables for each sheet. What the workbook hides is left out and told apart: sheets,
// rows, columns, and cells under merged ones.
//
// Every file is treated as hostile: unpacked bytes, cells and output are bounded, and a damaged file is read as far as
// possible. When its context ends, [Read] panics with a value for [guard.Run].
package xlsx

import (
	"bytes"
	"context"
	"encoding/xml"
	"html"
	"strings"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/xmlread"
)

// Type is the media type of a workbook.
const Type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// The limits of a workbook: Excel's own for columns, and ours for sheets.
const (
	maxColumn = 16384 // that a cell may have
	maxSheets = 1000
)

// Read reads a workbook (ECMA-376 part 1, §18): the values of cells as they are stored, dates by the format of their
// cell, links. Empty rows part one table from the next. Comments are told apart. One part may unpack to maxPart bytes.
// Read fails if content is not a zip archive.
func Read(ctx context.Context, content []byte, maxPart int) (*archive.Document, error) {
	files, err := archive.Open(ctx, content, maxPart)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what was being done
	}
	b := &workbook{ctx: ctx, files: files, rich: map[int][]run{}}
	files.Properties("docProps/core.xml", &b.doc)
	b.readStrings()
	b.readFormats()
	b.readSheets()
	b.doc.Body, b.doc.Damaged, b.doc.Cut = b.out.String(), b.doc.Damaged || files.Damaged, b.doc.Cut || files.Cut
	return &b.doc, nil
}

// workbook is a workbook that is being read. It is made for one [Read].
type workbook struct {
	ctx     context.Context
	files   *archive.Archive
	strings []string      // that cells refer to by number
	rich    map[int][]run // those of them that have parts with looks of their own
	forms   []form
	looks   []cellStyle
	since   int // year of the first day
	doc     archive.Document
	out     bytes.Buffer
}

// readStrings reads the texts that the cells share. Readings of Asian words (rPh) are left out. They are kept in
// memory, as cells refer to them in any order; the archive bounds their size.
func (b *workbook) readStrings() {
	dec := b.files.Decoder("xl/sharedStrings.xml")
	if dec == nil {
		return
	}
	var text strings.Builder
	var runs []run
	inText, skip, styled := false, false, false
	for {
		guard.Check(b.ctx)
		token, err := dec.RawToken()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "si":
				text.Reset()
				runs, styled = nil, false
			case "r":
				runs = append(runs, run{})
			case "color", "sz":
				if n := len(runs); n > 0 {
					runs[n-1].read(t)
					runs[n-1].own, styled = runs[n-1].own || t.Name.Local == "color", true
				}
			case "t":
				inText = !skip
			case "rPh":
				skip = true
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "si":
				if styled {
					b.rich[len(b.strings)] = runs
				}
				b.strings = append(b.strings, text.String())
			case "t":
				inText = false
			case "rPh":
				skip = false
			}
		case xml.CharData:
			if inText {
				text.Write(t)
				if n := len(runs); n > 0 {
					runs[n-1].text += string(t)
				}
			}
		}
	}
}

// readSheets reads the sheets in the order of the workbook. Hidden ones are read for what they hide. Comments come
// last.
func (b *workbook) readSheets() {
	const part = "xl/workbook.xml"
	if !b.files.Has(part) {
		b.doc.Damaged = true
		return
	}
	type sheet struct {
		name, id string
		hidden   bool
	}
	var sheets []sheet
	b.since = 1900
	b.files.Each(part, func(_ *xml.Decoder, t xml.StartElement) {
		switch t.Name.Local {
		case "workbookPr":
			if on := xmlread.Attr(t, "date1904"); on == "1" || on == "true" {
				b.since = 1904
			}
		case "sheet":
			if len(sheets) == maxSheets {
				b.doc.Cut = true
				return
			}
			state := xmlread.Attr(t, "state")
			sheets = append(sheets, sheet{
				xmlread.Attr(t, "name"), archive.RelationID(t), state != "" && state != "visible",
			})
		}
	})
	relations := b.files.Relations(part)
	for _, s := range sheets {
		name := relations[s.id].Target
		switch {
		case !b.files.Has(name):
			b.doc.Damaged = b.doc.Damaged || !s.hidden
		case s.hidden:
			b.sheet(name, true)
		default:
			b.out.WriteString("<h2>" + html.EscapeString(s.name) + "</h2>")
			b.sheet(name, false)
		}
	}
	for _, s := range sheets {
		b.files.Comments(b.files.Relations(relations[s.id].Target), &b.doc)
	}
	b.files.Comments(relations, &b.doc)
}
