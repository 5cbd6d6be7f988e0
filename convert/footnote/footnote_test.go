package footnote_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/dom"
	"readthru/convert/footnote"
)

func TestNormalise(t *testing.T) {
	for _, tt := range []struct{ name, page, refs, notes string }{
		{
			"reference and note that lead to one another",
			`<p>Text<sup><a id=r1 href="#n1">1</a></sup></p><ol><li id=n1>A note. <a href="#r1">↩</a></ol>`, "1", "1: A note.",
		},
		{
			"note with the label of its reference", `<p>Text<sup><a href="#n1">[1]</a></sup></p><p id=n1>[1] A note.</p>`,
			"1", "1: A note.",
		},
		{"link to a section", `<p>See <a href="#s">2</a></p><h2 id=s>Two</h2><p>Text of the section.</p>`, "", ""},
		{"reference without a note", `<p>Text<sup><a href="#gone">1</a></sup></p>`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, err := html.Parse(strings.NewReader(tt.page))
			if err != nil {
				t.Fatal(err)
			}
			body := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Body) })
			footnote.Normalise(body, nil)
			var refs, notes []string
			for n := range body.Descendants() {
				switch n.Data {
				case dom.NoteRefElement:
					refs = append(refs, dom.Attr(n, "id"))
				case dom.NoteElement:
					notes = append(notes, dom.Attr(n, "id")+": "+dom.OneLine(n))
				}
			}
			if got := strings.Join(refs, " "); got != tt.refs {
				t.Errorf("references %q, want %q", got, tt.refs)
			}
			if got := strings.Join(notes, "; "); got != tt.notes {
				t.Errorf("footnotes %q, want %q", got, tt.notes)
			}
		})
	}
}
