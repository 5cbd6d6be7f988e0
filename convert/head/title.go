package head

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/page"
)

// mostHeadings is how many headings of a page may be its title. It is of each level.
const mostHeadings = 50

// titles are what a page may be called. Read fills it while it walks over the page, and choose decides at last.
type titles struct {
	element string // the title element
	og      string // og:title
	h1, h2  []string
	home    bool            // the page is the first of its site
	host    string          // what the site's host is called (page.SiteName), folded
	caption string          // the title element's text, where a block before the first h1 has it
	main    string          // the first h1 in the page's main element or an article
	banner  string          // the first h1 in a header or among links, and in neither of them
	menu    string          // the first h1 in a box that is named as a menu
	self    string          // the heading that leads to the page itself
	sites   map[string]bool // names of the site, folded
}

// add notes a heading. A heading that leads to the site's first page is the site's name. u is the page's address and
// may be nil. Headings without letters, and very long ones, are none.
func (t *titles) add(h *html.Node, u *url.URL) {
	list := &t.h1
	if dom.Is(h, atom.H2) {
		list = &t.h2
	}
	if len(*list) == mostHeadings || len(dom.Text(h)) >= 1000 {
		return
	}
	text := headingText(h)
	if chars.Fold(text) == "" {
		return
	}
	if to := ledToBy(h, u); to != nil && home(to) && !home(u) {
		t.nameSite(text)
	} else if to != nil && !t.sites[chars.Fold(text)] && to.Fragment == "" && t.self == "" && samePage(to, u) {
		t.self = text
	}
	switch {
	case dom.Is(h, atom.H2):
	case dom.Within(h, atom.Main, atom.Article):
		t.main = cmp.Or(t.main, text)
	case dom.Within(h, atom.Header, atom.Nav):
		t.banner = cmp.Or(t.banner, text)
	case inMenu(h):
		t.menu = cmp.Or(t.menu, text)
	}
	*list = append(*list, text)
}

// menuNames are the names of boxes that hold a menu. They are looked for in classes and ids.
var menuNames = []string{"navigation", "sidebar", "menu", "navbar"}

// inMenu reports whether a heading lies in a box that is named as a menu, and so is no title.
func inMenu(h *html.Node) bool {
	for box := h.Parent; box != nil; box = box.Parent {
		if dom.HasClass(box, menuNames...) || slices.Contains(menuNames, dom.Attr(box, "id")) {
			return true
		}
	}
	return false
}

// names reports whether a folded part of the title element is the site's name: the page says so elsewhere, or it begins
// as the host is called. part is in the form of [chars.Fold].
func (t *titles) names(part string) bool {
	const least, more = 4, 8 // bytes of the host's name, and of what may follow it, such as a country
	return t.sites[part] || len(t.host) >= least && strings.HasPrefix(part, t.host) && len(part) <= len(t.host)+more
}

// nameSite notes a name of the site.
func (t *titles) nameSite(name string) {
	if name = chars.Fold(name); name != "" {
		if t.sites == nil {
			t.sites = map[string]bool{}
		}
		t.sites[name] = true
	}
}

// readCaption looks for a block before the first h1 whose text is that of the title element. Generators of
// documentation call a page so whose headings are all sections. Doxygen's block lacks the name of the project, which
// begins the title element. It needs the headings and the title element.
func (t *titles) readCaption(root *html.Node) {
	if t.element == "" || len(t.h1) > 0 && strings.Contains(chars.Fold(t.element), chars.Fold(t.h1[0])) &&
		strings.Contains(t.element, " ") { // else a module's last name may be that of its first section
		return
	}
	for n := range root.Descendants() {
		switch {
		case dom.Is(n, atom.H1):
			return
		case dom.HasClass(n, "title") && dom.HasClass(n.Parent, "headertitle"):
			t.caption = t.ofProject(chars.Clip(dom.OneLine(n)))
			return
		case len(t.h1) == 0:
		case n.Type == html.TextNode && dom.Is(n.Parent, atom.P, atom.Div, atom.Td, atom.H2) &&
			chars.Clip(n.Data) == t.element && n.PrevSibling == nil && n.NextSibling == nil && !dom.Within(n, atom.Nav):
			t.caption = t.element
			return
		}
	}
}

// ofProject returns the title of a page of Doxygen's: the title element without the name of the project or, if the text
// above the page says more, such as the class that a list is of, that. It returns "" if they do not agree. text is that
// of Doxygen's block.
func (t *titles) ofProject(text string) string {
	_, name, _ := strings.Cut(t.element, ": ")
	switch above, name := chars.Fold(text), chars.Fold(name); {
	case above == "" || name == "":
		return ""
	case strings.HasSuffix(above, name):
		return text
	case !strings.HasPrefix(above, name) && !strings.HasPrefix(name, above) && !strings.HasSuffix(name, above):
		return ""
	}
	return name
}

