package opendocument

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/xmlread"
)

// A sheet ends with a cell and a row that are repeated to its edge, so repeated cells count only when they hold
// something, and empty ones when one with content follows.

// maxEmpty is how many empty cells are written before one with content. They keep cells in their columns.
const maxEmpty = 100

// table begins a table, which in a workbook is a sheet with a name, and returns its end. A hidden one is told as
// hidden.
func (r *reader) table(t xml.StartElement) string {
	r.block("")
	if r.style(xmlread.Attr(t, "style-name")).hidden {
		r.hide()
		return ""
	}
	if r.within("spreadsheet") {
		r.out.WriteString("<h2>" + html.EscapeString(chars.Clip(xmlread.Attr(t, "name"))) + "</h2>")
	}
	r.rows = append(r.rows, row{aside: &archive.Unseen{}})
	return r.tag("table")
}

// endTable tells of what the table hides. That is in hidden rows, hidden columns and under merged cells.
func (r *reader) endTable() {
	r.doc.Hide(&r.unseen)
	if w := r.row(); w != nil {
		r.doc.Hide(w.aside)
	}
}

// maxColumn is how many columns a table may have. It is that of LibreOffice's sheets.
const maxColumn = 16384

// tableColumn notes whether columns are hidden. The cells of hidden ones are told apart.
func (r *reader) tableColumn(t xml.StartElement) {
	w := r.row()
	if w == nil {
		return
	}
	hidden := collapsed(t)
	for range repeats(t, "number-columns-repeated") {
		if len(w.columns) == maxColumn {
			return
		}
		w.columns = append(w.columns, hidden)
	}
}

// collapsed reports whether a row or a column is hidden. A filter hides rows as well.
func collapsed(t xml.StartElement) bool {
	visibility := xmlread.Attr(t, "visibility")
	return visibility == "collapse" || visibility == "filter"
}

// seen returns how many of the columns from one on are not hidden. Columns that the table does not describe are not.
func (w *row) seen(from, n int) (seen int) {
	for i := from; i < from+n; i++ {
		if i >= len(w.columns) {
			return seen + from + n - i
		}
		if !w.columns[i] {
			seen++
		}
	}
	return seen
}

// row returns the row that is being read, nil outside of tables. It is of the innermost table.
func (r *reader) row() *row {
	if n := len(r.rows); n > 0 {
		return &r.rows[n-1]
	}
	return nil
}

// repeats returns how often an element is repeated. Without the attribute it stands once.
func repeats(t xml.StartElement, attr string) int {
	n, err := strconv.Atoi(xmlread.Attr(t, attr))
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// beginRow begins a row of the innermost table.
func (r *reader) beginRow(t xml.StartElement) {
	if w := r.row(); w != nil {
		*w = row{
			aside: w.aside, columns: w.columns, rows: w.rows, gap: w.gap,
			begin: r.out.Len(), repeat: repeats(t, "number-rows-repeated"),
			hidden: collapsed(t),
		}
		r.out.WriteString("<tr>")
	}
}

// endRow ends a row: it is left out if it is empty or hidden, begins a new table after empty rows of a sheet, and is
// repeated as often as it says.
func (r *reader) endRow() {
	w := r.row()
	if w == nil {
		return
	}
	if w.filled && w.hidden { // such rows that stand together are one text
		r.unseen.Add(r.out.String()[w.begin:])
	} else if w.filled {
		r.doc.Hide(&r.unseen)
	}
	if !w.filled || w.hidden {
		r.out.Truncate(w.begin)
		w.gap = w.gap || w.rows && !w.hidden && r.within("spreadsheet")
		return
	}
	r.out.WriteString("</tr>")
	if w.gap { // empty rows part tables
		written := bytes.Clone(r.out.Bytes()[w.begin:])
		r.out.Truncate(w.begin)
		r.out.WriteString("</table><table>")
		w.begin = r.out.Len()
		r.out.Write(written)
	}
	w.rows, w.gap = true, false
	r.repeat(w.begin, w.repeat)
}

// repeat writes what begins at an offset so often that it stands there n times. More than maxRepeated, or more bytes
// than maxCopied in all, are cut.
func (r *reader) repeat(begin, n int) {
	if n == 1 {
		return
	}
	if n > maxRepeated {
		n, r.doc.Cut = maxRepeated, true
	}
	written := bytes.Clone(r.out.Bytes()[begin:])
	for range n - 1 {
		if r.copied += len(written); r.copied > maxCopied || r.out.Len() > guard.MaxInput {
			r.doc.Cut = true
			return
		}
		r.out.Write(written)
	}
}

// beginCell begins a cell, with its spans.
func (r *reader) beginCell(t xml.StartElement) {
	w := r.row()
	if w == nil {
		return
	}
	w.cell, w.repeatCell = r.out.Len(), repeats(t, "number-columns-repeated")
	r.out.WriteString("<td")
	for attr, name := range map[string]string{
		"number-columns-spanned": "colspan", "number-rows-spanned": "rowspan",
	} {
		if n := repeats(t, attr); n > 1 {
			fmt.Fprintf(&r.out, ` %s="%d"`, name, min(n, guard.MaxColspan))
		}
	}
	r.out.WriteString(">")
	w.text = r.out.Len()
	if t.Name.Local == "covered-table-cell" { // by one that spans it
		w.text = -1
	}
}

// endCell ends a cell: it is left out if it is empty, hidden or under a merged one, and repeated as often as it says.
func (r *reader) endCell() {
	w := r.row()
	if w == nil {
		return
	}
	seen := w.seen(w.column, w.repeatCell)
	w.column += w.repeatCell
	switch {
	case w.text < 0, seen == 0:
		w.aside.Add(r.out.String()[w.cell:])
		r.out.Truncate(w.cell)
	case blank(r.out.Bytes()[w.text:]):
		r.out.Truncate(w.cell)
		w.pending += seen
	default:
		written := append(bytes.Clone(r.out.Bytes()[w.cell:]), "</td>"...)
		r.out.Truncate(w.cell)
		if w.pending > maxEmpty {
			w.pending, r.doc.Cut = maxEmpty, true
		}
		r.out.WriteString(strings.Repeat("<td></td>", w.pending))
		w.pending, w.filled = 0, true
		begin := r.out.Len()
		r.out.Write(written)
		r.repeat(begin, seen)
	}
}

// blank reports whether the content of a cell is empty paragraphs. Such a cell is empty.
func blank(content []byte) bool {
	for len(content) > 0 {
		rest, ok := bytes.CutPrefix(content, []byte("<p>"))
		if !ok {
			rest, ok = bytes.CutPrefix(content, []byte("</p>"))
		}
		if !ok {
			return len(bytes.TrimSpace(content)) == 0
		}
		content = rest
	}
	return true
}
