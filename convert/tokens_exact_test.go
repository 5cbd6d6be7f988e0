//go:build tiktoken

package convert_test

import (
	"context"
	"math"
	"net/url"
	"slices"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/readthru/readthru/convert"
)

// TestTokenEstimateIsAsGoodAsDocumented compares [convert.Tokens] with the o200k vocabulary, over the HTML and the markdown
// of the pages of a corpus, every tenth when it is large.
func TestTokenEstimateIsAsGoodAsDocumented(t *testing.T) {
	var markdown, html, saved []float64 // errors, in percent
	pages := readCorpus(t)
	vocabulary, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pages {
		if len(pages) > 1000 && i%10 != 0 || len(p.content) > 300<<10 {
			continue
		}
		u, _ := url.Parse(p.URL)
		doc, err := convert.Parse(context.Background(), p.content, "text/html", u)
		if err != nil {
			t.Fatal(err)
		}
		res, err := doc.Convert(context.Background(), convert.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ofMarkdown, err := vocabulary.Count(res.Markdown)
		if err != nil {
			t.Fatal(err)
		}
		ofHTML, err := vocabulary.Count(string(p.content))
		if err != nil {
			t.Fatal(err)
		}
		if ofMarkdown < 50 {
			continue
		}
		off := func(got, want int) float64 { return 100 * math.Abs(float64(got-want)) / float64(want) }
		markdown, html = append(markdown, off(res.Tokens, ofMarkdown)), append(html, off(res.HTMLTokens, ofHTML))
		if ofHTML > ofMarkdown {
			saved = append(saved, off(res.HTMLTokens-res.Tokens, ofHTML-ofMarkdown))
		}
	}
	for _, e := range []struct {
		name        string
		errors      []float64
		median, p90 float64 // percent
	}{{"markdown", markdown, 7, 15}, {"HTML", html, 8, 15}, {"saved", saved, 8, 18}} {
		slices.Sort(e.errors)
		median, p90 := e.errors[len(e.errors)/2], e.errors[len(e.errors)*9/10]
		t.Logf("%s: error %.1f %% in the median, %.1f %% at the 90th percentile, %d pages", e.name, median, p90,
			len(e.errors))
		if median > e.median || p90 > e.p90 {
			t.Errorf("%s: the error is over %.0f %% or %.0f %%", e.name, e.median, e.p90)
		}
	}
}
