package xlsx

import (
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

// worksheet is a sheet of a workbook that is being read. A table gathers rows until an empty one ends it.
type worksheet struct {
	*workbook
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
func (b *workbook) sheet(name string, unseen bool) {
	s := &worksheet{
		workbook: b, unseen: unseen, hidden: map[int]bool{}, links: b.links(name), aside: map[int]*archive.Unseen{},
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
func (b *workbook) links(name string) map[string]string {
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
func (s *worksheet) column(t xml.StartElement) {
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
func (s *worksheet) begin(t xml.StartElement) {
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
func (s *worksheet) end() {
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
func (s *worksheet) cell(t xml.StartElement, before int) cell {
	c := cell{ref: xmlread.Attr(t, "r"), kind: xmlread.Attr(t, "t"), column: before + 1}
	c.style, _ = strconv.Atoi(xmlread.Attr(t, "s"))
	if column, _ := place(c.ref); column > 0 {
		c.column = column
	}
	return c
}

// add takes a cell that has ended: into its row if it is shown, else to what is told apart of hidden rows, hidden
// columns or merged cells.
func (s *worksheet) add(c *cell) {
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
func (s *worksheet) text(c *cell) string {
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
		if c.style >= 0 && c.style < len(s.forms) && s.forms[c.style] != plain {
			return s.forms[c.style].text(n, s.since)
		}
		return number(value, n)
	}
	return value
}

// number returns the number of a cell without the noise of its binary form: 0.1 is stored as 0.10000000000000001.
// stored is how the file has it. Short ones stay as they are.
func number(stored string, n float64) string {
	if len(stored) < 16 && !strings.ContainsAny(stored, "eE") {
		return stored
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// flush writes the rows that were gathered: rows of one cell above the table as paragraphs, others as a table. Columns
// that none of the rows has are left out. The first row is the header. A table that is too large for the output is cut,
// and the document says so.
func (s *worksheet) flush() {
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

// markup returns what a cell shows as HTML. text is what [worksheet.text] returned. A format that shows nothing hides
// it.
func (s *worksheet) markup(c *cell, text string) string {
	style := cellStyle{letter: letter{color: "000000"}, fill: "ffffff"}
	if c.style >= 0 && c.style < len(s.looks) {
		style = s.looks[c.style]
	}
	runs := c.runs
	if n, err := strconv.Atoi(strings.TrimSpace(c.value.String())); c.kind == "s" && err == nil {
		runs = s.rich[n]
	}
	if (len(runs) > 0 || alike(style.color, style.fill)) && s.filled(c.column, s.number) {
		style.fill = "" // by a condition, or by the style of a table
	}
	_, err := strconv.ParseFloat(c.value.String(), 64)
	if isText := c.kind == "s" || c.kind == "inlineStr" || c.kind == "str" || err != nil; isText && style.noText ||
		!isText && style.noNumber {
		return looked(text, "display:none;")
	}
	if len(runs) == 0 {
		return looked(text, style.css(style.fill))
	}
	var b strings.Builder
	for _, r := range runs {
		l := r.letter
		if !r.own {
			l.color = style.color
		}
		if l.size == 0 {
			l.size = style.size
		}
		b.WriteString(looked(r.text, l.css(style.fill)))
	}
	return b.String()
}

// area is a range of cells. Columns and rows count from 1.
type area struct{ left, top, right, bottom int }

// maxAreas bounds the areas of a sheet whose colors are not known. With more, those of the whole sheet are not.
const maxAreas = 500

// filled reports whether something else than its style may color a cell. Letters are not judged by their color then.
func (s *worksheet) filled(column, row int) bool {
	if len(s.areas) == maxAreas {
		return true
	}
	for _, a := range s.areas {
		if column >= a.left && column <= a.right && row >= a.top && row <= a.bottom {
			return true
		}
	}
	return false
}

// span is a part of a row. Columns count from 1.
type span struct{ left, right int }

// maxMerged bounds the spans of a sheet that are merged with others.
const maxMerged = 100_000

// isMerged reports whether a cell of the present row lies under one that was merged with it. Files may have values in
// such cells; Excel shows none of them.
func (s *worksheet) isMerged(column int) bool {
	spans := s.merged[s.number]
	at, found := slices.BinarySearchFunc(spans, column, func(p span, column int) int { return p.left - column })
	return found || at > 0 && column <= spans[at-1].right
}

// areasOf returns the areas of a sheet that conditions or tables color, and by row the cells that lie under merged
// ones: of those the first alone is shown. It reads the sheet once before its cells, because these elements stand
// behind them.
func (b *workbook) areasOf(name string) (list []area, merged map[int][]span) {
	merged = map[int][]span{}
	spans := 0
	merge := func(a area) {
		for row := max(a.top, 1); row <= a.bottom && spans < maxMerged; row++ {
			left := a.left
			if row == a.top {
				left++
			}
			merged[row] = append(merged[row], span{left, a.right})
			spans++
		}
	}
	add := func(refs string) {
		for ref := range strings.FieldsSeq(refs) {
			if len(list) < maxAreas {
				list = append(list, areaOf(ref))
			}
		}
	}
	b.files.Each(name, func(_ *xml.Decoder, t xml.StartElement) {
		switch t.Name.Local {
		case "conditionalFormatting":
			add(xmlread.Attr(t, "sqref"))
		case "mergeCell":
			merge(areaOf(xmlread.Attr(t, "ref")))
		}
	})
	for _, r := range b.files.Relations(name) {
		if r.Kind == "table" && b.files.Has(r.Target) {
			b.files.Each(r.Target, func(_ *xml.Decoder, t xml.StartElement) {
				if t.Name.Local == "table" {
					add(xmlread.Attr(t, "ref"))
				}
			})
		}
	}
	for _, spans := range merged {
		slices.SortFunc(spans, func(a, b span) int { return a.left - b.left })
	}
	return list, merged
}

// areaOf returns the area of a reference such as B12 or A1:C3. Single references are areas of one cell.
func areaOf(ref string) area {
	first, last, ok := strings.Cut(ref, ":")
	if !ok {
		last = first
	}
	left, top := place(first)
	right, bottom := place(last)
	return area{left, top, right, bottom}
}

// place returns the column and the row of a reference such as B12. Either is 0 where the reference has none. Dollars
// are passed over.
func place(ref string) (column, row int) {
	ref = strings.ReplaceAll(ref, "$", "")
	i := 0
	for ; i < len(ref) && i < 3 && ref[i] >= 'A' && ref[i] <= 'Z'; i++ {
		column = column*26 + int(ref[i]-'A') + 1
	}
	row, _ = strconv.Atoi(ref[i:])
	return column, row
}
