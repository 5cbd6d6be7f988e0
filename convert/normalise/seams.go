package normalise

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// Texts of two elements in a line have no space between them when the styles of the page set them apart: a label and
// its price, two options, a name and a time. Without styles they would be one word.

// apartNames are classes of text that is for screen readers alone. Their styles take it out of the line. A reader hears
// such a text on its own.
var apartNames = dom.Names("visually-hidden sr-only screen-reader screen-reader-text assistive-text")

// gapNames are classes of elements without text in which styles draw what parts their neighbours: a bar, or a dot.
var gapNames = dom.Names("sep separator divider spacer")

// boxNames and boxesNames are classes, of widely used style sheets, of boxes in a line, and of what sets its children
// side by side as boxes.
var (
	boxNames   = dom.Names("inline-block d-inline-block inline-flex d-inline-flex")
	boxesNames = dom.Names("flex inline-flex grid inline-grid d-flex d-inline-flex d-grid")
)

// seams finds where texts meet. It walks over the texts of a body in their order. A block, a break, code or a picture
// ends the line.
type seams struct {
	ctx          context.Context
	apart, boxed map[*html.Node]bool // inline elements that styles set apart, or make boxes
	last         *html.Node          // the text before, in the same line
}

// separate puts a space where two texts in a line meet and would be one word, though a reader sees two. apart and boxed
// are elements whose styles, as package hidden has read them, set them apart or make boxes of them. It panics, by
// guard.Check, when ctx ends.
func separate(ctx context.Context, body *html.Node, apart, boxed map[*html.Node]bool) {
	(&seams{ctx: ctx, apart: apart, boxed: boxed}).walk(body)
}

// walk looks at every pair of neighbouring texts below n that stand in one line.
func (s *seams) walk(n *html.Node) {
	guard.Check(s.ctx)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && c.Data != "":
			if s.last != nil {
				s.meet(s.last, c)
			}
			s.last = c
		case c.Type != html.ElementNode:
		case dom.Is(c, atom.Pre, atom.Code, atom.Kbd, atom.Samp, atom.Tt, atom.Var, atom.Sub, atom.Sup, atom.Ruby,
			atom.Wbr, atom.Br, atom.Img), dom.Own(c):
			s.last = nil
		case dom.Is(c, atom.Div) && c.FirstChild == nil && s.last != nil: // it draws a line or leaves room
			n.InsertBefore(dom.NewText(" "), c)
			s.last = nil
		case dom.IsBlock(c):
			s.last = nil
			s.walk(c)
			s.last = nil
		case c.FirstChild == nil && dom.Named(c, gapNames):
			c.AppendChild(dom.NewText(" "))
			s.last = nil
		default:
			s.walk(c)
		}
	}
}

// meet puts a space between two texts if they meet at the edge of an element and one of the rules holds. The rules are:
// styles set one of them apart; what meets cannot be within a word; a word meets another field of the same thing; or
// two boxes side by side begin with capitals.
func (s *seams) meet(before, after *html.Node) {
	x, y := before.Data, after.Data
	end, _ := utf8.DecodeLastRuneInString(x)
	begin, _ := utf8.DecodeRuneInString(y)
	if unicode.IsSpace(end) || !opensWord(begin) && begin != '(' || !closesWord(end) {
		return
	}
	left, right := siblingsAround(before, after)
	if left.Type == html.TextNode && right.Type == html.TextNode {
		return
	}
	if s.setApart(before, left) || s.setApart(after, right) || parted(x, y, left, right) ||
		(unicode.IsLetter(end) || unicode.IsLetter(begin)) && !currency(end) && fields(left, right) ||
		beginsName(x, y) && s.sideBySide(left, right) {
		right.Parent.InsertBefore(dom.NewText(" "), right)
	}
}

// opensWord reports whether a word or an amount may begin with r, the first character behind a seam of two texts.
func opensWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || currency(r) }

// closesWord reports whether r, the last character before a seam of two texts, may end a word, an amount, a label or a
// sentence.
func closesWord(r rune) bool { return opensWord(r) || strings.ContainsRune(".:!?)%…”", r) }

// siblingsAround returns the siblings in which two texts of a tree stand, the first before the second: the elements at
// whose edge they meet.
func siblingsAround(a, b *html.Node) (left, right *html.Node) {
	depth := func(n *html.Node) (d int) {
		for ; n.Parent != nil; n = n.Parent {
			d++
		}
		return d
	}
	da, db := depth(a), depth(b)
	for ; da > db; da-- {
		a = a.Parent
	}
	for ; db > da; db-- {
		b = b.Parent
	}
	for a.Parent != b.Parent {
		a, b = a.Parent, b.Parent
	}
	return a, b
}

// setApart reports whether an element from n up to top stands apart from the line that it is in. n is a text, top the
// sibling that it stands in.
func (s *seams) setApart(n, top *html.Node) bool {
	for ; ; n = n.Parent {
		if n.Type == html.ElementNode && (s.apart[n] || dom.Is(n, atom.Time, atom.Label) || dom.Named(n, apartNames)) {
			return true
		}
		if n == top {
			return false
		}
	}
}

// sideBySide reports whether two siblings are elements that are drawn beside each other, mostly with room between them:
// boxes, or a link with a label before or after it. Two links are not: a word may be a link in part.
func (s *seams) sideBySide(left, right *html.Node) bool {
	if left.Type != html.ElementNode || right.Type != html.ElementNode {
		return false
	}
	before, after := linksAt(left, right)
	return (before == nil) != (after == nil) || s.boxed[left] || s.boxed[right] || dom.Named(left, boxNames) ||
		dom.Named(right, boxNames) || dom.Named(left.Parent, boxesNames)
}

