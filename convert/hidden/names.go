package hidden

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// names are the attributes whose values reach agents as words: as a title, a label, the description of a picture, what
// the head says. Others are only looked through: selectors compare them.
var names = chars.Set("alt title aria-label aria-description content lang label summary abbr")

// Names takes the characters that nobody sees out of the names below root, in its title and in what its head says, and
// reports those that carry words, wherever in the markup they stand. Call it before anything is read from the page.
// Data in JSON is only reported on: its readers take the characters out.
func (w *Cleaner) Names(root *html.Node) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for i := range n.Attr {
			a := &n.Attr[i]
			clean, smuggled := chars.Visible(a.Val)
			if smuggled {
				w.reported.addSmuggled(a.Val)
			}
			if names[a.Key] || a.Key == "href" && dom.Is(n, atom.Link, atom.Base) {
				a.Val = clean
			}
		}
		switch {
		case dom.Is(n, atom.Title) && n.FirstChild != nil:
			clean, smuggled := chars.Visible(n.FirstChild.Data)
			if smuggled {
				w.reported.addSmuggled(n.FirstChild.Data)
			}
			n.FirstChild.Data = clean
		case dom.Is(n, atom.Script) && n.FirstChild != nil && dom.Attr(n, "type") == "application/ld+json":
			text := unescaped(n.FirstChild.Data)
			if _, smuggled := chars.Visible(text); smuggled {
				w.reported.addSmuggled(text)
			}
		}
	}
}

// unescaped returns JSON of a page, for [Cleaner.Names], with the characters that it escapes by numbers. It is not
// decoded otherwise: only its characters matter.
func unescaped(text string) string {
	at := strings.Index(text, `\u`)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(text[:at])
		text = text[at:]
		r, size := escape(text)
		if high := r; utf16.IsSurrogate(high) {
			low, more := escape(text[size:])
			r, size = utf16.DecodeRune(high, low), size+more
		}
		b.WriteRune(r)
		text = text[size:]
		at = strings.Index(text, `\u`)
	}
	b.WriteString(text)
	return b.String()
}

// escape reads the escape by number that a text of JSON begins with, for [Cleaner.Names]; of one that begins with none
// it returns nothing, but after a mark without a number that mark. size is how many bytes it has.
func escape(text string) (r rune, size int) {
	if !strings.HasPrefix(text, `\u`) {
		return -1, 0
	}
	if len(text) >= 6 {
		if n, err := strconv.ParseUint(text[2:6], 16, 16); err == nil {
			return rune(n), 6
		}
	}
	return '\\', 2
}
