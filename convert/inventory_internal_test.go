package convert

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/mdwrite"
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
		if n.Type != html.ElementNode || dom.Within(n, atom.Pre) {
			continue
		}
		switch {
		case dom.IsHeading(n):
			if text := Letters(dom.Text(n)); text != "" &&
				!dom.Within(n, atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5,
					atom.H6) {
				inv.Headings = append(inv.Headings, text)
			}
		case dom.Is(n, atom.Pre):
			if text := dom.Text(n); !chars.Blank(text) && !inLine(n) {
				inv.Code = append(inv.Code, dom.Attr(n, dom.LangAttr)+"\n"+text)
			}
		case dom.Is(n, atom.A):
			if text := Letters(dom.Text(n)); text != "" && dom.Attr(n, "href") != "" && !dom.Within(n, atom.A, atom.Table) &&
				!inCodeLine(n) && !dom.Contains(n, atom.Pre) {
				inv.Links = append(inv.Links, dom.Attr(n, "href")+" "+text)
			}
		case dom.HasAttr(n, dom.EmbedAttr):
			inv.Links = append(inv.Links, dom.Attr(n, "src")+" "+Letters(dom.Attr(n, "alt")))
		case dom.Is(n, atom.Table):
			if !mdwrite.Irregular(n, nil) && dom.HasText(n) && !dom.Within(n, atom.Table) {
				inv.Tables++
			}
		case n.Data == dom.NoteRefElement:
			referred[dom.Attr(n, "id")] = true
		}
	}
	inv.Notes = len(referred)
	return inv
}

// inLine reports whether a block of code stands in a cell of a table that is written as one, where it is code within a
// line.
func inLine(pre *html.Node) bool {
	for p := pre.Parent; p != nil; p = p.Parent {
		if dom.Is(p, atom.Table) && !mdwrite.Irregular(p, nil) {
			return true
		}
	}
	return false
}

// inCodeLine reports whether a link stands in code that links do not fill; such code is written without it.
func inCodeLine(a *html.Node) bool {
	for p := a.Parent; p != nil; p = p.Parent {
		if dom.Is(p, atom.Code, atom.Kbd, atom.Samp, atom.Tt) && chars.OneLine(dom.Text(p)) != chars.OneLine(dom.Text(a)) &&
			!mdwrite.ListsLinks(p) {
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
