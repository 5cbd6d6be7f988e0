package xlsx

import (
	"encoding/xml"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/xmlread"
)

// Whether people see a text is for the converter of HTML to say. This file tells it how the letters of a cell look
// where they may not be seen: small ones have their size, and those in a color like that of their cell both colors.

// A letter is how letters look: six hexadecimal digits, "" for a color that is not known; points, 0 for the usual size.
type letter struct {
	color string
	size  float64
}

// A run is a part of a text that may have a look of its own. What it does not say is that of its cell.
type run struct {
	text string
	letter
	own bool // it says its color
}

// cellStyle is how a style shows cells.
type cellStyle struct {
	letter
	fill             string // color of the cell, "" if it is not known
	noNumber, noText bool   // its format shows none
}

// styles are the tables of the looks of cells while they are read. section is the table that is being read.
type styles struct {
	section string
	fonts   []letter
	fills   []string
	blank   map[int][2]bool // formats that show no number, or no text
}

// maxStyles bounds each table of styles.
const maxStyles = 100_000

// read takes an element of the part that has the styles. Elements of cellXfs refer to fonts and fills by their places
// in their tables.
func (s *styles) read(t xml.StartElement) {
	switch name := t.Name.Local; name {
	case "fonts", "fills", "borders", "cellStyleXfs", "cellXfs", "cellStyles", "dxfs", "tableStyles", "colors",
		"numFmts":
		s.section = name
	case "numFmt":
		id, err := strconv.Atoi(xmlread.Attr(t, "numFmtId"))
		if parts := strings.Split(xmlread.Attr(t, "formatCode"), ";"); err == nil && len(s.blank) < maxStyles {
			s.blank[id] = [2]bool{len(parts) > 2 && empty(parts[:3]), len(parts) > 3 && empty(parts[3:])}
		}
	case "font":
		if s.section == "fonts" && len(s.fonts) < maxStyles {
			s.fonts = append(s.fonts, letter{color: "000000"})
		}
	case "fill":
		if s.section == "fills" && len(s.fills) < maxStyles {
			s.fills = append(s.fills, "ffffff")
		}
	case "color", "sz":
		if n := len(s.fonts); s.section == "fonts" && n > 0 {
			s.fonts[n-1].read(t)
		}
	case "patternFill", "gradientFill":
		if kind := xmlread.Attr(t, "patternType"); kind != "none" && len(s.fills) > 0 && s.section == "fills" {
			s.fills[len(s.fills)-1] = ""
		}
	case "fgColor":
		if n := len(s.fills); s.section == "fills" && n > 0 && s.fills[n-1] == "" {
			s.fills[n-1] = color(t)
		}
	}
}

// empty reports whether sections of a format's code are all empty, so that a cell shows nothing.
func empty(parts []string) bool { return strings.TrimSpace(strings.Join(parts, "")) == "" }

// of returns the style of cells that an element of cellXfs makes. Without a font or fill of its own it is black on
// white.
func (s *styles) of(t xml.StartElement) cellStyle {
	c := cellStyle{letter: letter{color: "000000"}, fill: "ffffff"}
	if i, err := strconv.Atoi(xmlread.Attr(t, "fontId")); err == nil && i >= 0 && i < len(s.fonts) {
		c.letter = s.fonts[i]
	}
	if i, err := strconv.Atoi(xmlread.Attr(t, "fillId")); err == nil && i >= 0 && i < len(s.fills) {
		c.fill = s.fills[i]
	}
	if i, err := strconv.Atoi(xmlread.Attr(t, "numFmtId")); err == nil {
		c.noNumber, c.noText = s.blank[i][0], s.blank[i][1]
	}
	return c
}

// read takes the color or the size of letters.
func (l *letter) read(t xml.StartElement) {
	switch t.Name.Local {
	case "color":
		l.color = color(t)
	case "sz":
		l.size, _ = strconv.ParseFloat(xmlread.Attr(t, "val"), 64)
	}
}

// color reads a color; empty if it is not known. The first two of a theme are those of the page and of its letters. A
// tint changes a color in a way that is not computed here.
func color(t xml.StartElement) (hex string) {
	if tint := xmlread.Attr(t, "tint"); tint != "" && tint != "0" {
		return ""
	}
	if rgb := strings.ToLower(xmlread.Attr(t, "rgb")); len(rgb) == 8 {
		if _, err := strconv.ParseUint(rgb, 16, 32); err != nil {
			return ""
		}
		return rgb[2:]
	}
	switch {
	case xmlread.Attr(t, "theme") == "0", xmlread.Attr(t, "indexed") == "1", xmlread.Attr(t, "indexed") == "9":
		return "ffffff"
	case xmlread.Attr(t, "theme") == "1", xmlread.Attr(t, "indexed") == "0", xmlread.Attr(t, "indexed") == "8",
		xmlread.Attr(t, "indexed") == "64", xmlread.Attr(t, "auto") == "1":
		return "000000"
	}
	return ""
}

// alike reports whether two known colors may look the same. They differ by less than a fifth in each channel.
func alike(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	for i := 0; i < 6; i += 2 {
		x, errX := strconv.ParseUint(a[i:i+2], 16, 8)
		y, errY := strconv.ParseUint(b[i:i+2], 16, 8)
		if errX != nil || errY != nil || max(x, y)-min(x, y) > 0x30 {
			return false
		}
	}
	return true
}

// css returns how letters look on a color, "" where all can read them. fill is the color of the cell. Small is under
// eight points.
func (l letter) css(fill string) string {
	css := ""
	if l.size > 0 && l.size < 8 {
		css = "font-size:" + strconv.FormatFloat(l.size, 'f', 1, 64) + "pt;"
	}
	if alike(l.color, fill) {
		css += "background:#" + fill + ";color:#" + l.color + ";"
	}
	return css
}

// looked writes text as HTML, with the look that css says. Line breaks become br.
func looked(text, css string) string {
	text = strings.ReplaceAll(html.EscapeString(text), "\n", "<br>")
	if css == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return `<span style="` + css + `">` + text + "</span>"
}

// markup returns what a cell shows as HTML. text is what [sheet.text] returned. A format that shows nothing hides it.
func (s *sheet) markup(c *cell, text string) string {
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
	_, err := strconv.ParseFloat(text, 64)
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
func (s *sheet) filled(column, row int) bool {
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
func (s *sheet) isMerged(column int) bool {
	spans := s.merged[s.number]
	at, found := slices.BinarySearchFunc(spans, column, func(p span, column int) int { return p.left - column })
	return found || at > 0 && column <= spans[at-1].right
}

// areasOf returns the areas of a sheet that conditions or tables color, and by row the cells that lie under merged
// ones: of those the first alone is shown. It reads the sheet once before its cells, because these elements stand
// behind them.
func (b *book) areasOf(name string) (list []area, merged map[int][]span) {
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
