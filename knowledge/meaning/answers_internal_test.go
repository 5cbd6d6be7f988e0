package meaning

import (
	"net/http"
	"slices"
	"testing"

	"github.com/readthru/readthru/knowledge/storetest"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/knowledge/meaning/embedtest"
)

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
				list = append(list, embedtest.Meaning(text, 64))
			}
			embedtest.Answer(w, list, func(i int) int { return len(texts) - 1 - i })
			return true
		}},
		{"one, whatever is asked for", func(w http.ResponseWriter, texts []string) bool {
			embedtest.Answer(w, [][]float32{embedtest.Meaning(texts[0], 64)}, embedtest.InOrder)
			return true
		}},
		{"all with index 0", func(w http.ResponseWriter, texts []string) bool {
			var list [][]float32
			for _, text := range texts {
				list = append(list, embedtest.Meaning(text, 64))
			}
			embedtest.Answer(w, list, func(int) int { return 0 })
			return true
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, s := embedtest.New(t), newShelf()
			n := s.put("the car is red", "a doctor helps", "you buy bread")
			v, stop := start(t, storetest.Open(t).Records(), s, embedtest.Model(t, e.URL, "m"))
			eventually.True(t, "three vectors", settled(v, 3)) // a good start: what follows is a fault of single answers
			e.Set(64, tt.answer)
			n = append(n, s.put("the physician sleeps", "we purchase a walrus", "an automobile stands there")...)
			v.Changed(n[3:], nil)
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
