package outline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// maxHeadingChars is how much of a heading stands in a path, in code points.
const maxHeadingChars = 200

// Heading is a heading of a markdown text, with the section that it begins.
type Heading struct {
	Level    int    `json:"level"` // 1 to 6; 7 for a term that is defined
	Title    string `json:"title"` // plain text
	Fragment string `json:"fragment"`
	Start    int    `json:"start"` // bytes of the markdown, from the heading
	End      int    `json:"end"`   // to the next heading of this level or a higher one

	Tokens int `json:"tokens,omitempty"` // of what stands under it, without the sections below it; see Weigh
}

// Of returns the headings of a markdown text without front matter, in order. Fragments are those of GitHub, and
// unique.
func Of(md []byte) []Heading {
	var list []Heading
	for _, h := range markdown.Headings(md) {
		title := clip.Ellipsis(h.Title, maxHeadingChars+1)
		list = append(list, Heading{Level: h.Level, Title: title, Fragment: h.Fragment, Start: h.Start, End: h.End})
	}
	return list
}

// ErrNoSection is returned for a section that a text does not have.
var ErrNoSection = errors.New("not found")

// Section returns the first section whose fragment, title or heading path ("Install › Linux") equals name, ignoring
// case, or else whose title begins with name. If there is none, it is the definition of a term with that path, title or
// name, as hits have them. Before all of them comes the place to which the page's anchor of that name leads, as in the
// links of hits; anchors are those of the page, if they are known. If there is no such section, the error wraps
// ErrNoSection and lists headings of the text.
func Section(md []byte, name string, anchors []page.Anchor) (Heading, error) {
	headings := Of(md)
	wanted := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(name), "#"))
	if wanted == "" {
		return Heading{}, fmt.Errorf("section %q: %w", name, ErrNoSection)
	}
	if h, ok := anchored(md, wanted, anchors); ok {
		return h, nil
	}
	for _, same := range []func(Heading, string) bool{
		func(h Heading, _ string) bool { return strings.EqualFold(h.Fragment, wanted) },
		func(h Heading, _ string) bool { return strings.EqualFold(h.Title, wanted) },
		func(_ Heading, path string) bool {
			return strings.EqualFold(path, strings.ReplaceAll(wanted, " > ", " › "))
		},
		func(h Heading, _ string) bool { return hasPrefixFold(h.Title, wanted) },
	} {
		var stack headingStack
		for _, h := range headings {
			stack.push(h.Level, h.Title)
			if same(h, strings.Join(stack.titles, " › ")) {
				return h, nil
			}
		}
	}
	if h, ok := definedAs(md, wanted); ok {
		return h, nil
	}
	return Heading{}, fmt.Errorf("section %q: %w%s", clip.Runes(name, maxHeadingChars), ErrNoSection,
		among(headings))
}

// definedAs returns the first definition whose path or title equals name, ignoring case, or else that of what name is,
// or else one whose term begins with name.
func definedAs(md []byte, name string) (Heading, bool) {
	path := strings.ReplaceAll(name, " > ", " › ")
	list := Landmarks(md)
	at := slices.IndexFunc(list, func(l Landmark) bool { return l.level == 0 && strings.EqualFold(l.title(), name) })
	for i := range list {
		if at < 0 && strings.EqualFold(PathOf(list, i), path) {
			at = i
		}
	}
	if at < 0 {
		at = DefinitionOf(list, []string{Qualified(name)}).Landmark
	}
	if at < 0 {
		at = slices.IndexFunc(list, func(l Landmark) bool { return l.level == 0 && hasPrefixFold(l.name(), name) })
	}
	if at < 0 {
		return Heading{}, false
	}
	return list[at].heading(markdown.Slug(list[at].lines[0])), true
}

// anchored returns the heading or the definition to which an anchor of the page leads.
func anchored(md []byte, id string, anchors []page.Anchor) (Heading, bool) {
	at := slices.IndexFunc(anchors, func(a page.Anchor) bool { return a.ID == id })
	if at < 0 {
		return Heading{}, false
	}
	text, list := anchorName(anchors[at].Text), Landmarks(md)
	for i := range list {
		for term, line := range list[i].lines {
			name := strings.TrimSuffix(anchorName(TitleText(line)), ellipsis)
			if name != "" && strings.HasPrefix(text, name) && AnchorOf(list, i, term, anchors) == id {
				return list[i].heading(id), true
			}
		}
	}
	return Heading{}, false
}

// hasPrefixFold reports whether a title begins with a name, ignoring case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// among names some headings of a text, for the error of a section that it does not have.
func among(headings []Heading) string {
	const most = 10
	if len(headings) == 0 {
		return ": the text has no headings"
	}
	var names []string
	for _, h := range headings[:min(len(headings), most)] {
		names = append(names, h.Fragment)
	}
	if len(headings) > most {
		names = append(names, "…")
	}
	return ": it has " + strings.Join(names, ", ")
}

// TitleText returns the text of a heading's markdown: plain, with single spaces, at most 200 code points.
func TitleText(md []byte) string {
	title, _ := markdown.OwnID(md)
	text := strings.Join(strings.Fields(markdown.Plain(title)), " ")
	return clip.Ellipsis(text, maxHeadingChars+1)
}

// MaxPath bounds a path as shown and indexed, in bytes.
const MaxPath = 500

// JoinPath returns headings as one text. Of a path that is too long the outer headings go.
func JoinPath(path []string) string {
	for {
		s := strings.Join(path, " › ")
		if len(s) <= MaxPath || len(path) == 1 {
			return clip.Bytes(s, MaxPath)
		}
		path = path[1:]
	}
}

// headingStack holds the headings above the current place.
type headingStack struct {
	levels []int
	titles []string
	shared []string // a copy of titles that passages keep; nil when it must be made again
}

// push enters a heading, in the place of those of its own level and of the levels below it.
func (s *headingStack) push(level int, title string) {
	n := len(s.levels)
	for n > 0 && s.levels[n-1] >= level {
		n--
	}
	s.levels, s.titles, s.shared = append(s.levels[:n], level), append(s.titles[:n], title), nil
}

// pop leaves all that has the level or a lower one.
func (s *headingStack) pop(level int) {
	n := len(s.levels)
	for n > 0 && s.levels[n-1] >= level {
		n--
	}
	if n < len(s.levels) {
		s.levels, s.titles, s.shared = s.levels[:n], s.titles[:n], nil
	}
}

// path returns the headings above the present place, outermost first. It is shared: never change it.
func (s *headingStack) path() []string {
	if s.shared == nil && len(s.titles) > 0 {
		s.shared = append([]string(nil), s.titles...)
	}
	return s.shared
}
