package convert

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Inventory is what a page's markdown must be read back to: letters and digits of headings and of the text of links,
// code as it is, and how many tables and footnotes there are.
type Inventory struct {
	Headings []string // text
	Code     []string // language, a newline, text
	Links    []string // address, a space, text
	Tables   int      // of data, not in each other
	Notes    int      // footnotes that are referred to
}

// TakeInventory returns what the whole of d's body holds, leaving out what the renderer cannot write as such: headings
// in cells, links round blocks or in code, tables with code blocks in them.
func TakeInventory(d *Document) Inventory {
	var inv Inventory
	if d.body == nil {
		return inv
	}
	referred := map[string]bool{}
	for n := range d.body.Descendants() {
		if n.Type != html.ElementNode || within(n, atom.Pre) {
			continue
		}
		switch {
		case heading(n):
			if text := Letters(textOf(n)); text != "" && !within(n, atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5,
				atom.H6) {
				inv.Headings = append(inv.Headings, text)
			}
		case is(n, atom.Pre):
			if text := textOf(n); !blank(text) && !inLine(n) {
				inv.Code = append(inv.Code, attr(n, langAttr)+"\n"+text)
			}
		case is(n, atom.A):
			if text := Letters(textOf(n)); text != "" && attr(n, "href") != "" && !within(n, atom.A, atom.Table) &&
				!inCodeLine(n) && !contains(n, atom.Pre) {
				inv.Links = append(inv.Links, attr(n, "href")+" "+text)
			}
		case is(n, atom.Table):
			if !(&renderer{}).irregular(n) && hasText(n) && !within(n, atom.Table) {
				inv.Tables++
			}
		case n.Data == noteRefElement:
			referred[attr(n, "id")] = true
		}
	}
	inv.Notes = len(referred)
	return inv
}

// inLine reports whether a block of code stands in a cell of a table that is written as one, where it is code within a
// line.
func inLine(pre *html.Node) bool {
	for p := pre.Parent; p != nil; p = p.Parent {
		if is(p, atom.Table) && !(&renderer{}).irregular(p) {
			return true
		}
	}
	return false
}

// inCodeLine reports whether a link stands in code that it does not fill; such code is written without it.
func inCodeLine(a *html.Node) bool {
	for p := a.Parent; p != nil; p = p.Parent {
		if is(p, atom.Code, atom.Kbd, atom.Samp, atom.Tt) && squash(textOf(p)) != squash(textOf(a)) {
			return true
		}
	}
	return false
}

// Letters returns the letters and digits of s, in lower case.
func Letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
