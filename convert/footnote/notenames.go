package footnote

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/dom"
)

// noteNames are the words in class, id, role or address that say footnote, endnote or citation. They are compared word
// by word, without digits.
var noteNames = map[string]bool{
	"fn": true, "fnref": true, "fnr": true, "ftn": true, "ftnt": true, "footnote": true, "footnotes": true,
	"footref": true, "footdef": true, "footnum": true, "noteref": true, "note": true, "notes": true, "endnote": true,
	"endnotes": true, "cite": true, "citation": true, "citations": true, "reference": true, "references": true,
	"ref": true, "bib": true, "biblio": true, "bibr": true, "sidenote": true, "fna": true, "easyfootnote": true,
	"easy": true, "doc-noteref": true, "rearnote": true,
}

// noteWords reports whether the names of an element, its class, id or role, say footnote. Attributes that are for
// footnotes alone say so, too.
func noteWords(n *html.Node) bool {
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "data-footnote-ref", "data-footnote-id", "data-footnote":
			return true
		case "class", "role", "data-type", "epub:type":
			if nameSaysNote(n.Attr[i].Val) {
				return true
			}
		}
	}
	return false
}

// nameSaysNote reports whether a class, role or id has a word of noteNames.
func nameSaysNote(name string) bool {
	if len(name) > 200 {
		return false
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool {
		return strings.ContainsRune(" -_:.", r) || r >= '0' && r <= '9'
	}) {
		if noteNames[word] {
			return true
		}
	}
	return false
}

// noteID reports whether an id is a name that generators give to footnotes: fn1, fn:name, cite_note-3, ftnt2, bib.bib7.
// A single letter needs digits behind it.
func noteID(id string) bool {
	if nameSaysNote(id) {
		return true
	}
	for _, prefix := range [...]string{
		"fn", "_ftn", "ftnt", "footnote", "endnote", "_edn", "cite_note", "easy-footnote",
		"r", "n",
	} {
		if rest, ok := strings.CutPrefix(id, prefix); ok && rest != "" && (len(prefix) > 1 || digits(rest)) {
			return true
		}
	}
	return false
}

// nameSaysBack reports whether a link says by its class, role or rev that it leads back to a reference.
func nameSaysBack(a *html.Node) bool {
	name := strings.ToLower(dom.Attr(a, "class") + " " + dom.Attr(a, "role") + " " + dom.Attr(a, "rev"))
	for _, word := range [...]string{
		"backref", "backlink", "back-link", "reversefootnote", "footnote-back",
		"footnote-return", "footnote-to-top",
	} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return dom.HasAttr(a, "data-footnote-backref")
}
