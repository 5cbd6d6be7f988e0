package convert

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/page"
)

// Limits of Anchors: of their number, and of the bytes of a text.
const (
	maxAnchors    = 5000
	maxAnchorText = 600
)

// Anchors returns the anchors of an HTML page that lead to its headings and to the terms of its definition lists, in
// order. Of several names that one of them has, it is its own id, or else the one that its permalink names, that of an
// element in it, or that of what it begins. Tags alone are read, without a tree. content is HTML in UTF-8, not the
// markdown of a page: package fetch keeps the anchors beside it, so that a passage of the markdown can be linked to
// where it stands on the page.
func Anchors(content []byte) []page.Anchor {
	z := html.NewTokenizer(bytes.NewReader(content))
	r := anchorReader{}
	for len(r.list) < maxAnchors {
		switch z.Next() {
		case html.ErrorToken:
			r.end()
			return r.list
		case html.TextToken:
			r.text(z)
		case html.StartTagToken, html.SelfClosingTagToken:
			r.start(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			switch a := atom.Lookup(name); {
			case a == atom.A:
				r.endLink()
			case a != 0 && a == r.element, a == atom.Dl:
				r.end()
			}
		}
	}
	return r.list
}

// anchorReader reads the tags of a page for [Anchors]. own, permalink, inner and before are the names that the heading
// or term at hand may be called by, the best first.
type anchorReader struct {
	list    []page.Anchor
	pending string    // the last id or name before which no text stood
	raw     bool      // within a script or a style sheet
	element atom.Atom // the heading or term that is being read; 0 for none

	own, permalink, inner, before string
	words                         strings.Builder

	link  string // the fragment that the link names which is being read
	since int    // how long words was where it began
}

// start reads a start tag: it begins a heading or a term, or names one that is open or comes next. Names of html, body
// and main are those of the page.
func (r *anchorReader) start(z *html.Tokenizer) {
	tag, more := z.TagName()
	name := atom.Lookup(tag)
	r.raw = name == atom.Script || name == atom.Style
	id, href := "", ""
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch {
		case string(key) == "id", string(key) == "name" && name == atom.A && id == "":
			id = string(value)
		case string(key) == "href" && name == atom.A && len(value) > 1 && value[0] == '#':
			href = string(value[1:])
		}
	}
	switch name {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt:
		r.end()
		r.element, r.own, r.before = name, id, r.pending
		if name == atom.H1 {
			r.before = "" // it names all of the content
		}
		r.pending = ""
		return
	case atom.Dd:
		r.end()
	case atom.Html, atom.Body, atom.Main:
		id = ""
	case atom.A:
		r.link, r.since = href, r.words.Len()
	}
	switch {
	case id == "":
	case r.element == 0:
		r.pending = id
	case r.inner == "":
		r.inner = id
	}
}

// text reads text of a page: into the heading or term that is open; elsewhere it parts a name before it from what comes
// next. Text in scripts is none.
func (r *anchorReader) text(z *html.Tokenizer) {
	switch {
	case r.raw:
	case r.element == 0:
		if r.pending != "" && !chars.Blank(string(z.Raw())) {
			r.pending = ""
		}
	case r.words.Len() < maxAnchorText:
		text := z.Text()
		r.words.Write(text[:min(len(text), maxAnchorText)])
	}
}

// endLink reads the end of a link. One that shows no more than a mark is a permalink. Generators of documentation put
// such links beside headings.
func (r *anchorReader) endLink() {
	if r.element != 0 && r.link != "" && r.permalink == "" {
		if text := r.words.String()[r.since:]; strings.Trim(text, "¶§#🔗∞⚓◆ \u00a0\n\t") == "" {
			r.permalink = r.link
		}
	}
	r.link = ""
}

// end ends the heading or term that is being read, if there is one. It is listed under the first name that it has.
// White space in a name makes it useless as a fragment.
func (r *anchorReader) end() {
	if r.element == 0 {
		return
	}
	text := strings.Join(strings.Fields(strings.ToValidUTF8(r.words.String(), "")), " ")
	for _, id := range []string{r.own, r.permalink, r.inner, r.before} {
		if id != "" && text != "" && !strings.ContainsAny(id, " \t\r\n") {
			r.list = append(r.list, page.Anchor{ID: id, Text: text})
			break
		}
	}
	r.element, r.own, r.permalink, r.inner, r.before, r.link = 0, "", "", "", "", ""
	r.words.Reset()
}
