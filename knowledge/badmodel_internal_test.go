package knowledge

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/meaning/embedtest"

	"github.com/readthru/readthru/internal/eventually"
)

// A model that goes bad while it is used changes no hit that words find, within the time that a search waits, and the
// answer says what is wrong.
func TestAModelThatGoesBadLeavesWordsInCharge(t *testing.T) {
	var stalled chan struct{}
	vector := func(numbers ...float32) func(http.ResponseWriter, []string) bool {
		return func(w http.ResponseWriter, texts []string) bool {
			embedtest.Answer(w, slices.Repeat([][]float32{numbers}, len(texts)), embedtest.InOrder)
			return true
		}
	}
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter, []string) bool
		reason string
	}{
		{"another dimension", vector(1, 2, 3), "query vector has 3 numbers, passage vectors have 64"},
		{"NaN", embedtest.Says(`{"data":[{"index":0,"embedding":[NaN,1]}]}`), "not JSON of the expected form"},
		{
			"NaN as null", embedtest.Says(`{"data":[{"index":0,"embedding":[null` + strings.Repeat(",1", 63) + `]}]}`),
			"not JSON of the expected form",
		},
		{"infinity", embedtest.Says(`{"data":[{"index":0,"embedding":[1e39,1]}]}`), "not JSON of the expected form"},
		{
			"large numbers, the length of which is infinite",
			embedtest.Says(`{"data":[{"index":0,"embedding":[3e38` + strings.Repeat(",3e38", 63) + `]}]}`), "",
		},
		{"zeros", vector(make([]float32, 64)...), "a vector has no direction"},
		{"no vector", embedtest.Says(`{"data":[]}`), "got 0 vectors for 1 texts"},
		{
			"too many vectors", embedtest.Says(`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`),
			"got 2 vectors for 1 texts",
		},
		{"a wrong index", embedtest.Says(`{"data":[{"index":7,"embedding":[1]}]}`), "wrong index 7"},
		{"a page", embedtest.Says("<html>Sign in</html>"), "not JSON of the expected form"},
		{"always the same vector", vector(append(make([]float32, 63), 1)...), ""},
		{"it stalls", func(http.ResponseWriter, []string) bool { <-stalled; return true }, "not ready after 300ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := embedtest.New(t)
			stalled = make(chan struct{})
			t.Cleanup(func() { close(stalled) }) // before the server is closed, which waits for its answers
			k := reader(t, embedtest.Model(t, e.URL, "m"), map[string]string{
				"https://a.test/car": "the car is red", "https://a.test/doctor": "a doctor helps",
			})
			eventually.True(t, "two vectors", func() bool { return k.Stats().Vectors.Vectors == 2 })
			e.Set(64, tt.answer)
			r, err := k.Search(t.Context(), Query{Text: "doctor helps"})
			if err != nil || len(r.Hits) == 0 || r.Hits[0].URL != "https://a.test/doctor" {
				t.Errorf("Search = %+v, %v, want the page found by words", r, err)
			}
			if r.Degraded != (tt.reason != "") || !strings.Contains(r.Reason, tt.reason) || (r.Reason == "") == r.Degraded {
				t.Errorf("degraded %t, %q, want %q", r.Degraded, r.Reason, tt.reason)
			}
		})
	}
}

// A model that is bad from the start leaves passages without vectors, says why, and holds up neither indexing nor
// searches nor the end.
func TestAModelThatWasNeverGoodIsWaitedFor(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter, []string) bool
		want   string
	}{
		{"NaN", embedtest.Says(`{"data":[{"embedding":[NaN]}]}`), "not JSON of the expected form"},
		{"no vectors", embedtest.Says(`{"data":[]}`), "got 0 vectors"},
		{"lengths that differ", func(w http.ResponseWriter, texts []string) bool {
			list := [][]float32{{1, 2}}
			for range texts[1:] {
				list = append(list, []float32{1})
			}
			if len(texts) == 1 {
				list = [][]float32{{}}
			}
			embedtest.Answer(w, list, embedtest.InOrder)
			return true
		}, "a vector has 0 numbers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := embedtest.New(t)
			e.Set(64, tt.answer)
			k := reader(t, embedtest.Model(t, e.URL, "m"), map[string]string{
				"https://a.test/car": "the car is red", "https://a.test/doctor": "a doctor helps",
			})
			eventually.True(t, "the background to wait", func() bool {
				return strings.Contains(k.Stats().Vectors.Trouble, tt.want)
			})
			r, err := k.Search(t.Context(), Query{Text: "doctor helps"})
			if err != nil || len(r.Hits) == 0 || r.Hits[0].URL != "https://a.test/doctor" || !r.Degraded {
				t.Errorf("Search = %+v, %v, want the page found by words", r, err)
			}
			if s := k.Stats().Vectors; s.Vectors != 0 || s.Waiting < 2 {
				t.Errorf("vectors %+v, want two passages waiting", s)
			}
		})
	}
}

// A model that gives every text the same vector says nothing: it finds nothing where words find nothing, and changes
// nothing where they do.
func TestAModelThatRepeatsItselfSaysNothing(t *testing.T) {
	e := embedtest.New(t)
	same := append(make([]float32, 63), 1)
	e.Set(64, func(w http.ResponseWriter, texts []string) bool {
		embedtest.Answer(w, slices.Repeat([][]float32{same}, len(texts)), embedtest.InOrder)
		return true
	})
	pages := map[string]string{}
	for n := range 69 { // a trial needs 64
		pages[fmt.Sprintf("https://a.test/%d", n)] = fmt.Sprintf("The walrus number%d eats clams near rock%d.", n, n%7)
	}
	k, plain := reader(t, embedtest.Model(t, e.URL, "m"), pages), reader(t, nil, pages)
	if err := plain.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "a trial", func() bool {
		return k.vectors.Meaning(t.Context(), "walrus", 1, nil).Failed
	})
	for _, query := range []string{"walrus rock3", "number12 eats", "submarine"} {
		got, err := k.Search(t.Context(), Query{Text: query, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.Search(t.Context(), Query{Text: query, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Hits) != len(want.Hits) || len(got.Hits) > 0 && got.Hits[0].Score != want.Hits[0].Score {
			t.Errorf("%s: %d hits, want the %d that words find alone, with their scores", query, len(got.Hits), len(want.Hits))
		}
	}
}
