package judge

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/rules"
)

// outlineOf returns the outline of a page and the texts of its blocks.
func outlineOf(t *testing.T, page string) (*outline, []string) {
	t.Helper()
	u, _ := url.Parse("https://a.test/x")
	p, err := readPage(t.Context(), []byte("<body>"+page), "text/html; charset=utf-8", u)
	if err != nil {
		t.Fatal(err)
	}
	o := newOutline(t.Context(), p.Body, rules.Choose(t.Context(), p.Body, rules.Listing), odds{})
	o.kind = rules.Listing
	texts := make([]string, len(o.blocks))
	for i := range o.blocks {
		for n := o.blocks[i].first; n != nil; n = n.NextSibling {
			texts[i] += dom.Text(n)
			if n == o.blocks[i].last {
				break
			}
		}
	}
	return o, texts
}

func TestFieldsOfUnitsAreDecidedAlike(t *testing.T) {
	var cards strings.Builder
	for i := range 5 {
		fmt.Fprintf(&cards, `<div class=card><h3><a href=/p%d>Name %[1]d of a thing</a></h3><div class=text>It is made
			of wood and
			paper and lasts for a long time, say those who have it.</div>
			<div class=by><p>by <a href=/u%[1]d>Ann%[1]d</a></p></div>
			<div class=price><p>$1%[1]d.50</p></div><div class=when><p><time>May %[1]d, 2024</time></p></div>
			<div class=more><p><a href=/p%[1]d>Compare</a></p></div></div>`, i)
	}
	o, texts := outlineOf(t, `<main><h1>Things</h1>`+cards.String()+`</main>`+
		`<blockquote><div class=q><p>one</p><p>two</p></div>
		<div class=q><p>one</p><p>two</p></div><div class=q><p>one</p><p>two</p></div></blockquote>`)
	keep := make([]bool, len(texts))
	for i, text := range texts {
		// One card has lost its name, another its author, all have lost price and time.
		keep[i] = strings.Contains(text, "lasts") || strings.HasPrefix(text, "Name") && !strings.Contains(text, "3") ||
			strings.HasPrefix(text, "by") && !strings.Contains(text, "Ann0") || text == "one" && i < len(texts)-2
	}
	lost := slices.Clone(keep)
	o.keepFields(keep)
	for i, text := range texts {
		want := lost[i] || !strings.Contains(text, "Compare") && text != "one" && text != "two" && text != "Things"
		if keep[i] != want {
			t.Errorf("block %q kept: %t, want %t", text, keep[i], want)
		}
	}
}

func TestStatedPriceIsNotThatOfAnotherCard(t *testing.T) {
	card := `<div class=card><h3><a href=/p>Another bench</a></h3><div class=price><p>$130.00</p></div></div>`
	o, texts := outlineOf(t, `<div class=buy><p>$130.00</p></div><main><h1>Bench</h1>`+
		strings.Repeat("<p>A bench of oiled ash.</p>", 20)+`</main>`+strings.Repeat(card, 4))
	keep := make([]bool, len(texts))
	for i := 1; i < len(keep); i++ {
		keep[i] = true
	}
	if o.keepPrice(keep, 130); !keep[0] {
		t.Error("the price above the title is not kept")
	}
}
