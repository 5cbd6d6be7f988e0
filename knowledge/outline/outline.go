package outline

import (
	"errors"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/markdown"
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