// headingText returns the text of a heading, which may be the title, without its permalink, icons and buttons. It is on
// one line, blocks in it apart by spaces.
func headingText(h *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := range n.ChildNodes() {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case dom.Is(c, atom.Button, atom.Script, atom.Style, atom.Noscript, atom.Template), c.Namespace == "svg":
			default:
				if dom.IsBlock(c) || dom.Is(c, atom.Br) {
					b.WriteByte(' ')
				}
				walk(c)
			}
		}
	}
	walk(h)
	return chars.Clip(strings.TrimRight(chars.TrimIcons(b.String()), "¶#§ "))
}

// ledToBy returns the address to which a heading, which may be the title, leads that is in a link, or is one, if it is
// on the site of u. It is nil for any other heading.
func ledToBy(h *html.Node, u *url.URL) *url.URL {
	link := h.Parent
	if !dom.Is(link, atom.A) {
		link = dom.Find(h, func(n *html.Node) bool { return dom.Is(n, atom.A) })
	}
	if u == nil || link == nil || dom.Attr(link, "href") == "" {
		return nil
	}
	to, err := page.Resolve(u, strings.TrimSpace(dom.Attr(link, "href")))
	if err != nil || !strings.EqualFold(to.Host, u.Host) {
		return nil
	}
	return to
}

// home reports whether u is the first page of its site. A heading that leads there is the site's name, and no title of
// a page.
func home(u *url.URL) bool { return (u.Path == "" || u.Path == "/") && u.RawQuery == "" }

// samePage reports whether two addresses of a site, of a heading and of its page, lead to one page: their paths are
// equal, and a parameter, if they have any. The program of a board adds others, such as the session. The first page of
// a site counts for none.
func samePage(a, b *url.URL) bool {
	if a.Path != b.Path || home(a) || a.RawQuery == "" || b.RawQuery == "" {
		return a.Path == b.Path && a.RawQuery == b.RawQuery && !home(a)
	}
	given := b.Query()
	for name, values := range a.Query() {
		if values[0] != "" && given.Get(name) == values[0] {
			return true
		}
	}
	return false
}

// choose returns the page's title: its first h1 if that is part of og:title or of the title element, or if there is no
// og:title; else the title element without the site's name (rule E7); else og:title. A heading is no title if it names
// the site, or a section. og:title is one if the title element begins with it. Of 308 reference titles this makes 238
// right, the title element alone a quarter.
func (t *titles) choose() string {
	p := t.parts()
	delete(p.leads, "")
	maps.DeleteFunc(p.leads, func(lead string, _ bool) bool { return t.sites[lead] })
	own := slices.DeleteFunc(slices.Clone(t.h1), func(h string) bool { return t.sites[chars.Fold(h)] })
	if len(own) > 1 && own[0] == t.menu && len(p.leads) == 0 {
		return own[1]
	}
	if len(own) > 0 {
		h := chars.Fold(own[0])
		self := chars.Fold(t.self)
		if (p.leads[h] || h == p.last) && self != "" && strings.Contains(chars.Fold(t.element), self) {
			return t.self
		}
		if better := cmp.Or(t.besideSite(p, own), t.besideSections(p, own)); better != "" {
			return better
		}
		if t.og == "" && len(own) == len(t.h1) || strings.Contains(chars.Fold(t.og), h) ||
			strings.Contains(chars.Fold(t.element), h) {
			return own[0]
		}
	}
	if p.leads[chars.Fold(t.og)] {
		return t.og
	}
	if len(own) == 0 {
		if heading := t.below(p); heading != "" {
			return heading
		}
	}
	return cmp.Or(p.page, t.element, t.og)
}

// below returns the title of a page without h1: a lower heading, or the caption, that the title element has beside the
// name of a site or a manual. It is "" where nothing agrees.
func (t *titles) below(p titleParts) string {
	begin, rest, _ := strings.Cut(t.element, ": ") // too frequent within names to be one of the separators
	if first, _ := utf8.DecodeRuneInString(rest); unicode.IsUpper(first) && !t.home {
		p.leads[chars.Fold(begin)] = true
	}
	for _, other := range t.h2 {
		if h := chars.Fold(other); p.leads[h] || h == p.last && 2*len(h) > len(chars.Fold(t.element)) {
			return other
		}
	}
	return t.caption
}

