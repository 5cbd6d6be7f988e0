package judge

import (
	"slices"
	"testing"
)

// TestWhoIsQuotedStandsWithTheQuotation holds that the line of a quotation is kept if the quotation is, and goes with
// it otherwise, whatever was judged of it.
func TestWhoIsQuotedStandsWithTheQuotation(t *testing.T) {
	o, texts := outlineOf(t, `<div class=post>
		<blockquote><div><cite>ann wrote:</cite>Which max-age is sound?</div></blockquote><p>An hour.</p></div>
		<div class=post><blockquote><div><cite>bob wrote:</cite>An hour.</div></blockquote><p>So it is.</p></div>`)
	keep := make([]bool, len(texts))
	for i, text := range texts {
		keep[i] = slices.Contains([]string{"Which max-age is sound?", "bob wrote:", "So it is."}, text)
	}
	o.keepNames(keep)
	for i, text := range texts {
		if want := slices.Contains([]string{"ann wrote:", "Which max-age is sound?", "So it is."}, text); keep[i] != want {
			t.Errorf("block %q kept: %t, want %t", text, keep[i], want)
		}
	}
}
