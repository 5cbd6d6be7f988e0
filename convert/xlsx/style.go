package xlsx

import (
	"encoding/xml"
	"html"
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

// read takes an element of the part of a workbook that has the styles of cells. Elements of cellXfs refer to fonts and
// fills by their places in their tables.
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

// read takes the color or the size of letters from an element of a workbook's styles.
func (l *letter) read(t xml.StartElement) {
	switch t.Name.Local {
	case "color":
		l.color = color(t)
	case "sz":
		l.size, _ = strconv.ParseFloat(xmlread.Attr(t, "val"), 64)
	}
}

// color reads a color of a workbook's styles; empty if it is not known. The first two of a theme are those of the page
// and of its letters. A tint changes a color in a way that is not computed here.
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

// alike reports whether two known colors of a cell's style may look the same. They differ by less than a fifth in each
// channel.
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

// css returns how letters of a cell look on a color, "" where all can read them. fill is the color of the cell. Small
// is under eight points.
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

// looked writes a text of a cell as HTML, with the look that css says. Line breaks become br.
func looked(text, css string) string {
	text = strings.ReplaceAll(html.EscapeString(text), "\n", "<br>")
	if css == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return `<span style="` + css + `">` + text + "</span>"
}
