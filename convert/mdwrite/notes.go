package mdwrite

import (
	"bytes"
	"unicode"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// noteState is the state of a footnote during rendering. wanted says that something refers to it, placed that it is
// written with what is rendered.
type noteState struct{ wanted, placed bool }

// meetNotes records the footnotes and references in n that are not dropped. A reference in what is dropped does not
// count.
func (r *renderer) meetNotes(n *html.Node, dropped map[*html.Node]bool) {
	guard.Check(r.ctx)
	if dropped[n] || n.Type == html.CommentNode {
		return
	}
	r.meetNote(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.meetNotes(c, dropped)
	}
}

// meetNote records n if it is a footnote or a reference to one.
func (r *renderer) meetNote(n *html.Node) {
	if n.Data != dom.NoteElement && n.Data != dom.NoteRefElement || n.Type != html.ElementNode {
		return
	}
	label := dom.Attr(n, "id")
	s := r.state[label]
	if n.Data == dom.NoteElement {
		s.placed = true
	} else if !s.wanted {
		s.wanted = true
		r.wanted = append(r.wanted, label)
	}
	if r.state == nil {
		r.state = map[string]noteState{}
	}
	r.state[label] = s
}

// notesElsewhere returns the footnotes that the rendered elements refer to and that are elsewhere on the page. They are
// written at the end of the markdown.
func (r *renderer) notesElsewhere() (elsewhere []*html.Node) {
	for i := 0; i < len(r.wanted); i++ { // a footnote may refer to another
		label := r.wanted[i]
		if n := r.notes[label]; n != nil && !r.state[label].placed {
			r.meetNotes(n, nil)
			elsewhere = append(elsewhere, n)
		}
	}
	return elsewhere
}

// note writes a footnote. Markdown does not show a footnote without a reference, so note writes such a one as text. Its
// lines are indented by four, as those of a note's later blocks must be.
func (r *renderer) note(out *bytes.Buffer, n *html.Node) {
	content := bytes.TrimLeftFunc(r.inner(n), unicode.IsSpace)
	if len(content) == 0 {
		return
	}
	out.WriteString("\n\n")
	if label := dom.Attr(n, "id"); r.state[label].wanted {
		out.WriteString("[^" + label + "]: ")
		r.indented(out, content, 4)
	} else {
		out.Write(content)
	}
	out.WriteString("\n\n")
}

// noteRef writes a reference to a footnote if the footnote exists. Otherwise it writes nothing.
func (r *renderer) noteRef(out *bytes.Buffer, n *html.Node) {
	if label := dom.Attr(n, "id"); r.state[label].placed {
		out.WriteString("[^" + label + "]")
	}
}

// notesBelow returns the footnotes of a page by their labels. It is nil for a page without footnotes, which most are.
func notesBelow(roots ...*html.Node) map[string]*html.Node {
	var notes map[string]*html.Node
	for _, root := range roots {
		for d := range root.Descendants() {
			if d.Type == html.ElementNode && d.Data == dom.NoteElement {
				if notes == nil {
					notes = map[string]*html.Node{}
				}
				notes[dom.Attr(d, "id")] = d
			}
		}
	}
	return notes
}
