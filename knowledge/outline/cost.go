package outline

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/readthru/readthru/internal/markdown"
)

// Cost is what the blocks of one kind cost a model that reads them.
type Cost struct {
	Kind   string `json:"kind"` // paragraphs, lists, quotations, code, tables or headings
	Blocks int    `json:"blocks"`
	Tokens int    `json:"tokens"`
}

// Costs says where the tokens of a text are.
type Costs struct {
	Tokens int    // of the text
	Kinds  []Cost // of its blocks, the dearest kind first
	Links  int    // of these tokens, those of the addresses of links and images
}

// Weigh says what a text costs, where its tokens are, and sets those of its headings, as [Of] returns them: what stands
// under each, up to the next heading of any level. What tokens returns for the parts comes to about the whole.
func Weigh(md []byte, headings []Heading, tokens func([]byte) int) Costs {
	c := Costs{Tokens: tokens(md)}
	for i := range headings {
		end := len(md)
		if i+1 < len(headings) {
			end = headings[i+1].Start
		}
		headings[i].Tokens = tokens(md[headings[i].Start:end])
	}
	kinds := map[string]*Cost{}
	for b := range markdown.Blocks(md) {
		text := md[b.Start:b.End]
		name := kindOf(&b, text)
		if kinds[name] == nil {
			kinds[name] = &Cost{Kind: name}
		}
		kinds[name].Blocks++
		kinds[name].Tokens += tokens(text)
	}
	for _, k := range kinds {
		c.Kinds = append(c.Kinds, *k)
	}
	slices.SortFunc(c.Kinds, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Kind, b.Kind))
	})
	for l := range markdown.Links(md) {
		c.Links += tokens(md[l.Start:l.End])
	}
	return c
}

// kindOf returns the kind of a block, as a Cost names it.
func kindOf(b *markdown.Block, text []byte) string {
	switch b.Kind {
	case markdown.Heading:
		return "headings"
	case markdown.Code:
		return "code"
	case markdown.Table:
		return "tables"
	}
	switch line := bytes.TrimLeft(text, " \t\n"); {
	case markdown.QuoteMarkers(line) > 0:
		return "quotations"
	case markdown.ListMarker(line) > 0:
		return "lists"
	}
	return "paragraphs"
}
