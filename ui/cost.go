package ui

import (
	"cmp"
	"slices"

	"github.com/readthru/readthru/api"
)

// Bounds of what is explained beside a page or a request: one of fewer tokens than dearPage is not. Of the other pages,
// the dearSections dearest sections are named that have a tenth of the tokens or more.
const (
	dearPage     = 1000
	dearSections = 3
)

// costs says where the tokens of a page are, for the sidenote of the page's room: by kinds of blocks, in the addresses
// of links, and in the dearest sections.
type costs struct {
	Kinds    []cost
	Links    cost // the addresses of links, which are among these
	Sections []cost
}

// A cost is a part of the tokens of a page, as the sidenote shows it.
type cost struct {
	Name, Link string
	Tokens     int
	Share      float64 // of all
}

// costsOf returns where the tokens of a page are, from its outline; list has the same headings with the links of the
// dashboard. It is nil for a small page.
func costsOf(o *api.Outline, list []heading) *costs {
	if o.Tokens < dearPage {
		return nil
	}
	share := func(tokens int) float64 { return float64(tokens) / float64(o.Tokens) }
	c := &costs{Links: cost{Tokens: o.LinkTokens, Share: share(o.LinkTokens)}}
	for _, k := range o.Kinds {
		c.Kinds = append(c.Kinds, cost{Name: k.Kind, Tokens: k.Tokens, Share: share(k.Tokens)})
	}
	for _, h := range list {
		if h.Tokens >= o.Tokens/10 {
			c.Sections = append(c.Sections, cost{Name: h.Title, Link: h.Link, Tokens: h.Tokens, Share: share(h.Tokens)})
		}
	}
	slices.SortStableFunc(c.Sections, func(a, b cost) int { return cmp.Compare(b.Tokens, a.Tokens) })
	c.Sections = c.Sections[:min(len(c.Sections), dearSections)]
	return c
}
