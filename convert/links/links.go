// Package links decides what becomes of the links of a page: where they lead, which of them are no text of the page,
// and how an address is written in markdown.
//
// An address passes [Absolute], which resolves it and refuses schemes such as javascript:, and then [Untracked], which
// takes redirectors and parameters that count visitors out of it. [Permalink], [EditsSection] and [SelfLink] know the
// links that generators put beside headings; [LiftHeading] brings a link round a heading into a form that markdown has.
package links

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/page"
)

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{Schemes, permalinks, redirectors, adHosts}

// Schemes are the schemes that a link may have. A link with another scheme becomes its text. Package convert asks it of
// links in PDF, too.
var Schemes = chars.Set("http https mailto tel sms ftp ftps irc ircs git ssh magnet xmpp news geo matrix")

// anyBase is a URL that a page may have. NeedBase resolves against it.
var anyBase = &url.URL{Scheme: "https", Host: "any.invalid", Path: "/"}

// NeedBase counts the links below body that lead somewhere only from a base. Package convert warns of their number
// where the base is not known.
func NeedBase(body *html.Node) (n int) {
	for d := range body.Descendants() {
		if href := dom.Attr(d, "href"); dom.Is(d, atom.A) && href != "" && Absolute(nil, href) == "" &&
			Absolute(anyBase, href) != "" {
			n++
		}
	}
	return n
}

// Absolute returns href as an absolute URL, or as a fragment if it points to a place on the page itself. It is empty if
// the link cannot be followed, as with javascript: and data:. The bytes of an absolute URL stay unchanged except those
// that would end a link in markdown. base may be nil: then relative addresses are empty, too.
func Absolute(base *url.URL, href string) string {
	href = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || chars.Invisible(r) {
			return -1 // browsers drop tabs and newlines inside an address too
		}
		return r
	}, strings.TrimSpace(href))
	if href == "" {
		return ""
	}
	if href[0] == '#' {
		if href == "#" {
			return ""
		}
		if u, err := url.Parse(href); err != nil || base == nil || page.Route(u) == "" {
			return Escape(href)
		}
	}
	scheme, rest, ok := strings.Cut(href, ":")
	if ok && !strings.ContainsAny(scheme, "/?#") && ValidScheme(scheme) {
		scheme = strings.ToLower(scheme)
		if !Schemes[scheme] {
			return ""
		}
		if scheme != "http" && scheme != "https" || strings.HasPrefix(rest, "//") && len(rest) > 2 {
			if plainURL(rest) {
				return Escape(href)
			}
			if _, err := url.Parse(href); err == nil {
				return Escape(href)
			}
		}
	}
	if base == nil {
		return ""
	}
	u, err := page.Resolve(base, strings.ReplaceAll(href, " ", "%20"))
	if err != nil || !Schemes[u.Scheme] {
		return ""
	}
	return Escape(u.String())
}

// plainURL reports whether what follows a scheme is surely read by [url.Parse], without reading it: that takes memory
// for each of a page's links. It is false for addresses with escapes or ports, which are then read.
func plainURL(rest string) bool {
	host, ok := strings.CutPrefix(rest, "//")
	if !ok || strings.Contains(rest, "%") {
		return false
	}
	for i := range len(host) {
		switch c := host[i]; {
		case c == '/' || c == '?' || c == '#':
			return i > 0
		case !chars.Letter(c) && (c < '0' || c > '9') && c != '.' && c != '-':
			return false
		}
	}
	return host != ""
}

// ValidScheme reports whether s may be the scheme of an address (RFC 3986, section 3.1). It need not be one of
// [Schemes].
func ValidScheme(s string) bool {
	for i, r := range s {
		isLetter := r|0x20 >= 'a' && r|0x20 <= 'z'
		isOther := r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.'
		if !isLetter && (i == 0 || !isOther) {
			return false
		}
	}
	return s != ""
}

// linkEscapes are the bytes of an address that end a link destination or begin markup. A star or a pipe would be markup
// to some readers.
var linkEscapes = strings.NewReplacer(" ", "%20", "<", "%3C", ">", "%3E", "\\", "%5C", "\"", "%22", "`", "%60", "|",
	"%7C", "*", "%2A")

// Escape returns an address as a link destination of markdown. Balanced brackets stay. Unbalanced ones are escaped.
func Escape(s string) string {
	s = linkEscapes.Replace(s)
	if strings.IndexByte(s, ';') >= 0 {
		s = ampersands(s)
	}
	open := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			open++
		case ')':
			open--
		}
		if open < 0 {
			break
		}
	}
	if open != 0 {
		s = strings.NewReplacer("(", "%28", ")", "%29").Replace(s)
	}
	return s
}

