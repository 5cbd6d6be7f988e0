package head

import (
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

// bylineReach is the number of elements after the first heading that are searched for author and date. A byline stands
// near the title; further down names are those of others.
const bylineReach = 400

// byWord begins what some pages state as their author. It is taken off.
var byWord = lazy.Pattern(`(?i)^by:?\s+`)

// readBelow reads author and date below the first heading where the metadata state none. A name below the heading is
// better than that of the site, which some pages state as their author. What it has read itself it notes in guessed,
// for [Head.Forget].
func (h *Head) readBelow(root *html.Node) {
	stated := h.Meta["author"]
	if stated != "" && chars.Fold(stated) == chars.Fold(h.Meta["og:site_name"]) {
		delete(h.Meta, "author")
	}
	for _, key := range []string{"author", "date"} {
		if h.Meta[key] == "" {
			h.guessed = append(h.guessed, key)
		}
	}
	readByline(h.Meta, root)
	found, known := chars.Fold(h.Meta["author"]), chars.Fold(stated)
	if stated != "" && (strings.Contains(found, known) || strings.Contains(known, found)) { // also if none was found
		h.Meta["author"] = stated
	}
}

// Forget drops the author and the date that were read from a page that lists others, or sells something: they are those
// of the first, or of somebody who says what he thinks of it. Package convert calls it when the type of the page is
// known.
func (h *Head) Forget() {
	for _, key := range h.guessed {
		delete(h.Meta, key)
	}
}

// readByline finds the author and the date below the first heading of a page whose metadata does not state them. Menus,
// footers, forms and boxes of reviews are passed over.
func readByline(meta page.Meta, root *html.Node) {
	if meta["author"] != "" && meta["date"] != "" {
		return
	}
	after, reach := false, 0
	var walk func(n *html.Node) (more bool)
	walk = func(parent *html.Node) bool {
		for n := parent.FirstChild; n != nil; n = n.NextSibling {
			if n.Type != html.ElementNode || dom.Is(n, atom.Nav, atom.Footer, atom.Script, atom.Style, atom.Noscript,
				atom.Template, atom.Svg, atom.Head, atom.Form) || dom.HasClass(n, saidByOthers...) ||
				dom.Attr(n, "aria-hidden") == "true" { // such as initials in place of a portrait
				continue
			}
			after = after || dom.Is(n, atom.H1)
			if after {
				if reach++; reach > bylineReach || meta["author"] != "" && meta["date"] != "" {
					return false
				}
				if meta["author"] == "" && AuthorElement(n) && len(dom.Text(n)) < 300 {
					Put(meta, "author", byline(chars.Clip(dom.OneLine(n))))
				}
				if meta["date"] == "" {
					Put(meta, "date", elementDate(n))
				}
			}
			if !walk(n) {
				return false
			}
		}
		return true
	}
	walk(root)
}

// saidByOthers are the classes of boxes in which others say what they think of what the page is about.
var saidByOthers = strings.Fields("review reviews customer-review customer-reviews testimonial testimonials")

// authorNames are the names of elements that say who wrote a page.
var authorNames = dom.Names(`byline by-line author author-name post-author entry-author byline-name byline-author
	article-author username contributor writer`)

// AuthorElement reports whether an element says by its name, or by what it is marked as, who wrote the page. Package
// convert finds the author of a list's items by it.
func AuthorElement(n *html.Node) bool {
	switch {
	case dom.Is(n, atom.Img, atom.Ul, atom.Form, atom.Input, atom.Meta, atom.Link):
		return false
	case dom.Attr(n, "rel") == "author" || strings.HasPrefix(dom.Attr(n, "itemprop"), "author"):
		return true
	}
	class, id := dom.Attr(n, "class"), strings.ReplaceAll(strings.ToLower(dom.Attr(n, "id")), "-", "")
	return len(class) < 400 && dom.AnyNamed(class, authorNames) ||
		// generators of documentation make the id of a section of its heading
		authorNames[id] && !dom.Is(n, atom.H1, atom.H2, atom.H3)
}

// bylineStart matches what stands before the name in a byline, such as "Written by", and bylineEnd all from the first
// word on that cannot be part of the name.
var (
	bylineStart = lazy.Pattern(`(?i)^(?:\W*(?:` +
		`(?:article |story |post |posted |written |published |created |reported |authored )?by|` +
		`author|von|par|por|from)\b\s*:?\s*)+`)
	bylineEnd = lazy.Pattern(`(?i)\s*(?:[|•·–—(@<]|\s-\s|\bon\s|\bin\s|\bat\s\d|\bpublished\b|\bupdated\b|` +
		`\bposted\b|\blast\b|\bsaid\b|\bfollow\b|\s\d|` +
		`\s(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?\s\d).*$`)
)

// byline returns the name in a byline, or "" if s is not a name: one to eight words that begin with a letter. Longer
// texts, and those with addresses, are none.
func byline(s string) string {
	s = strings.TrimSpace(bylineEnd().ReplaceAllString(bylineStart().ReplaceAllString(s, ""), ""))
	s = strings.Trim(s, " ,;:/")
	if s == "" || len(s) > 120 || strings.Contains(s, "://") || strings.ContainsAny(s, "»›") ||
		len(strings.Fields(s)) > 12 || !nameLike(s) {
		return ""
	}
	return s
}

// nameLike reports whether s may be a name, and is not a label, a placeholder or a sentence: of three words or more at
// most half begin with a small letter. A sentence begins most words with a small letter.
func nameLike(s string) bool {
	words, small := strings.Fields(s), 0
	for _, word := range words {
		if first, _ := utf8.DecodeRuneInString(word); unicode.IsLower(first) {
			small++
		}
	}
	return strings.ContainsFunc(s, unicode.IsLetter) && !strings.EqualFold(s, "name") &&
		(len(words) < 3 || small*2 <= len(words))
}
