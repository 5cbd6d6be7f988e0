package css

import (
	"errors"
	"slices"

	"golang.org/x/net/html"
)

// Selectors is a list of CSS selectors of a recipe, ready to be compared with elements. The zero value matches nothing.
type Selectors struct{ list []*selector }

// The errors of [ParseSelectors]. They are worded to follow the selector in a message about a recipe: people who write
// recipes read them.
var (
	ErrSelector  = errors.New("it is not a CSS selector, or has a part that is not known here")
	ErrNever     = errors.New("it matches no element of a page at rest")
	ErrUniversal = errors.New("it matches elements of every kind: name an element, a class, an id or an attribute")
	ErrLong      = errors.New("it is too long")
)

// ParseSelectors reads a list of selectors for a [Finder], each of which must name what it matches. The error is one of
// this package. A recipe that names nothing, such as "*" or "div:hover", is a mistake that this finds when the recipe
// is read, not when it is used.
func ParseSelectors(list string) (Selectors, error) {
	if len(list) > maxSelector {
		return Selectors{}, ErrLong
	}
	var p parser
	all := p.selectors(list, nil, false)
	if len(all) == 0 {
		return Selectors{}, ErrSelector
	}
	for _, s := range all {
		for i := range s.chain {
			if s.chain[i].never {
				return Selectors{}, ErrNever
			}
		}
		if s.chain[0].universal() {
			return Selectors{}, ErrUniversal
		}
	}
	return Selectors{all}, nil
}

// Finder compares the elements of a page with the selectors of recipes, within a number of comparisons. It has no
// shadow roots and no quirks. It remembers answers about :has and about places among siblings, so that the tree must
// not change while it is used, and several goroutines must not use it at once.
type Finder struct{ matcher }

// NewFinder returns a Finder that makes at most steps comparisons of an element with a part of a selector. The count
// ends what a selector with many descendant combinators could cost on a large page.
func NewFinder(steps int) *Finder { return &Finder{matcher{steps: steps}} }

// Matches reports whether one of the selectors holds for n. It holds for none once [Finder.Spent].
func (f *Finder) Matches(s Selectors, n *html.Node) bool { return f.any(s.list, n, nil) }

// Spent reports whether all comparisons have been made. What a recipe selects is then not known in full, and must not
// be used.
func (f *Finder) Spent() bool { return f.steps < 0 }

// Marked reports whether each selector asks for an id, a class or an attribute of what it matches. A selector of
// nothing but tags, such as "article p", may suit any page.
func (s Selectors) Marked() bool {
	return !slices.ContainsFunc(s.list, func(one *selector) bool {
		c := &one.chain[0]
		return c.id == "" && len(c.classes)+len(c.attrs) == 0
	})
}
