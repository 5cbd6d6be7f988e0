package convert_test

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/markdown"
)

// TestCompactLinksCostLess measures, over the pages of a corpus, which share of the characters of their markdown are
// addresses, for each set and type of page.
func TestCompactLinksCostLess(t *testing.T) {
	type share struct{ addresses, all int }
	forms := map[string]convert.Options{
		"inline": {}, "compact": {Links: "compact"}, "no pictures": {Links: "compact", Images: "alt"},
	}
	shares := map[string]map[string]*share{"inline": {}, "compact": {}, "no pictures": {}}
	cards := corpusPage{Set: "our own", URL: "https://shop.test/lamps/", content: []byte(`<main><h1>Lamps</h1>` +
		strings.Repeat(`<p><a href="/lamps/1"><img src="/1.png" alt="Lamp"></a> <a href="/lamps/1">Lamp</a> of brass`, 5))}
	for _, p := range append(readCorpus(t), cards) {
		u, _ := url.Parse(p.URL)
		doc, err := convert.Parse(context.Background(), p.content, "text/html", u)
		if err != nil {
			t.Fatalf("parse %s/%s: %v", p.Set, p.ID, err)
		}
		for form, of := range shares {
			res, err := doc.Convert(context.Background(), forms[form])
			if err != nil {
				t.Fatalf("convert %s/%s: %v", p.Set, p.ID, err)
			}
			s := of[p.Set+" "+p.Type]
			if s == nil {
				s = &share{}
				of[p.Set+" "+p.Type] = s
			}
			s.all += utf8.RuneCountInString(res.Markdown)
			for l := range markdown.Links([]byte(res.Markdown)) {
				s.addresses += utf8.RuneCountInString(res.Markdown[l.Start:l.End])
			}
		}
	}
	var before, after int
	for _, kind := range slices.Sorted(maps.Keys(shares["inline"])) {
		inline, compact, bare := shares["inline"][kind], shares["compact"][kind], shares["no pictures"][kind]
		percent := func(s *share) float64 { return 100 * float64(s.addresses) / float64(s.all) }
		t.Logf("%-26s %5.1f %% of %d, compact %5.1f %% of %d, without pictures %5.1f %% of %d", kind, percent(inline),
			inline.all, percent(compact), compact.all, percent(bare), bare.all)
		before, after = before+inline.addresses, after+compact.addresses
	}
	if before == 0 || after >= before {
		t.Errorf("addresses take %d characters, compact ones %d", before, after)
	}
}