// ampersands replaces each ampersand that would begin a character reference by a reference. Browsers would read
// "&copy=1" as a sign.
func ampersands(s string) string {
	var b strings.Builder
	from := 0
	for i := range len(s) {
		if s[i] == '&' && chars.Entity(s[i+1:]) {
			b.WriteString(s[from:i] + "&amp;")
			from = i + 1
		}
	}
	return b.String() + s[from:]
}

// OfPage returns what the address of a place on the page itself begins with, or "" if the page has no address. It ends
// with "#".
func OfPage(u *url.URL) string {
	if u == nil {
		return ""
	}
	own := page.WithoutFragment(u)
	own.User = nil
	return Escape(own.String()) + "#"
}

// permalinks name the classes of links that point at their own heading. Generators of documentation give them.
var permalinks = []string{
	"headerlink", "hash-link", "heading-anchor", "anchor-link", "permalink", "doc-anchor", "anchor", "header-anchor",
	"heading-link", "headinglink", "sl-anchor-link", "viewcode-link", "anchorjs-link",
	"direct-link", "self-link", "srclink", "src", "headline-anchor", "toc-backref-link", "octicon-link", "deep-link",
	"copy-link",
}

// Permalink reports whether a link only points at the heading beside it and is not text of the page. It goes by the
// sign that it shows, by its class, or by its title.
func Permalink(n *html.Node) bool {
	marked := dom.HasClass(n, permalinks...)
	if !marked && !strings.Contains(dom.Attr(n, "href"), "#") {
		return false
	}
	text := chars.OneLine(dom.Text(n))
	switch text {
	case "¶", "§", "#", "🔗", "¶¶", "∞", "⚓", "⚓︎", "◆", "Anchor", "Permalink", "Link to this heading", "Copy link":
		return marked || text == "#" && strings.HasPrefix(dom.Attr(n, "href"), "#") ||
			dom.Within(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt, atom.Summary, atom.Caption)
	}
	if text == "" && strings.EqualFold(dom.Attr(n, "title"), "permalink") || strings.HasPrefix(text, "Section titled ") {
		return true
	}
	return marked && (text == "" || len(text) <= 8 && !dom.Within(n, atom.P, atom.Li, atom.Td) && !wholeHeading(n)) &&
		!dom.Contains(n, atom.Img)
}

// EditsSection reports whether n holds only the links by which readers of a wiki edit the section of a heading, as in
// "[edit]". Skins that drop the class keep the brackets. n is the element around those links.
func EditsSection(n *html.Node) bool {
	const most = 80 // bytes of its text, in any language
	if dom.HasClass(n, "mw-editsection", "mw-editsection-like", "editsection") {
		return len(chars.OneLine(dom.Text(n))) <= most
	}
	if first := dom.FirstText(n); first == nil || !strings.HasPrefix(strings.TrimSpace(first.Data), "[") {
		return false
	}
	links := dom.FindAll(n, func(d *html.Node) bool { return dom.Is(d, atom.A) })
	for _, a := range links {
		href := dom.Attr(a, "href")
		if !strings.Contains(href, "action=edit") || !strings.Contains(href, "section=") {
			return false
		}
	}
	text := chars.OneLine(dom.Text(n))
	return len(links) > 0 && len(text) <= most && strings.HasSuffix(text, "]")
}

// SelfLink reports whether the text of a heading is one link to that heading. It then says no more than the heading.
func SelfLink(n *html.Node) bool {
	id, ok := strings.CutPrefix(dom.Attr(n, "href"), "#")
	if !ok || id == "" {
		return false
	}
	h := headingAround(n)
	if h == nil || dom.Attr(n, "id") != id && dom.Attr(h, "id") != id &&
		(h.Parent == nil || dom.Attr(h.Parent, "id") != id) {
		return false
	}
	return wholeHeading(n)
}

// wholeHeading reports whether the text of a heading is that of a link. It compares them on one line.
func wholeHeading(n *html.Node) bool {
	h := headingAround(n)
	return h != nil && chars.OneLine(dom.Text(n)) == chars.OneLine(dom.Text(h))
}

// headingAround returns the heading that n lies in, or nil.
func headingAround(n *html.Node) *html.Node {
	h := n.Parent
	for h != nil && !dom.IsHeading(h) {
		h = h.Parent
	}
	return h
}

// LiftHeading moves a link around a heading into the heading, because a markdown link cannot hold blocks. What else
// stands in the link is no longer part of it.
func LiftHeading(n *html.Node) {
	h := dom.Find(n, dom.IsHeading)
	if h == nil || n.Parent == nil {
		return
	}
	href := dom.Attr(n, "href")
	if href == "" || dom.Contains(h, atom.A) {
		dom.Rename(n, atom.Div)
		return
	}
	link := dom.NewElement(atom.A)
	link.Attr = []html.Attribute{{Key: "href", Val: href}}
	dom.MoveChildren(h, link)
	h.AppendChild(link)
	dom.Rename(n, atom.Div)
	n.Attr = nil
}
