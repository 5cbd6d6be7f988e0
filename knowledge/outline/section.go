package outline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

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

// definedAs returns, where no section has the name, the first definition whose path or title equals name, ignoring
// case, or else that of what name is, or else one whose term begins with name.
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

// anchored returns the section, by its heading, or the definition to which an anchor of the page leads.
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
