package head

import (
	"cmp"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/internal/lazy"
)

// titleSeparators stand in titles between the page's name and those of its section and its site. They are looked for
// with their spaces, since a hyphen is also within words.
var titleSeparators = []string{" | ", " - ", " · ", " – ", " — ", " • ", " :: ", " » ", " / "}

// titleParts are what a title element consists of.
type titleParts struct {
	leads map[string]bool // what stands before each separator, folded
	tails map[string]bool // what stands after each, folded
	last  string          // what stands after the last one, folded; empty without one
	page  string          // the title without the site's name at its end or beginning; empty without that
	first string          // what stands before the first separator of the kind that is the last
}

// parts divides the title element at each of the separators.
func (t *titles) parts() titleParts {
	p := titleParts{leads: map[string]bool{}, tails: map[string]bool{}}
	last := 0
	for _, separator := range titleSeparators {
		for at := 0; ; {
			i := strings.Index(t.element[at:], separator)
			if i < 0 {
				break
			}
			head, tail := t.element[:at+i], t.element[at+i+len(separator):]
			at += i + len(separator) - 1 // two separators may share a space
			p.leads[chars.Fold(head)], p.tails[chars.Fold(tail)] = true, true
			if at > last {
				last, p.last = at, chars.Fold(tail)
				p.first, _, _ = strings.Cut(t.element, separator)
			}
			switch {
			case t.names(chars.Fold(tail)):
				p.page = head
			case p.page == "" && !t.home && t.host != "" && chars.Fold(head) == t.host:
				p.page = tail
			}
		}
	}
	return p
}

// sectionNumber is the number of a section at the beginning of its heading, which a word may precede: "Chapter 3.1: "
// and "A.2 " are such numbers.
var sectionNumber = lazy.Pattern(`^(?:\pL+ )?[A-Z]?[.\d]*\d[.\d]*\W+`)

// unnumbered returns a heading without the number of its section; one that is nothing else stays.
func unnumbered(heading string) string {
	return cmp.Or(sectionNumber().ReplaceAllString(heading, ""), heading)
}

// endsIn reports whether a heading is a folded name after up to three words that say what kind of thing has it: "Class
// template vector" ends in "vector".
func endsIn(heading, name string) bool {
	heading, _, _ = strings.Cut(heading, "<") // parameters of a type
	for range 3 {
		if _, heading, _ = strings.Cut(heading, " "); chars.Fold(heading) == name {
			return name != ""
		}
	}
	return false
}
