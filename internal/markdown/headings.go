package markdown

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/readthru/readthru/internal/lazy"
)

// SectionHeading is a heading of a text, with the section that it begins.
type SectionHeading struct {
	Level    int    // 1 to 6
	Title    string // plain text, with single spaces
	Fragment string // names it in URLs: an id of its own, else its slug
	OwnID    bool   // Fragment is an id that the text gives, not a slug
	Start    int    // where the section begins in bytes: at the heading, or at the anchor that names it
	End      int    // where the next heading of this level or a higher one begins, or the text ends
}

// Headings returns the headings of a text, in order. A heading is named by an id of its own, {#id} or an anchor in it
// or on the line before, else by the slug that GitHub gives it. No two slugs are equal.
func Headings(md []byte) []SectionHeading {
	var list []SectionHeading
	var open []int // headings whose sections have not ended
	var slugs slugSet
	var above Block // the text block before
	for b := range Blocks(md) {
		if b.Kind != Heading {
			above = b
			continue
		}
		title, id := OwnID(b.Title(md))
		h := SectionHeading{Level: b.Level, Start: b.Start, End: len(md), Fragment: id, OwnID: id != ""}
		if above.Kind == Text && above.End > 0 && !h.OwnID {
			line := above.Start + bytes.LastIndexByte(md[above.Start:above.End], '\n') + 1
			if bytes.HasPrefix(bytes.TrimLeft(md[line:above.End], " \t"), []byte("<a")) {
				if h.Fragment = anchorID(md[line:above.End]); h.Fragment != "" {
					h.OwnID, h.Start = true, line
				}
			}
		}
		if !h.OwnID {
			h.Fragment = slugs.add(Slug(title))
		}
		h.Title = strings.Join(strings.Fields(Plain(title)), " ")
		for len(open) > 0 && list[open[len(open)-1]].Level >= h.Level {
			list[open[len(open)-1]].End = h.Start
			open = open[:len(open)-1]
		}
		open = append(open, len(list))
		list = append(list, h)
		above = Block{}
	}
	return list
}

// Section returns the range of the section that a fragment names: an id as it is written, a slug in any case. found is
// false when no heading has that name.
func Section(md []byte, fragment string) (start, end int, found bool) {
	slug := strings.ToLower(fragment)
	for _, h := range Headings(md) {
		if h.Fragment == fragment || !h.OwnID && h.Fragment == slug {
			return h.Start, h.End, true
		}
	}
	return 0, len(md), false
}

// maxTitle is how many bytes of a heading are read.
const maxTitle = 1600

// OwnID splits the title of a heading: the markdown of its text, without the marks that close it, and the id that it
// gives itself, as in "Install {#install}" or by an anchor within it; empty when it gives none.
func OwnID(md []byte) (title []byte, id string) {
	title = bytes.TrimSpace(md[:min(len(md), maxTitle)])
	if open := bytes.TrimRight(title, "#"); len(open) == 0 || open[len(open)-1] == ' ' || open[len(open)-1] == '\t' {
		title = bytes.TrimRight(open, " \t")
	}
	if n := len(title); n > 0 && title[n-1] == '}' {
		if at := bytes.LastIndex(title, []byte("{#")); at >= 0 && bytes.IndexByte(title[at+1:n-1], '{') < 0 {
			name, _, _ := strings.Cut(string(title[at+2:n-1]), " ")
			return bytes.TrimSpace(title[:at]), name
		}
	}
	return title, anchorID(title)
}

var anchor = lazy.Pattern(`<a\s[^>]*\b(?:id|name)=["']?([^"'\s>]+)`)

// anchorID returns the id or name of the first anchor of HTML in a line (<a id>, <a name>), which names the heading
// below it; empty if there is none.
func anchorID(line []byte) string {
	if !bytes.Contains(line, []byte("<a")) {
		return ""
	}
	m := anchor().FindSubmatch(line[:min(len(line), maxMark)])
	if m == nil {
		return ""
	}
	return string(m[1])
}

// Slug returns the fragment that GitHub gives a heading with this markdown: its text in lower case, with letters,
// marks, numbers, connector punctuation and hyphens; spaces become hyphens and all else goes. Images have no text in
// it; only a heading without any other text, which GitHub gives no name, is named by theirs.
func Slug(title []byte) string {
	var text, images strings.Builder
	Pieces(bytes.TrimSpace(title), func(kind PieceKind, piece []byte) {
		switch kind {
		case Tag:
		case AltText:
			images.WriteString(kind.Decode(piece))
		default:
			text.WriteString(kind.Decode(piece))
		}
	})
	if slug := slugOf(text.String()); strings.Trim(slug, "-") != "" {
		return slug
	}
	return slugOf(images.String())
}

// slugOf returns the slug of a heading as GitHub makes it: lower case, hyphens for spaces, and of the rest only
// letters, marks, numbers and connecting punctuation (as the underscore) of all scripts, and hyphens.
func slugOf(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r != unicode.ReplacementChar && unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// slugSet numbers slugs that are taken already.
type slugSet map[string]int

// add returns the slug of a heading as it is unique in the text: the second of one name gets -1, and so on.
func (s *slugSet) add(slug string) string {
	if *s == nil {
		*s = slugSet{}
	}
	taken := *s
	n, is := taken[slug]
	if !is {
		taken[slug] = 0
		return slug
	}
	for {
		n++
		numbered := slug + "-" + strconv.Itoa(n)
		if _, is := taken[numbered]; !is {
			taken[slug], taken[numbered] = n, 0
			return numbered
		}
	}
}
