package signs

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/internal/lazy"
)

// facts are the facts by which errorPage, softError, loginWall and paywall judge a page: its names, its amount of text,
// and its requests to the reader. They are collected in one walk over the page.
type facts struct {
	title, h1 string // in lower case, on one line
	text      string // what a reader sees, in lower case, on one line; empty for pages of over contentWords words
	words     int    // visible
	passwords int    // fields for a password, outside navigation
	locked    bool   // the page's own metadata says that it is not free to read
	content   bool   // there is an article, or code
}

// lockedMark is how JSON-LD says that an article is not free. It is looked for in the text of the script, as such data
// is often not valid.
var lockedMark = lazy.Pattern(`(?i)"isaccessibleforfree"\s*:\s*"?false`)

// factsOf collects the facts about the page below root. The text is taken of short pages alone.
func factsOf(root, body *html.Node, c counts) facts {
	f := facts{words: c.words, content: dom.Contains(body, atom.Pre, atom.Article)}
	if h1 := dom.Find(body, func(n *html.Node) bool { return dom.Is(n, atom.H1) }); h1 != nil {
		f.h1 = strings.ToLower(dom.OneLine(h1))
	}
	for d := range root.Descendants() {
		switch {
		case dom.Is(d, atom.Title) && d.Namespace == "" && f.title == "":
			f.title = strings.ToLower(chars.OneLine(dom.Text(d)))
		case dom.Is(d, atom.Input) && strings.EqualFold(dom.Attr(d, "type"), "password") &&
			!dom.Within(d, atom.Nav, atom.Header, atom.Footer) && !unshown(d):
			f.passwords++
		case dom.Is(d, atom.Script) && dom.Attr(d, "type") == "application/ld+json" && d.FirstChild != nil:
			f.locked = f.locked || lockedMark().MatchString(d.FirstChild.Data)
		case dom.Is(d, atom.Meta) && dom.Attr(d, "property") == "article:content_tier":
			f.locked = f.locked || strings.EqualFold(dom.Attr(d, "content"), "locked")
		}
	}
	if c.words < contentWords {
		f.text = strings.ToLower(textOf(body))
	}
	return f
}

// textOf returns the text below n, for the facts of a short page, on one line, with a space at the edges of blocks and
// buttons. Scripts, styles and drawings have none.
func textOf(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			edge := dom.IsBlock(c) || dom.Is(c, atom.Button, atom.Br, atom.Label)
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case dom.Is(c, atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Title):
				continue
			case edge:
				b.WriteByte(' ')
			}
			walk(c)
			if edge {
				b.WriteByte(' ')
			}
		}
	}
	walk(n)
	return chars.OneLine(b.String())
}

// unshown reports whether n is in a form or a box that stays hidden until a script shows it: its text is no fact about
// the page. Dialogs to sign in are on most pages of some sites.
func unshown(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if dom.HasAttr(n, "hidden") || strings.EqualFold(dom.Attr(n, "aria-hidden"), "true") || dom.Attr(n, "style") != "" &&
			hidden.ByStyle(dom.Attr(n, "style")) {
			return true
		}
	}
	return false
}