// besideSite returns the page's title where its first h1 may be the name of the site, the book or the manual: the title
// element has it in its last part, or begins with it and it stands in a banner. Another heading is the title if it has
// the other part of the title element or, where the first one lies outside, if it is in the page's main element.
// Without one the title element says it, if the first h1 stands in a banner or is less than the last part. It is ""
// where the first h1 is the title.
func (t *titles) besideSite(p titleParts, own []string) string {
	h := chars.Fold(own[0])
	_, afterColon, _ := strings.Cut(t.element, ": ")
	inLast := strings.Contains(p.last, h)
	inBanner := t.banner == own[0] && strings.HasPrefix(chars.Fold(t.element), h) // and the page's name at the end
	if p.leads[h] || chars.Fold(afterColon) == h || !inLast && !inBanner {
		return ""
	}
	for _, other := range slices.Concat(own[1:], t.h2) {
		o := chars.Fold(other)
		if inLast && (p.leads[o] || endsIn(other, chars.Fold(p.first))) || !inLast && p.tails[o] {
			return other
		}
	}
	if !inLast {
		return ""
	}
	switch {
	case t.main == own[0]:
		return ""
	case t.main != "":
		return t.main
	case t.banner == own[0] || h != p.last && !strings.Contains(chars.Fold(p.first), h):
		return p.first
	}
	return ""
}

// besideSections returns the page's title where its first h1 is that of a section or of the site, and the title element
// does not know it: the text of the title element, if another heading or a box above has it or if it knows none of
// several h1. It is "" otherwise.
func (t *titles) besideSections(p titleParts, own []string) string {
	element := chars.Fold(t.element)
	knows := func(h string) bool { return strings.Contains(element, chars.Fold(h)) }
	manual := own[0] == "NAME" // the first section of a manual page
	if t.og != "" || element == "" || knows(own[0]) && !manual && (t.caption == "" || chars.Fold(own[0]) == element) {
		return ""
	}
	for _, other := range slices.Concat([]string{t.caption}, own[1:], t.h2) {
		if other != "" && (other == t.caption || chars.Fold(other) == element ||
			unnumbered(other) != other && chars.Fold(unnumbered(other)) == chars.Fold(unnumbered(t.element))) {
			return other
		}
	}
	if name := unnumbered(own[0]); name != own[0] && strings.HasSuffix(element, chars.Fold(name)) {
		return own[0]
	}
	if len(own) > 1 && (manual || !slices.ContainsFunc(own, knows)) {
		return cmp.Or(p.page, t.element)
	}
	return ""
}

// titleSeparators stand in titles between the page's name and those of its section and its site. They are looked for
// with their spaces, since a hyphen is also within words.
var titleSeparators = []string{" | ", " - ", " · ", " – ", " — ", " • ", " :: ", " » ", " / "}

// titleParts are what a title element consists of.
type titleParts struct {
	leads map[string]bool // what stands before each separator, folded
	tails map[string]bool // what stands after each, folded
	last  string          // what stands after the last one, folded; empty without one
	page  string          // the title without the site's name at its end or beginning; empty without that
	first string          // what stands before the first separator of the kind that is the last
}

// parts divides the title element at each of the separators.
func (t *titles) parts() titleParts {
	p := titleParts{leads: map[string]bool{}, tails: map[string]bool{}}
	last := 0
	for _, separator := range titleSeparators {
		for at := 0; ; {
			i := strings.Index(t.element[at:], separator)
			if i < 0 {
				break
			}
			head, tail := t.element[:at+i], t.element[at+i+len(separator):]
			at += i + len(separator) - 1 // two separators may share a space
			p.leads[chars.Fold(head)], p.tails[chars.Fold(tail)] = true, true
			if at > last {
				last, p.last = at, chars.Fold(tail)
				p.first, _, _ = strings.Cut(t.element, separator)
			}
			switch {
			case t.names(chars.Fold(tail)):
				p.page = head
			case p.page == "" && !t.home && t.host != "" && chars.Fold(head) == t.host:
				p.page = tail
			}
		}
	}
	return p
}

// sectionNumber is the number of a section at the beginning of its heading, which a word may precede: "Chapter 3.1: "
// and "A.2 " are such numbers.
var sectionNumber = lazy.Pattern(`^(?:\pL+ )?[A-Z]?[.\d]*\d[.\d]*\W+`)

// unnumbered returns a heading, or a title element, without the number of its section; one that is nothing else stays.
func unnumbered(heading string) string {
	return cmp.Or(sectionNumber().ReplaceAllString(heading, ""), heading)
}

// endsIn reports whether a heading, which may be the title, is a folded name after up to three words that say what kind
// of thing has it: "Class template vector" ends in "vector".
func endsIn(heading, name string) bool {
	heading, _, _ = strings.Cut(heading, "<") // parameters of a type
	for range 3 {
		if _, heading, _ = strings.Cut(heading, " "); chars.Fold(heading) == name {
			return name != ""
		}
	}
	return false
}
