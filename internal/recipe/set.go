package recipe

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/readthru/readthru/convert"
)

// Set are recipes in the order in which they are tried. It is never changed; nil is an empty set.
type Set struct{ list func() []*Recipe }

// NewSet returns the recipes of the user, which come first, and of the others those whose names the user's do not have.
// It asks for the others when it is first used.
func NewSet(own []*Recipe, others func() []*Recipe) *Set {
	return &Set{sync.OnceValue(func() []*Recipe {
		list := slices.Clone(own)
		for _, r := range others() {
			if !slices.ContainsFunc(own, func(o *Recipe) bool { return o.Name == r.Name }) {
				list = append(list, r)
			}
		}
		return list
	})}
}

// Recipes returns the recipes in the order in which they are tried.
func (s *Set) Recipes() []*Recipe {
	if s == nil {
		return nil
	}
	return s.list()
}

// For returns the recipes that may be for the page at u: the first whose element the page has is for it.
func (s *Set) For(u *url.URL) Candidates {
	if s == nil || u == nil {
		return nil
	}
	var list Candidates
	for _, r := range s.list() {
		if r.Matches(u) {
			list = append(list, r)
		}
	}
	return list
}

// Candidates are the recipes that may be for a page, in order.
type Candidates []*Recipe

// Convert returns what package convert applies.
func (c Candidates) Convert() []*convert.Recipe {
	list := make([]*convert.Recipe, len(c))
	for i, r := range c {
		list[i] = r.compiled
	}
	return list
}

// Edition names the recipes in their present form. It is empty if there are none.
func (c Candidates) Edition() string {
	switch len(c) {
	case 0:
		return ""
	case 1:
		return c[0].Edition
	}
	var b strings.Builder
	for _, r := range c {
		b.WriteString(r.Edition)
	}
	return b.String()
}

// Rendering returns what the first recipe that says it has to say of rendering, and what the browser waits for. What
// element the page has is not known before, so that only recipes for one site say it.
func (c Candidates) Rendering() (render, wait string) {
	for _, r := range c {
		if r.Render != "" {
			return r.Render, r.Wait
		}
	}
	return "", ""
}

// Pages returns how many pages the first recipe that joins pages joins to one; 1 if none does.
func (c Candidates) Pages() int {
	for _, r := range c {
		if r.Pages > 1 {
			return r.Pages
		}
	}
	return 1
}
