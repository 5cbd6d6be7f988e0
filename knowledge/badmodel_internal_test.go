package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/eventually"

	"github.com/google/go-cmp/cmp"
)

// embeddings answers as OpenAI does, with the indexes as they are given.
func embeddings(w http.ResponseWriter, vectors [][]float32, index func(i int) int) {
	var data []map[string]any
	for i, v := range vectors {
		data = append(data, map[string]any{"index": index(i), "embedding": v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func inOrder(i int) int { return i }

// says answers with a text, whatever is asked.
func says(text string) func(http.ResponseWriter, []string) bool {
	return func(w http.ResponseWriter, _ []string) bool {
		io.WriteString(w, text)
		return true
	}
}

// A model that goes bad while it is used changes no hit that words find, within the time that a search waits, and the
// answer says what is wrong.
func TestAModelThatGoesBadLeavesWordsInCharge(t *testing.T) {
	var stalled chan struct{}
	vector := func(numbers ...float32) func(http.ResponseWriter, []string) bool {
		return func(w http.ResponseWriter, texts []string) bool {
			embeddings(w, slices.Repeat([][]float32{numbers}, len(texts)), inOrder)
			return true
		}
	}
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter, []string) bool
		reason string
	}{
		{"another dimension", vector(1, 2, 3), "query vector has 3 numbers, passage vectors have 64"},
		{"NaN", says(`{"data":[{"index":0,"embedding":[NaN,1]}]}`), "not JSON of the expected form"},
		{
			"NaN as null", says(`{"data":[{"index":0,"embedding":[null` + strings.Repeat(",1", 63) + `]}]}`),
			"not JSON of the expected form",
		},
		{"infinity", says(`{"data":[{"index":0,"embedding":[1e39,1]}]}`), "not JSON of the expected form"},
		{
			"large numbers, the length of which is infinite",
			says(`{"data":[{"index":0,"embedding":[3e38` + strings.Repeat(",3e38", 63) + `]}]}`), "",
		},
		{"zeros", vector(make([]float32, 64)...), "a vector has no direction"},
		{"no vector", says(`{"data":[]}`), "got 0 vectors for 1 texts"},
		{
			"too many vectors", says(`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`),
			"got 2 vectors for 1 texts",
		},
		{"a wrong index", says(`{"data":[{"index":7,"embedding":[1]}]}`), "wrong index 7"},
		{"a page", says("<html>Sign in</html>"), "not JSON of the expected form"},
		{"always the same vector", vector(append(make([]float32, 63), 1)...), ""},
		{"it stalls", func(http.ResponseWriter, []string) bool { <-stalled; return true }, "not ready after 300ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEmbedder(t)
			stalled = make(chan struct{})
			t.Cleanup(func() { close(stalled) }) // before the server is closed, which waits for its answers
			k := reader(t, modelAt(t, e.URL, "m"), map[string]string{
				"https://a.test/car": "the car is red", "https://a.test/doctor": "a doctor helps",
			})
			eventually.True(t, "two vectors", func() bool { return k.Stats().Vectors.Vectors == 2 })
			e.set(64, tt.answer)
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
		{"NaN", says(`{"data":[{"embedding":[NaN]}]}`), "not JSON of the expected form"},
		{"no vectors", says(`{"data":[]}`), "got 0 vectors"},
		{"lengths that differ", func(w http.ResponseWriter, texts []string) bool {
			list := [][]float32{{1, 2}}
			for range texts[1:] {
				list = append(list, []float32{1})
			}
			if len(texts) == 1 {
				list = [][]float32{{}}
			}
			embeddings(w, list, inOrder)
			return true
		}, "a vector has 0 numbers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEmbedder(t)
			e.set(64, tt.answer)
			k := reader(t, modelAt(t, e.URL, "m"), map[string]string{
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

// Vectors belong to the texts that their indexes name, in whatever order they come; an answer with fewer than were
// asked for is asked for again in halves.
func TestVectorsComeInAnyOrderAndNumber(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter, []string) bool
	}{
		{"in another order", func(w http.ResponseWriter, texts []string) bool {
			var list [][]float32
			for _, text := range slices.Backward(texts) {
				list = append(list, meaningOf(text, 64))
			}
			embeddings(w, list, func(i int) int { return len(texts) - 1 - i })
			return true
		}},
		{"one, whatever is asked for", func(w http.ResponseWriter, texts []string) bool {
			embeddings(w, [][]float32{meaningOf(texts[0], 64)}, inOrder)
			return true
		}},
		{"all with index 0", func(w http.ResponseWriter, texts []string) bool {
			var list [][]float32
			for _, text := range texts {
				list = append(list, meaningOf(text, 64))
			}
			embeddings(w, list, func(int) int { return 0 })
			return true
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, s := newEmbedder(t), newShelf()
			n := s.put("the car is red", "a doctor helps", "you buy bread")
			v, stop := start(t, testStore(t).Records(), s, modelAt(t, e.URL, "m"))
			eventually.True(t, "three vectors", settled(v, 3)) // a good start: what follows is a fault of single answers
			e.set(64, tt.answer)
			n = append(n, s.put("the physician sleeps", "we purchase a walrus", "an automobile stands there")...)
			v.changed(n[3:], nil)
			eventually.True(t, "six vectors", settled(v, 6))
			var got []uint32
			for _, query := range []string{"doctor sleeps", "buy walrus", "car stands there"} {
				got = append(got, first(t, v, query))
			}
			if diff := cmp.Diff(n[3:], got); diff != "" {
				t.Errorf("nearest passages (-want +got):\n%s", diff)
			}
			stop()
		})
	}
}

// A model that gives every text the same vector says nothing: it finds nothing where words find nothing, and changes
// nothing where they do.
func TestAModelThatRepeatsItselfSaysNothing(t *testing.T) {
	e := newEmbedder(t)
	same := append(make([]float32, 63), 1)
	e.set(64, func(w http.ResponseWriter, texts []string) bool {
		embeddings(w, slices.Repeat([][]float32{same}, len(texts)), inOrder)
		return true
	})
	pages := map[string]string{}
	for n := range trialPassages + 5 {
		pages[fmt.Sprintf("https://a.test/%d", n)] = fmt.Sprintf("The walrus number%d eats clams near rock%d.", n, n%7)
	}
	k, plain := reader(t, modelAt(t, e.URL, "m"), pages), reader(t, nil, pages)
	if err := plain.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "a trial", func() bool {
		k.vectors.mu.RLock()
		defer k.vectors.mu.RUnlock()
		return k.vectors.tried > 0
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
