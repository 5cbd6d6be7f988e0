package excerpt

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/knowledge/outline"
)

// PlainLine returns a passage as one line of plain text: without the marks of markdown, the targets of links and the
// lines that open and close fences. The headings that it begins with are left out, since a hit has them in its heading;
// one further down ends with a colon. A passage of nothing else is shown as it is.
func PlainLine(passage string) string { return writeLine([]string{passage}).out.String() }

// writeLine is PlainLine of a passage that comes in parts.
func writeLine(parts []string) *lineWriter {
	w := &lineWriter{}
	for _, part := range parts {
		w.md = []byte(part)
		w.parts = append(w.parts, w.out.Len())
		for b := range markdown.Blocks(w.md) {
			w.block(b)
		}
	}
	w.closeContext(w.out.Len())
	if w.out.Len() == 0 {
		for i, part := range parts {
			w.parts[i] = w.out.Len()
			w.space = true
			w.put(part)
		}
	}
	return w
}

// lineWriter writes blocks of markdown into a line.
type lineWriter struct {
	md    []byte
	out   strings.Builder
	space bool // one is due before what follows

	parts    []int // where each part begins in the line
	begins   []int // where blocks do
	contexts []lineContext
	lists    []listLine // what leads up to where the line is
	prose    listLine   // the last line that is no item
}

// block writes a block of a passage into the line: headings with a colon (those at the beginning are left out), items
// and rows with dots before them, code without its fences.
func (w *lineWriter) block(b markdown.Block) {
	w.space = true
	w.begins = append(w.begins, w.out.Len()+min(w.out.Len(), 1)) // behind the space
	switch b.Kind {
	case markdown.Heading:
		w.closeContext(w.out.Len())
		w.lists, w.prose = nil, listLine{}
		if w.out.Len() == 0 {
			return
		}
		title := outline.TitleText(b.Title(w.md))
		w.put(title)
		if title != "" && !strings.ContainsRune(".:!?…", rune(title[len(title)-1])) {
			w.put(":")
		}
	case markdown.Code:
		end := b.End
		if b.Close >= 0 {
			end = b.Close
		}
		_, start := markdown.LineAt(w.md, b.Start)
		w.put(string(w.md[min(start, end):end]))
	default:
		w.lines(w.md[b.Start:b.End], b.Kind == markdown.Table)
	}
}

// lines writes lines of text, or rows of a table, which a dot divides.
func (w *lineWriter) lines(text []byte, rows bool) {
	for at := 0; at < len(text); {
		line, next := markdown.LineAt(text, at)
		first, begun := at == 0, w.out.Len()
		at = next
		w.space = true
		from, list := markdown.Markers(line)
		rest := bytes.TrimSpace(line[from:])
		switch {
		case markdown.IsDelimiterRow(line) || isRule(line) || isDefinition(rest) || markdown.OpensFence(line):
			continue
		case rows:
			rest = withoutRepeats(bytes.Trim(rest, "| "))
			if !first {
				w.put("· ")
			}
		case list >= 0 && bytes.IndexByte([]byte("-*+"), line[list]) >= 0:
			w.put("• ")
		case list >= 0:
			w.put(string(line[list:from]))
		}
		w.put(markdown.Plain(rest))
		if rows {
			w.row(first, begun)
		} else {
			w.listed(line, list, first, begun)
		}
	}
	if rows {
		w.closeContext(w.out.Len())
	}
}

// withoutRepeats returns, for a plain line, a row of a table with a cell once that stands there again: one that spans
// columns does.
func withoutRepeats(row []byte) []byte {
	between := []byte(" | ")
	return bytes.Join(slices.CompactFunc(bytes.Split(row, between), bytes.Equal), between)
}

// isRule reports whether a line of a passage, which has nothing plain to show, is nothing but three or more marks that
// draw a line.
func isRule(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) >= 3 && bytes.IndexByte([]byte("-*_="), line[0]) >= 0 &&
		len(bytes.Trim(line, string(line[:1])+" ")) == 0
}

// isDefinition reports whether a line says where a link's name leads: [name]: target.
func isDefinition(line []byte) bool {
	name, target, ok := bytes.Cut(line, []byte("]:"))
	return ok && len(name) > 1 && name[0] == '[' && bytes.IndexByte(name, ']') < 0 && len(bytes.Fields(target)) > 0
}

// put writes text, its white space as single spaces and what nobody can see as U+FFFD.
func (w *lineWriter) put(text string) {
	for _, r := range text {
		if unicode.IsSpace(r) {
			w.space = true
			continue
		}
		if w.space && w.out.Len() > 0 {
			w.out.WriteByte(' ')
		}
		w.space = false
		if unicode.IsControl(r) {
			r = unicode.ReplacementChar
		}
		w.out.WriteRune(r)
	}
}
