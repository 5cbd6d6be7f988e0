package outline

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/readthru/readthru/internal/markdown"
)

// SectionChange is a section of a page that has changed. A section is a heading with what stands under it
// up to the next heading of any level; what stands before the first heading is one too.
type SectionChange struct {
	Kind     string `json:"kind"`               // added, changed or removed
	Heading  string `json:"heading,omitempty"`  // its path, joined by " › "
	Fragment string `json:"fragment,omitempty"` // as in an outline of the new text; none for what was removed
	// markdown: of a long section only what changed; empty for what was removed
	Text    string `json:"text,omitempty"`
	Removed int    `json:"removed,omitempty"` // paragraphs, items and rows of a changed section that are gone
}

// The kinds of a [SectionChange].
const (
	SectionAdded   = "added"
	SectionChanged = "changed"
	SectionRemoved = "removed"
)

// longSection is how many bytes a changed section may have to be shown whole. A longer one is shown by its new pieces,
// each with its neighbours.
const longSection = 1500

// Changes returns the sections of a markdown text without front matter that differ from an older text, in the order of
// the new text; removed sections come last. A section that only moved, whose parent was renamed, or that differs only
// in white space has not changed. The result is nil if nothing changed.
func Changes(older, newer []byte) []SectionChange {
	was, now := sections(older), sections(newer)
	same := map[string]int{} // how many old sections have this text
	for _, s := range was {
		same[s.words]++
	}
	gone := map[string][]*section{} // old sections by path whose text is no more
	for i := range now {
		if same[now[i].words] > 0 {
			same[now[i].words]--
			now[i].kept = true
		}
	}
	for i := range was {
		if s := &was[i]; same[s.words] > 0 {
			same[s.words]--
			gone[s.path] = append(gone[s.path], s)
		}
	}
	var list []SectionChange
	for _, s := range now {
		if s.kept {
			continue
		}
		c := SectionChange{Kind: SectionAdded, Heading: s.path, Fragment: s.fragment, Text: string(bytes.TrimSpace(s.md))}
		if old := gone[s.path]; len(old) > 0 {
			gone[s.path] = old[1:]
			old[0].kept = true
			c.Kind = SectionChanged
			c.Text, c.Removed = changedBlocks(old[0].md, s.md)
		}
		list = append(list, c)
	}
	for _, s := range was {
		for _, left := range gone[s.path] {
			list = append(list, SectionChange{Kind: SectionRemoved, Heading: left.path})
		}
		delete(gone, s.path)
	}
	return list
}

// section is a part of a text between two headings.
type section struct {
	path     string
	fragment string
	md       []byte // with its heading
	words    string // the same for the same text, whatever its white space
	kept     bool   // it is in the other text too
}

// sections cuts a text, to find its changes, at every heading. Nothing but white space before the first heading is no
// section.
func sections(md []byte) []section {
	var list []section
	add := func(s section) {
		if s.words = strings.Join(strings.Fields(string(s.md)), " "); s.words != "" {
			list = append(list, s)
		}
	}
	headings := Of(md)
	if len(headings) == 0 {
		add(section{md: md})
		return list
	}
	add(section{md: md[:headings[0].Start]})
	var stack headingStack
	for i, h := range headings {
		end := len(md)
		if i+1 < len(headings) {
			end = headings[i+1].Start
		}
		stack.push(h.Level, h.Title)
		add(section{path: strings.Join(stack.titles, " › "), fragment: h.Fragment, md: md[h.Start:end]})
	}
	return list
}

// changedBlocks returns a changed section, of a long one the heading and the pieces that are new, each with its
// neighbours; what is left out between them is counted in its place. gone is how many pieces of the old section are no
// more.
func changedBlocks(older, newer []byte) (text string, gone int) {
	was := map[string]int{}
	for _, p := range piecesOf(older) {
		was[p.text]++
	}
	now := piecesOf(newer)
	shown := make([]bool, len(now))
	for i, p := range now {
		if was[p.text] > 0 {
			was[p.text]--
			continue
		}
		for at := max(0, i-1); at <= min(i+1, len(now)-1); at++ {
			shown[at] = true
			shown[now[at].head] = true
		}
	}
	for _, n := range was {
		gone += n
	}
	if len(newer) <= longSection {
		return string(bytes.TrimSpace(newer)), gone
	}
	shown[0] = true
	var out strings.Builder
	skipped := 0
	for i, p := range now {
		if !shown[i] {
			skipped++
			continue
		}
		if skipped > 0 {
			fmt.Fprintf(&out, "\n[… %d unchanged …]\n", skipped)
			skipped = 0
		}
		if p.head == i {
			out.WriteString("\n")
		}
		out.WriteString(p.text + "\n")
	}
	if skipped > 0 {
		fmt.Fprintf(&out, "\n[… %d unchanged …]\n", skipped)
	}
	return strings.TrimSpace(out.String()), gone
}

// piece is what a section is compared by: a block, or a row of a table or an item of a list.
type piece struct {
	text string
	head int // the piece that it is not shown without: the head of its table, the first item of its list; else itself
}

// piecesOf cuts a changed section into what a difference between versions of a page shows: rows of tables, lines of
// lists, and other blocks whole.
func piecesOf(md []byte) []piece {
	var list []piece
	rows := func(head int, lines []byte) {
		for line := range strings.Lines(string(lines)) {
			list = append(list, piece{strings.TrimRight(line, "\r\n"), head})
		}
	}
	for b := range markdown.Blocks(md) {
		text := md[b.Start:b.End]
		switch first := len(list); {
		case b.Kind == markdown.Table:
			body := min(b.Rows, b.End)
			list = append(list, piece{strings.TrimRight(string(md[b.Start:body]), "\r\n"), first})
			rows(first, md[body:b.End])
		case b.Kind == markdown.Text && markdown.ListMarker(text[markdown.Indentation(text):]) > 0:
			end := bytes.IndexByte(text, '\n') + 1
			if end == 0 {
				end = len(text)
			}
			list = append(list, piece{strings.TrimRight(string(text[:end]), "\r\n"), first})
			rows(first, text[end:])
		default:
			list = append(list, piece{string(text), first})
		}
	}
	return list
}