// fields reports whether two siblings are named as different fields of one thing, as "review__title" and "review__name"
// are: a block and its elements (BEM).
func fields(left, right *html.Node) bool {
	block, element, _ := strings.Cut(dom.Attr(left, "class"), "__")
	other, field, ok := strings.Cut(dom.Attr(right, "class"), "__")
	return ok && block == other && element != field && element != "" && !strings.ContainsAny(element+field, " _")
}

// beginsName reports whether the text y begins with a capital, and x, before it, ends with a word, not with a letter
// that stands before a name, as in "iPhone".
func beginsName(x, y string) bool {
	begin, _ := utf8.DecodeRuneInString(y)
	return (unicode.IsUpper(begin) || unicode.IsTitle(begin)) && endsLower(x, 2)
}

// parted reports whether two texts that meet without a space, in the siblings left and right, are surely two: what one
// ends with and the other begins with never stand within a word. A name may be in two colours, and a word in two
// formats, so that a capital in the middle says little about single words. Amounts, percentages, labels with a colon,
// ends of sentences, dates and counts are such. Texts of one word each are left together unless both are links.
func parted(x, y string, left, right *html.Node) bool {
	end, n := utf8.DecodeLastRuneInString(x)
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(x[:len(x)-n], " \u00a0"))
	begin, n := utf8.DecodeRuneInString(y)
	rest := y[n:]
	capital := unicode.IsUpper(begin) || unicode.IsTitle(begin)
	elements := left.Type == html.ElementNode && right.Type == html.ElementNode
	switch {
	case currency(begin): // an amount
		return unicode.IsLower(end) || end == ':' || unicode.IsDigit(end) && startsAmount(rest)
	case currency(end):
		return unicode.IsDigit(before) && (unicode.IsLetter(begin) || strings.ContainsFunc(rest, unit))
	case end == '%':
		return unicode.IsDigit(before) && unicode.IsLetter(begin)
	case end == ':':
		return unicode.IsLetter(before) && (capital || unicode.IsDigit(begin))
	case !unicode.IsLetter(end) && !unicode.IsDigit(end): // the end of a sentence
		return (capital || unicode.IsDigit(begin)) && unicode.IsLetter(before) && several(x)
	case twoLinks(left, right):
		return capital || unicode.IsDigit(begin) && unicode.IsLower(end)
	case unicode.IsDigit(end) && unicode.IsDigit(begin): // two amounts, or a date and an amount
		return elements && (strings.ContainsFunc(x, currency) && strings.ContainsFunc(rest, unit) || endsYear(x) && counts(y))
	case unicode.IsDigit(end):
		return elements && capital && startsLower(rest, 2)
	case !unicode.IsLower(end):
		return false
	case unicode.IsDigit(begin):
		return elements && strings.Trim(y, "0123456789.,%") == "" && !strings.HasPrefix(dom.Attr(right, "href"), "#") &&
			endsLower(x, 4)
	case capital && elements:
		return several(x) || several(y)
	case capital:
		return several(x) && several(y)
	}
	return false
}

// twoLinks reports whether two texts that meet are links to two places, or may be: addresses are not known where a page
// has none, or scripts make them.
func twoLinks(left, right *html.Node) bool {
	before, after := linksAt(left, right)
	if before == nil || after == nil {
		return false
	}
	a, b := dom.Attr(before, "href"), dom.Attr(after, "href")
	return a != b || a == "" || a == "#"
}

// linksAt returns the link that the first of two siblings ends with, and the one that the second begins with; nil for
// none. It is the link nearest to where they meet.
func linksAt(left, right *html.Node) (before, after *html.Node) {
	for before = left; before != nil && !dom.Is(before, atom.A); {
		before = before.LastChild
	}
	for after = right; after != nil && !dom.Is(after, atom.A); {
		after = after.FirstChild
	}
	return before, after
}

// endsYear reports whether the text s, before a seam, ends with a year of the twentieth or twenty-first century, as
// dates do.
func endsYear(s string) bool {
	rest := strings.TrimRight(s, "0123456789")
	year := s[len(rest):]
	return len(year) == 4 && (year[:2] == "20" || year[:2] == "19")
}

// counts reports whether the text s, behind a seam, begins with a number and a word for what it counts: "4 min read".
func counts(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	unit := strings.TrimLeft(rest, " \u00a0")
	first, _ := utf8.DecodeRuneInString(unit)
	return len(rest) < len(s) && len(unit) < len(rest) && unicode.IsLetter(first)
}

// several reports whether a text that meets another has more than one word.
func several(s string) bool { return strings.ContainsFunc(strings.TrimSpace(s), unicode.IsSpace) }

// currency reports whether r, where two texts meet, is a sign of a currency, as Unicode classes it.
func currency(r rune) bool { return unicode.Is(unicode.Sc, r) }

// unit reports whether a number that meets r, before or behind it, is an amount: a percentage or a sum of money.
func unit(r rune) bool { return r == '%' || currency(r) }

// startsAmount reports whether the text that meets another behind a sign of currency starts with a number, after
// spaces.
func startsAmount(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " \u00a0"))
	return unicode.IsDigit(r)
}

// startsLower reports whether the text s, behind a seam, starts with n letters in lower case.
func startsLower(s string, n int) bool {
	for _, r := range s {
		if n == 0 || !unicode.IsLower(r) {
			break
		}
		n--
	}
	return n == 0
}

// endsLower reports whether the text s, before a seam, ends with n letters in lower case.
func endsLower(s string, n int) bool {
	for ; n > 0; n-- {
		r, size := utf8.DecodeLastRuneInString(s)
		if !unicode.IsLower(r) {
			return false
		}
		s = s[:len(s)-size]
	}
	return true
}
