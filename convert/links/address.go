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

// ampersands replaces each ampersand of an address that would begin a character reference by a reference. Browsers
// would read "&copy=1" as a sign.
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
