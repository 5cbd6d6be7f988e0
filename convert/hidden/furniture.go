package hidden

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// Half of all pages hide text without any harm: menus, dialogs, forms, labels for screen readers, messages that a
// script may show. A warning on each of them would warn of nothing. What is more than that counts.

// fewest is how many words a hidden piece has that says something. Labels have fewer.
const fewest = 5

// furniture reports whether a hidden piece is a part of the page's machinery: n holds it, or none for what is no part
// of the tree. A piece that gives orders to a model never is. Otherwise it is told by its kind, by its length, and by
// names and controls around it.
func furniture(kind, text string, n *html.Node) bool {
	machine := besideText[kind] || words(text) < fewest ||
		n != nil && (named(n) || mostlyControls(n))
	return machine && !commands(text)
}

// besideText are the kinds of what stands beside the text, where readers see it: it is not read aloud, or it is in the
// margin of a document, or struck out. They say little about hiding.
var besideText = map[string]bool{"aria-hidden": true, "deleted": true, "annotation": true}

// words counts the words of a hidden piece as sentences have them: written in letters, and without a capital, which
// words of titles and names have, but for the first. In scripts without spaces two letters are a word. Lists of names,
// menus and code therefore have few.
func words(text string) (count int) {
	letters, first := 0, true
	for word := range strings.FieldsSeq(text) {
		bare := strings.TrimFunc(word, unicode.IsPunct)
		switch {
		case strings.ContainsFunc(bare, ofNoWord):
		case chars.Words(bare) > 2:
			letters += chars.Words(bare)
		case len(bare) > 1 && (first || !titled(bare)):
			count++
		}
		first = strings.ContainsAny(word, ".!?:")
	}
	return count + letters/2
}

// ofNoWord reports whether r is a character that codes and names in programs have, and words of hidden sentences do
// not.
func ofNoWord(r rune) bool { return unicode.IsDigit(r) || r == '_' || r == '=' || r == '{' }

// titled reports whether a word of a hidden piece begins with a capital and goes on in lower case, as words of titles
// and names do.
func titled(word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	second, _ := utf8.DecodeRuneInString(word[size:])
	return unicode.IsUpper(first) && unicode.IsLower(second)
}

// machinery are parts of the names and roles of what is hidden until a script or the reader asks for it. They are
// looked for anywhere in class, id and role.
var machinery = strings.Fields(`menu nav modal dialog popup pop-up popover cookie consent gdpr privacy tooltip dropdown
	drop-down flyout overlay drawer offcanvas off-canvas sidebar side-bar lightbox toast notice notification alert
	snackbar banner message msg error success warning loading loader spinner sr-only screen-reader screenreader
	visually-hidden visuallyhidden assistive skip share social search login log-in signin sign-in signup sign-up
	register subscribe newsletter cart basket checkout form field captcha template placeholder print mobile desktop
	widget comment reply tab accordion carousel slide filter sort toggle`)

// named reports whether the names or the role of n, which holds a hidden piece, or of an element close round it, say
// that it is machinery. Close is three elements.
func named(n *html.Node) bool {
	for e, up := n, 0; up < 4 && e != nil && e.Type == html.ElementNode; e, up = e.Parent, up+1 {
		if dom.Is(e, atom.Body) {
			return false
		}
		if dom.Is(e, atom.Nav, atom.Form, atom.Dialog, atom.Header, atom.Footer, atom.Label, atom.Menu) {
			return true
		}
		name := strings.ToLower(dom.Attr(e, "class") + " " + dom.Attr(e, "id") + " " + dom.Attr(e, "role"))
		for _, part := range machinery {
			if strings.Contains(name, part) {
				return true
			}
		}
	}
	return false
}

// mostlyControls reports whether n holds controls, or links more than text. A hidden form or menu is one.
func mostlyControls(n *html.Node) bool {
	text, links := 0, 0
	for d := range n.Descendants() {
		switch {
		case dom.Is(d, atom.Input, atom.Button, atom.Select, atom.Textarea, atom.Nav, atom.Form):
			return true
		case d.Type == html.TextNode && !neverText[d.Parent.DataAtom]:
			text += len(d.Data)
			if dom.Is(n, atom.A) || dom.Within(d, atom.A) {
				links += len(d.Data)
			}
		}
	}
	return links*2 > text
}
