package opendocument

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/xmlread"
)

// A sheet ends with a cell and a row that are repeated to its edge, so repeated cells count only when they hold
// something, and empty ones when one with content follows.

// maxEmpty is how many empty cells are written before one with content. They keep cells in their columns.
const maxEmpty = 100

// table begins a table, which in a workbook is a sheet with a name, and returns its end. A hidden one is told as
// hidden.
func (r *odfReader) table(t xml.StartElement) string {
	r.block("")
	if r.style(xmlread.Attr(t, "style-name")).hidden {
		r.hide()
		return ""
	}
	if r.within("spreadsheet") {
		r.out.WriteString("<h2>" + html.EscapeString(xmlread.Attr(t, "name")) + "</h2>")
	}
	r.rows = append(r.rows, row{aside: &archive.Unseen{}})
	return r.tag("table")
}

// endTable tells of what the table hides. That is in hidden rows, hidden columns and under merged cells.
func (r *odfReader) endTable() {
	r.doc.Hide(&r.unseen)
	if w := r.row(); w != nil {
		r.doc.Hide(w.aside)
	}
}

// maxColumn is how many columns a table may have. It is that of LibreOffice's sheets.
const maxColumn = 16384

// tableColumn notes whether columns are hidden. The cells of hidden ones are told apart.
func (r *odfReader) tableColumn(t xml.StartElement) {
	w := r.row()
	if w == nil {
		return
	}
	c := column{r.collapsed(t), xmlread.Attr(t, "default-cell-style-name")}
	for range repeats(t, "number-columns-repeated") {
		if len(w.columns) == maxColumn {
			return
		}
		w.columns = append(w.columns, c)
	}
}

// collapsed reports whether a row or a column is hidden. A filter hides rows as well, and a style without size any.
func (r *odfReader) collapsed(t xml.StartElement) bool {
	visibility := xmlread.Attr(t, "visibility")
	return visibility == "collapse" || visibility == "filter" || r.style(xmlread.Attr(t, "style-name")).hidden
}

// seen returns how many of the columns of an OpenDocument table, from one on, are not hidden. Columns that the table
// does not describe are not.
func (w *row) seen(from, n int) (seen int) {
	for i := from; i < from+n; i++ {
		if i >= len(w.columns) {
			return seen + from + n - i
		}
		if !w.columns[i].hidden {
			seen++
		}
	}
	return seen
}

// row returns the row that is being read, nil outside of tables. It is of the innermost table.
func (r *odfReader) row() *row {
	if n := len(r.rows); n > 0 {
		return &r.rows[n-1]
	}
	return nil
}

// repeats returns how often a row, a column or a cell of an OpenDocument table is repeated. Without the attribute it
// stands once.
func repeats(t xml.StartElement, attr string) int {
	n, err := strconv.Atoi(xmlread.Attr(t, attr))
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// beginRow begins a row of the innermost table.
func (r *odfReader) beginRow(t xml.StartElement) {
	if w := r.row(); w != nil {
		*w = row{
			aside: w.aside, columns: w.columns, rows: w.rows, gap: w.gap,
			begin: r.out.Len(), repeat: repeats(t, "number-rows-repeated"),
			hidden: r.collapsed(t), style: xmlread.Attr(t, "default-cell-style-name"),
		}
		r.out.WriteString("<tr>")
	}
}

// endRow ends a row: it is left out if it is empty or hidden, begins a new table after empty rows of a sheet, and is
// repeated as often as it says.
func (r *odfReader) endRow() {
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
func (r *odfReader) repeat(begin, n int) {
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
func (r *odfReader) beginCell(t xml.StartElement) {
	w := r.row()
	if w == nil {
		return
	}
	w.cell, w.repeatCell = r.out.Len(), repeats(t, "number-columns-repeated")
	if w.tag = "td"; !w.rows && !r.within("spreadsheet") || r.within("table-header-rows") {
		w.tag = "th"
	}
	r.out.WriteString("<" + w.tag)
	for attr, name := range map[string]string{
		"number-columns-spanned": "colspan", "number-rows-spanned": "rowspan",
	} {
		if n := repeats(t, attr); n > 1 {
			fmt.Fprintf(&r.out, ` %s="%d"`, name, min(n, guard.MaxColspan))
		}
	}
	s := r.cellStyle(t)
	if css := s.css(r.ground); css != "" && r.within("spreadsheet") {
		r.out.WriteString(` style="` + css + `"`)
	}
	r.out.WriteString(">")
	w.text, w.value = r.out.Len(), xmlread.Attr(t, "string-value")
	w.covered, w.blank = t.Name.Local == "covered-table-cell", r.blank[s.format]
}

// endCell ends a cell: it is left out if it is empty, hidden or under a merged one, and repeated as often as it says.
// The value of one whose format shows nothing is told as hidden.
func (r *odfReader) endCell() {
	w := r.row()
	if w == nil {
		return
	}
	seen, empty := w.seen(w.column, w.repeatCell), blank(r.out.Bytes()[w.text:])
	w.column += w.repeatCell
	if w.covered || w.blank || empty || seen == 0 {
		unseen := r.out.String()[w.cell:]
		if empty {
			unseen = html.EscapeString(w.value) // the form in which it stands shows nothing
		}
		w.aside.Add(unseen)
		r.out.Truncate(w.cell)
		if !w.covered {
			w.pending += seen
		}
		return
	}
	written := append(bytes.Clone(r.out.Bytes()[w.cell:]), "</"+w.tag+">"...)
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

// blank reports whether what is written has no text. A cell of empty paragraphs is empty.
func blank(content []byte) bool {
	for len(content) > 0 && content[0] == '<' {
		_, content, _ = bytes.Cut(content, []byte(">"))
		content = bytes.TrimSpace(content)
	}
	return len(bytes.TrimSpace(content)) == 0
}

// row is a row that is being read. One is kept for each open table, and begun anew for each of its rows.
type row struct {
	begin, repeat    int // where it begins in out
	cell, repeatCell int // the same of its cell
	text             int // where the content of the cell begins
	hidden, filled   bool
	style            string          // of cells without one
	columns          []column        // of the table
	aside            *archive.Unseen // of the table: what is in these, and under merged cells
	column           int             // at which the cell begins
	value            string          // of the cell, which may not show it
	tag              string          // the cell's, td or th
	covered, blank   bool            // another cell lies over the cell; its format shows nothing
	rows             bool            // the table has rows before this one
	gap              bool            // and then empty ones
	pending          int             // empty cells that are only written before one with content
}

// column is a column of a table.
type column struct {
	hidden bool
	style  string // of cells without one
}
