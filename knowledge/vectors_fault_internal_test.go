package knowledge

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/meaning/embedtest"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fault/faulttest"
)

// A search by meaning that panics finds by words and says that it is degraded; the next one finds by meaning.
func TestASearchByMeaningThatPanicsFindsByWords(t *testing.T) {
	e := embedtest.New(t)
	k := reader(t, embedtest.Model(t, e.URL, "m"), map[string]string{
		"https://a.test/car": "the car is red", "https://a.test/doctor": "a doctor helps",
	})
	eventually.True(t, "two vectors", func() bool { return k.Stats().Vectors.Vectors == 2 })
	for _, work := range []string{
		"knowledge: search by meaning", "knowledge: ask for the vector of a query", "knowledge: compare vectors",
	} {
		injected := faulttest.Once(t, work)
		r, err := k.Search(t.Context(), Query{Text: "doctor helps me with " + strings.ReplaceAll(work, ":", "")})
		if err != nil || len(r.Hits) == 0 || r.Hits[0].URL != "https://a.test/doctor" {
			t.Errorf("%s panics: %+v, %v, want the page found by words", work, r, err)
		}
		if work != "knowledge: compare vectors" && err == nil && !r.Degraded { // else the scores are a little less exact
			t.Errorf("%s panics: the answer is not degraded", work)
		}
		injected.End()
		r, err = k.Search(t.Context(), Query{Text: "automobile"})
		if err != nil || len(r.Hits) == 0 || r.Hits[0].URL != "https://a.test/car" || r.Degraded {
			t.Errorf("after %s: %+v, %v, want what means the same", work, r, err)
		}
	}
}
