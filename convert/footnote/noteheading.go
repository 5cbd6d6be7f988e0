package footnote

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// noteHeadings head a page's footnotes and say nothing once these are marked as such. They are in lower case, of many
// languages.
var noteHeadings = map[string]bool{
	"note": true, "notes": true, "footnote": true, "footnotes": true, "endnote": true, "endnotes": true,
	"sidenotes": true, "fußnoten": true, "anmerkungen": true, "fussnoten": true, "notas": true, "voetnoten": true,
	"notes de bas de page": true, "przypisy": true, "примечания": true, "fotnoter": true, "noter": true, "脚注": true,
	"foot notes": true, "end notes": true, "notas al pie": true, "notas de rodapé": true, "note a piè di pagina": true,
}

// bounded reports whether a rule or a heading that says footnotes stands right before n. It says that what follows are
// footnotes, and not sections with numbers.
func bounded(n *html.Node) bool {
	p := n.PrevSibling
	for p != nil && (p.Type != html.ElementNode) {
		p = p.PrevSibling
	}
	return dom.Is(p, atom.Hr) || p != nil && noteHeading(p)
}

// noteHeading reports whether n is a heading that says footnotes.
func noteHeading(n *html.Node) bool {
	return dom.IsHeading(n) && saysNotes(n)
}

// saysNotes reports whether the text of n is one of noteHeadings.
func saysNotes(n *html.Node) bool {
	return noteHeadings[strings.TrimRight(strings.ToLower(shortText(n)), ".: ")]
}

// dropNoteHeadings removes the headings and rules that only lead to footnotes. It is called when footnotes are elements
// of our own.
func dropNoteHeadings(body *html.Node) {
	for _, n := range dom.FindAll(body, func(n *html.Node) bool {
		return dom.Is(n, atom.Hr) || noteHeading(n) || dom.Is(n, atom.P, atom.B, atom.Strong, atom.Summary) && saysNotes(n)
	}) {
		s := n.NextSibling
		for s != nil && (s.Type != html.ElementNode || !dom.HasText(s) && !dom.Is(s, atom.Hr, atom.Img) &&
			s.Data != dom.NoteElement) {
			if s.Type == html.TextNode && !chars.Blank(s.Data) {
				break
			}
			s = s.NextSibling
		}
		for dom.Is(s, atom.Div, atom.Section) {
			first := s.FirstChild
			for first != nil && (first.Type != html.ElementNode || !dom.HasText(first)) {
				first = first.NextSibling
			}
			s = first
		}
		if s != nil && (s.Data == dom.NoteElement || dom.Is(n, atom.Hr) && noteHeading(s)) {
			dom.Remove(n)
		}
	}
}
