package outline_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/outline"
)

func TestTheCostOfATextIsSaidByKindAndSection(t *testing.T) {
	md := []byte("Before all.\n\n# One\n\nTwo words [here](https://a.test/b).\n\n- item\n- item\n\n## Deep\n\n" +
		"```go\n" + strings.Repeat("code line\n", 20) + "```\n\n> quoted\n\n# Two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
	words := func(text []byte) int { return len(bytes.Fields(text)) }
	headings := outline.Of(md)
	c := outline.Weigh(md, headings, words)
	if c.Tokens != words(md) || c.Links != 1 {
		t.Errorf("%d tokens, %d of links, want %d and 1", c.Tokens, c.Links, words(md))
	}
	var sum int
	var kinds []string
	for _, k := range c.Kinds {
		sum += k.Tokens
		kinds = append(kinds, k.Kind)
	}
	if want := []string{"code", "tables", "headings", "paragraphs", "lists", "quotations"}; sum != c.Tokens ||
		!slices.Equal(slices.Sorted(slices.Values(kinds)), slices.Sorted(slices.Values(want))) || kinds[0] != "code" {
		t.Errorf("kinds %+v come to %d, want %q and %d", c.Kinds, sum, want, c.Tokens)
	}
	var got []int
	for _, h := range headings {
		got = append(got, h.Tokens)
	}
	if want := []int{9, 46, 13}; !slices.Equal(got, want) {
		t.Errorf("sections cost %d, want %d", got, want)
	}
	if c := outline.Weigh(nil, nil, words); c.Tokens != 0 || len(c.Kinds) != 0 {
		t.Errorf("nothing costs %+v", c)
	}
}
