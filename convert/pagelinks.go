package convert

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/charset"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// maxLinks is the largest number of links that Links returns. The index of a documentation set has some thousands.
const maxLinks = 20_000

// Links returns the http and https URLs that a page links to: absolute, without fragments other than routes, each once,
// in document order. It reads the whole page with its menus, because a crawl needs links outside the main content. It
// omits links that the page asks not to follow (rel and robots nofollow). content is decoded from its content coding
// and is HTML or, by contentType, markdown; other types have no links. u is the final URL of the page. more is true if
// the page has over 20,000 links and the others are left out. Package fetch hands them to whoever crawls a site.
func Links(content []byte, contentType string, u *url.URL) (list []string, more bool) {
	media, kind := page.MediaType(contentType), page.KindOf(contentType)
	if media != "" && media != "text/plain" && kind != page.HTML && kind != page.Markdown {
		return nil, false
	}
	text, _, err := charset.Decode(content, contentType, guard.MaxPage)
	if err != nil {
		return nil, false
	}
	base := *u
	base.User = nil
	c := linkList{base: &base, given: map[string]bool{}, seen: map[string]bool{}}
	if kind == page.Markdown || media == "text/plain" {
		for l := range markdown.Links(text) {
			if l.Kind != markdown.Src {
				c.add(l.Address(text))
			}
		}
	} else {
		c.html(dom.CloseElements(html.NewTokenizer(bytes.NewReader(text)), text, isXHTML(contentType)))
	}
	return c.links, c.more
}

// linkList gathers links. given spares the cost of resolving an address that menus repeat on every page; seen tells
// equal pages apart by their absolute form.
type linkList struct {
	base  *url.URL
	based bool            // a base element was seen; the first one counts
	given map[string]bool // as they are written
	seen  map[string]bool
	links []string
	more  bool
}

// add adds the address of a link to the list, unless it is there already, leads to a place on the same page, or is no
// address of the web. Session ids in it are left out, or each visit would find new pages.
func (c *linkList) add(href string) {
	href = strings.TrimSpace(href)
	if href == "" || c.more || c.given[href] {
		return
	}
	if len(c.given) < 4*maxLinks {
		c.given[href] = true
	}
	if plain, ok := page.WithoutSession(href); ok {
		href = plain
	}
	u, err := page.Resolve(c.base, href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return
	}
	if href[0] == '#' && page.Route(u) == "" {
		return
	}
	s := page.WithoutAnchor(u).String()
	switch {
	case c.seen[s]:
	case len(c.links) == maxLinks:
		c.more = true
	default:
		c.seen[s] = true
		c.links = append(c.links, s)
	}
}

// html reads the tags one after another without building a tree. Links in templates are not on the page, except for
// those in open shadow roots; links in noscript are for clients without scripts, such as this one.
func (c *linkList) html(text []byte) {
	z := html.NewTokenizer(bytes.NewReader(text))
	var templates []bool // that are open: is their content not on the page?
	inert := 0           // of them
	for !c.more {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			continue
		}
		tag, hasAttr := z.TagName()
		name := string(tag)
		if kind == html.EndTagToken {
			if n := len(templates); name == "template" && n > 0 {
				if templates[n-1] {
					inert--
				}
				templates = templates[:n-1]
			}
			continue
		}
		switch name {
		case "template":
			hidden := !attributes(z, hasAttr).shadow
			if templates = append(templates, hidden); hidden {
				inert++
			}
		case "noscript", "noframes":
			z.NextIsNotRawText() // what is for clients like us
		case "a", "area", "base", "frame", "iframe", "link", "meta":
			if inert > 0 {
				continue
			}
			if c.tag(name, attributes(z, hasAttr)) {
				c.links = nil
				return
			}
		}
	}
}

// tag adds the link of an element. It reports whether the page asks not to follow any of its links. Links of the head
// lead on only if they name the next page, the contents and the like.
func (c *linkList) tag(name string, a linkAttributes) (nofollow bool) {
	switch name {
	case "base":
		u, err := page.Resolve(c.base, strings.TrimSpace(a.href))
		if err == nil && !c.based && a.href != "" && u.Hostname() != "" {
			c.base, c.based = u, true
			clear(c.given)
		}
	case "meta":
		robots := strings.ToLower(a.content)
		return strings.EqualFold(a.name, "robots") &&
			(strings.Contains(robots, "nofollow") || strings.TrimSpace(robots) == "none")
	case "frame", "iframe":
		c.add(a.src)
	case "link":
		if a.related("next", "prev", "contents", "index", "up", "start") {
			c.add(a.href)
		}
	default:
		if !a.related("nofollow") {
			c.add(a.href)
		}
	}
	return false
}

// linkAttributes are the attributes of a tag that say where it leads, and whether it may be followed.
type linkAttributes struct {
	href, src, rel, name, content string
	shadow                        bool // of a template: it is the open shadow root of its parent, and on the page
}

// related reports whether a link's rel holds one of words.
func (a linkAttributes) related(words ...string) bool {
	for r := range strings.FieldsSeq(a.rel) {
		for _, w := range words {
			if strings.EqualFold(r, w) {
				return true
			}
		}
	}
	return false
}

// attributes reads the attributes of a link of a page, the current tag of z. The first of two equal names counts, as in
// HTML.
func attributes(z *html.Tokenizer, more bool) (a linkAttributes) {
	set := func(to *string, value []byte) {
		if *to == "" {
			*to = string(value)
		}
	}
	for more {
		var key, value []byte
		switch key, value, more = z.TagAttr(); string(key) {
		case "href":
			set(&a.href, value)
		case "src":
			set(&a.src, value)
		case "rel":
			set(&a.rel, value)
		case "name":
			set(&a.name, value)
		case "content":
			set(&a.content, value)
		case "shadowrootmode":
			a.shadow = a.shadow || strings.EqualFold(string(value), "open")
		}
	}
	return a
}
