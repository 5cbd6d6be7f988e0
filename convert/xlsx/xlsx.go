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
	"maps"
	"slices"
	"strconv"
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
	b := &book{ctx: ctx, files: files, rich: map[int][]run{}}
	files.Properties("docProps/core.xml", &b.doc)
	b.readStrings()
	b.readFormats()
	b.readSheets()
	b.doc.Body, b.doc.Damaged, b.doc.Cut = b.out.String(), b.doc.Damaged || files.Damaged, b.doc.Cut || files.Cut
	return &b.doc, nil
}

// book is a workbook that is being read. It is made for one [Read].
type book struct {
	ctx     context.Context
	files   *archive.Archive
	strings []string      // that cells refer to by number
	rich    map[int][]run // those of them that have parts with looks of their own
	dates   []dateForm
	looks   []cellStyle
	since   int // year of the first day
	doc     archive.Document
	out     bytes.Buffer
}

// readStrings reads the texts that the cells share. Readings of Asian words (rPh) are left out. They are kept in
// memory, as cells refer to them in any order; the archive bounds their size.
func (b *book) readStrings() {
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
func (b *book) readSheets() {
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

// sheet is a sheet that is being read. A table gathers rows until an empty one ends it.
type sheet struct {
	*book
	unseen bool              // the whole sheet
	hidden map[int]bool      // columns
	merged map[int][]span    // by row, the cells under those that were merged with them
	links  map[string]string // by cell
	table  []map[int]string  // HTML of the cells of each row, by column
	row    map[int]string
	areas  []area // whose colors are not known
	skip   bool   // the row is hidden
	number int    // of the row before

	away  archive.Unseen          // rows that are hidden, or the whole sheet
	aside map[int]*archive.Unseen // columns that are hidden
	under archive.Unseen          // cells under merged ones
}

// sheet reads one sheet and writes its tables. unseen says that the workbook hides it: then its cells are told apart,
// and nothing is written.
func (b *book) sheet(name string, unseen bool) {
	s := &sheet{
		book: b, unseen: unseen, hidden: map[int]bool{}, links: b.links(name), aside: map[int]*archive.Unseen{},
	}
	// What decides on the cells stands behind them in the file, and so is read first.
	s.areas, s.merged = b.areasOf(name)
	dec := b.files.Decoder(name)
	var c cell
	value, inCell := false, false
	for {
		guard.Check(b.ctx)
		token, err := dec.RawToken()
		if err != nil {
			break
		}
		if b.out.Len() > guard.MaxInput {
			b.doc.Cut = true
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "col":
				s.column(t)
			case "row":
				s.begin(t)
			case "c":
				c = s.cell(t, c.column)
				inCell = true
			case "r":
				c.runs = append(c.runs, run{})
			case "color", "sz":
				if n := len(c.runs); n > 0 && inCell {
					c.runs[n-1].read(t)
					c.runs[n-1].own = c.runs[n-1].own || t.Name.Local == "color"
				}
			case "v", "t":
				value = true
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "row":
				s.end()
				c = cell{}
			case "c":
				s.add(&c)
				inCell = false
			case "v", "t":
				value = false
			}
		case xml.CharData:
			if value {
				c.value.Write(t)
				if n := len(c.runs); n > 0 {
					c.runs[n-1].text += string(t)
				}
			}
		}
	}
	s.flush()
	s.doc.Hide(&s.away)
	s.doc.Hide(&s.under)
	for _, column := range slices.Sorted(maps.Keys(s.aside)) {
		s.doc.Hide(s.aside[column])
	}
}

// links returns the addresses of a sheet's cells. They stand behind the cells in the file. They are read before the
// cells, in a pass of their own. Keys are references such as B12.
func (b *book) links(name string) map[string]string {
	relations := b.files.Relations(name)
	links := map[string]string{}
	if len(relations) == 0 {
		return links
	}
	b.files.Each(name, func(_ *xml.Decoder, t xml.StartElement) {
		if r := relations[archive.RelationID(t)]; t.Name.Local == "hyperlink" && r.Kind == "hyperlink" {
			links[xmlread.Attr(t, "ref")] = r.Target
		}
	})
	return links
}

// column notes the columns that are hidden, or have next to no width. Their cells are told apart, column by column.
func (s *sheet) column(t xml.StartElement) {
	v := xmlread.Attr(t, "hidden")
	if width, err := strconv.ParseFloat(xmlread.Attr(t, "width"), 64); v != "1" && v != "true" &&
		(err != nil || width > .1) {
		return
	}
	first, _ := strconv.Atoi(xmlread.Attr(t, "min"))
	last, _ := strconv.Atoi(xmlread.Attr(t, "max"))
	for c := max(first, 1); c <= min(last, maxColumn); c++ {
		s.hidden[c] = true
	}
}

// begin begins a row. A row that is missing before it ends the table.
func (s *sheet) begin(t xml.StartElement) {
	number := s.number + 1
	if n, err := strconv.Atoi(xmlread.Attr(t, "r")); err == nil {
		number = n
	}
	if number > s.number+1 {
		s.flush()
	}
	v := xmlread.Attr(t, "hidden")
	height, err := strconv.ParseFloat(xmlread.Attr(t, "ht"), 64)
	s.number, s.row, s.skip = number, map[int]string{}, v == "1" || v == "true" || err == nil && height < 1
	if !s.skip && !s.unseen { // rows that stand together are one text
		s.doc.Hide(&s.away)
	}
}

// end ends a row: it is gathered for the table, or ends the table if it is empty.
func (s *sheet) end() {
	switch {
	case s.skip, s.unseen:
	case len(s.row) == 0:
		s.flush()
	default:
		s.table = append(s.table, s.row)
	}
	s.row = nil
}

// cell is a cell that is being read. kind is the attribute t, which says what value is (§18.18.11).
type cell struct {
	ref, kind string
	column    int
	style     int
	value     strings.Builder
	runs      []run // of a text that stands in the cell itself
}

// cell begins a cell, which without a reference stands behind the one before. before is the column of that one.
func (s *sheet) cell(t xml.StartElement, before int) cell {
	c := cell{ref: xmlread.Attr(t, "r"), kind: xmlread.Attr(t, "t"), column: before + 1}
	c.style, _ = strconv.Atoi(xmlread.Attr(t, "s"))
	if column, _ := place(c.ref); column > 0 {
		c.column = column
	}
	return c
}

// add takes a cell that has ended: into its row if it is shown, else to what is told apart of hidden rows, hidden
// columns or merged cells.
func (s *sheet) add(c *cell) {
	text := strings.TrimSpace(s.text(c))
	if text == "" || s.row == nil || c.column > maxColumn {
		return
	}
	switch {
	case s.skip || s.unseen:
		s.away.Add(html.EscapeString(text))
		return
	case s.hidden[c.column]:
		if s.aside[c.column] == nil {
			s.aside[c.column] = &archive.Unseen{}
		}
		s.aside[c.column].Add(html.EscapeString(text))
		return
	case s.isMerged(c.column):
		s.under.Add(html.EscapeString(text))
		return
	}
	markup := s.markup(c, text)
	if target := s.links[c.ref]; target != "" {
		markup = `<a href="` + html.EscapeString(target) + `">` + markup + "</a>"
	}
	s.row[c.column] = markup
}

// text returns what a cell shows. A formula shows the value that was computed last.
func (s *sheet) text(c *cell) string {
	value := c.value.String()
	switch c.kind {
	case "s":
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 0 && n < len(s.strings) {
			return s.strings[n]
		}
		return ""
	case "b":
		if value == "1" {
			return "TRUE"
		}
		return "FALSE"
	case "", "n":
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return value
		}
		if c.style >= 0 && c.style < len(s.dates) && s.dates[c.style] != noDate {
			return s.dates[c.style].text(n, s.since)
		}
		return number(value, n)
	}
	return value
}

