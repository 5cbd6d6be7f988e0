package outline

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// A Landmark is what a place in a text is called by: a heading, or a term that is defined, as the functions of a
// reference are.
type Landmark struct {
	level int      // of a heading, 1 to 6; 0 for a term
	lines [][]byte // its markdown: of a heading one line, of a definition each term
	Start int      // bytes of the text
	end   int      // where the section or the definition ends
	above int      // the landmark that it stands under; -1 for none
}

// MaxWalked is the longest text whose landmarks are looked for, in bytes: they take some milliseconds.
const MaxWalked = 1 << 20

// Landmarks returns the landmarks of a text, in order.
func Landmarks(md []byte) []Landmark {
	var list []Landmark
	var headings []int   // the sections that have not ended, from the outermost inwards
	var terms []openTerm // likewise
	for b := range markdown.Blocks(md) {
		lines, indent := b.Terms(md)
		if lines == nil {
			line, _ := markdown.LineAt(md, b.Start)
			indent = markdown.Indentation(line)
		}
		for n := len(terms); n > 0 && terms[n-1].indent >= indent; n-- {
			list[terms[n-1].at].end = b.Start
			terms = terms[:n-1]
		}
		now := Landmark{lines: lines, Start: b.Start, end: len(md), above: -1}
		switch {
		case b.Kind == markdown.Heading && isAside(b.Title(md)):
			continue
		case b.Kind == markdown.Heading:
			now.level, now.lines = b.Level, [][]byte{b.Title(md)}
			for n := len(headings); n > 0 && list[headings[n-1]].level >= b.Level; n-- {
				list[headings[n-1]].end = b.Start
				headings = headings[:n-1]
			}
			if n := len(headings); n > 0 {
				now.above = headings[n-1]
			}
			headings = append(headings, len(list))
		case lines == nil:
			continue
		default:
			if n := len(headings); n > 0 {
				now.above = headings[n-1]
			}
			if n := len(terms); n > 0 {
				now.above = terms[n-1].at
			}
			terms = append(terms, openTerm{len(list), indent})
		}
		list = append(list, now)
	}
	return list
}

// isAside reports whether a heading, a landmark, is that of a box beside the text, as DocBook has them: what follows
// the box does not stand under it.
func isAside(title []byte) bool {
	switch strings.ToLower(TitleText(title)) {
	case "note", "tip", "warning", "caution", "important":
		return true
	}
	return false
}

// openTerm is a term that is being defined.
type openTerm struct{ at, indent int }

// name returns the heading or the first term as plain text.
func (l *Landmark) name() string { return TitleText(l.lines[0]) }

// title returns the heading, or all terms, as plain text.
func (l *Landmark) title() string {
	title := l.name()
	for _, line := range l.lines[1:] {
		if len(title) > maxHeadingChars {
			break
		}
		title += ", " + TitleText(line)
	}
	return clip.Ellipsis(title, maxHeadingChars+1)
}

// heading returns the landmark as a heading with a fragment.
func (l *Landmark) heading(fragment string) Heading {
	level := cmp.Or(l.level, 7)
	return Heading{Level: level, Title: l.title(), Fragment: fragment, Start: l.Start, End: l.end}
}

// id returns the id that the text gives a heading; empty if it gives none.
func (l *Landmark) id() string {
	_, id := markdown.OwnID(l.lines[0])
	return id
}

// PathOf returns what a landmark stands under and itself, joined by " › ".
func PathOf(list []Landmark, i int) string {
	var path []string
	for ; i >= 0; i = list[i].above {
		path = append(path, list[i].title())
	}
	slices.Reverse(path)
	return JoinPath(path)
}

// AnchorOf returns the fragment that leads to a landmark of a page, if one of the page's anchors does: an id that the
// text gives it, or the anchor with its name. Of several landmarks with one name, it is the one in the same order, but
// only if the page has as many. Term is which of the landmark's terms is meant; the first if that has no anchor.
func AnchorOf(list []Landmark, i, term int, anchors []page.Anchor) string {
	if id := list[i].id(); id != "" {
		return id
	}
	wanted := anchorName(TitleText(list[i].lines[term]))
	if wanted == "" {
		return ""
	}
	before, all := 0, 0
	for j := range list {
		for _, line := range list[j].lines {
			if bytes.Equal(line, list[i].lines[term]) {
				if j < i {
					before++
				}
				all++
			}
		}
	}
	var same, longer []string
	for _, a := range anchors {
		switch name := anchorName(a.Text); {
		case name == wanted:
			same = append(same, a.ID)
		case strings.HasPrefix(name, strings.TrimSuffix(wanted, ellipsis)) &&
			(len(name) <= len(wanted)+maxAdded || strings.HasSuffix(wanted, ellipsis)):
			longer = append(longer, a.ID)
		}
	}
	if len(same) == 0 {
		same = longer // as with a button beside the heading
	}
	switch {
	case len(same) == all:
		return same[before]
	case term > 0:
		return AnchorOf(list, i, 0, anchors)
	}
	return ""
}

// maxAdded is how much longer the text of a page's heading may be than what was read of it, in bytes.
const maxAdded = 24

// anchorName returns, to find a landmark's anchor, what remains of a heading when the marks of its link and white space
// are left out.
func anchorName(title string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.Trim(title, "¶§#🔗∞⚓◆ \u00a0")), ""))
}

// LandmarkAt returns the last landmark that begins at or before a place; -1 if there is none that holds it.
func LandmarkAt(list []Landmark, at int) int {
	last := -1
	for i := range list {
		if list[i].Start <= at && at < list[i].end {
			last = i
		}
	}
	return last
}
