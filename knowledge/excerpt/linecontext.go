package excerpt

import (
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/markdown"
)

// contextChars is the most code points of what a snippet repeats.
const contextChars = 100

// lineContext is what a range of a line is to be read with.
type lineContext struct {
	from, to int    // bytes of the line
	text     string // the header of a table, the item around, or the words before a list
	shown    int    // where that itself ends in the line
}

// listLine is a line that others may belong to.
type listLine struct {
	column int // of an item's marker; -1 for the words before a list
	text   string
	end    int // in the line
}

// row notes, for the context of others, a row of a table that was just written, from begun on.
func (w *lineWriter) row(header bool, begun int) {
	switch n := len(w.contexts); {
	case header:
		w.closeContext(begun)
		w.lists, w.prose = nil, listLine{text: w.written(begun), end: w.out.Len()}
	case n > 0 && w.contexts[n-1].to < 0: // a further row
	default:
		w.contexts = append(w.contexts, lineContext{begun, -1, w.prose.text, w.prose.end})
	}
}

// listed notes, for the context of others, a line of text that was just written, from begun on. Item is where its
// marker of a list begins, -1 for none; first is set for the first line of a block.
func (w *lineWriter) listed(line []byte, item int, first bool, begun int) {
	now := listLine{item, w.written(begun), w.out.Len()}
	if item < 0 {
		switch inside := len(w.lists); {
		case inside > 0 && (!first || markdown.Indentation(line) > w.lists[inside-1].column):
			return // the item goes on
		default:
			w.closeContext(begun)
			w.lists, w.prose = nil, now
		}
		return
	}
	for n := len(w.lists); n > 0 && w.lists[n-1].column >= item; n-- {
		w.lists = w.lists[:n-1]
	}
	if len(w.lists) == 0 && strings.HasSuffix(w.prose.text, ":") {
		w.lists = append(w.lists, listLine{-1, w.prose.text, w.prose.end})
	}
	w.closeContext(begun)
	if n := len(w.lists); n > 0 {
		w.contexts = append(w.contexts, lineContext{begun, -1, w.lists[n-1].text, w.lists[n-1].end})
	}
	w.lists = append(w.lists, now)
}

// written returns what was written from begun on, without the mark of an item.
func (w *lineWriter) written(begun int) string {
	return strings.TrimPrefix(strings.TrimSpace(w.out.String()[begun:]), "• ")
}

// closeContext ends the last context at a place in the line, unless it has ended.
func (w *lineWriter) closeContext(at int) {
	if n := len(w.contexts); n > 0 && w.contexts[n-1].to < 0 {
		w.contexts[n-1].to = at
	}
}

// contextOf returns what the first of the spots that are shown, from from to to, is to be read with; empty if that is
// shown itself or there is none.
func (w *lineWriter) contextOf(spots []Spot, from, to int) string {
	for _, s := range spots {
		if s.Start < from || s.End > to {
			continue
		}
		for _, c := range w.contexts {
			if s.Start >= c.from && s.Start < c.to && c.shown <= from {
				return lastSentence(c.text)
			}
		}
		break
	}
	return ""
}

// lastSentence returns the last sentence of a text that is the context of a line, at most contextChars of it.
func lastSentence(text string) string {
	if at := strings.LastIndex(strings.TrimRight(text, ".: "), ". "); at >= 0 {
		text = text[at+2:]
	}
	return clip.Ellipsis(text, contextChars)
}

// partOf returns the part of the passage that has most of what is shown of a query, the first of equals. Without any
// of it, it is the part where what is shown begins.
func (w *lineWriter) partOf(spots []Spot, from, to int) int {
	part, most := 0, 0.0
	for i, begins := range w.parts {
		if begins <= from {
			part = i
		}
	}
	seen := map[int]bool{}
	at, sum := 0, 0.0
	for _, s := range spots {
		if s.Start < from || s.End > to {
			continue
		}
		for at+1 < len(w.parts) && w.parts[at+1] <= s.Start {
			at, sum = at+1, 0
			clear(seen)
		}
		if !seen[s.Term] {
			seen[s.Term] = true
			sum += s.Weight
		}
		if sum > most {
			part, most = at, sum
		}
	}
	return part
}

// partBegins returns where a part, the context of what is shown, begins in the line; 0 for the first.
func (w *lineWriter) partBegins(part int) int {
	line, at := w.out.String(), w.parts[part]
	for at < len(line) && line[at] == ' ' {
		at++
	}
	return at
}