// number returns a number without the noise of its binary form: 0.1 is stored as 0.10000000000000001. stored is how the
// file has it. Short ones stay as they are.
func number(stored string, n float64) string {
	if len(stored) < 16 && !strings.ContainsAny(stored, "eE") {
		return stored
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// flush writes the rows that were gathered: rows of one cell above the table as paragraphs, others as a table. Columns
// that none of the rows has are left out. The first row is the header. A table that is too large for the output is cut,
// and the document says so.
func (s *sheet) flush() {
	rows := s.table
	s.table = nil
	for len(rows) > 0 && len(rows[0]) == 1 && (len(rows) == 1 || len(rows[1]) > 1) { // a title above the table
		for _, text := range rows[0] {
			s.out.WriteString("<p>" + text + "</p>")
		}
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return
	}
	used := map[int]bool{}
	for _, row := range rows {
		for c := range row {
			used[c] = true
		}
	}
	columns := slices.Sorted(maps.Keys(used))
	if len(columns)*len(rows) > guard.MaxInput/4 {
		s.doc.Cut = true
		rows = rows[:max(1, guard.MaxInput/4/len(columns))]
	}
	s.out.WriteString("<table>")
	for i, row := range rows {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		s.out.WriteString("<tr>")
		for _, c := range columns {
			s.out.WriteString("<" + tag + ">" + row[c] + "</" + tag + ">")
		}
		s.out.WriteString("</tr>")
	}
	s.out.WriteString("</table>")
}
