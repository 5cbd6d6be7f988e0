package meaning

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/storetest"

	"github.com/readthru/readthru/knowledge/meaning/embedtest"

	"github.com/readthru/readthru/internal/eventually"
)

// A model that knows words finds passages by their sentences and is trusted; one whose vectors say nothing is not.
func TestAModelIsTrustedAfterItsTrial(t *testing.T) {
	flat := func(w http.ResponseWriter, texts []string) bool {
		type datum struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var answer struct {
			Data []datum `json:"data"`
		}
		for i, text := range texts {
			answer.Data = append(answer.Data, datum{i, []float32{1, float32(len(text) % 3)}})
		}
		_ = json.NewEncoder(w).Encode(answer)
		return true
	}
	for _, tt := range []struct {
		name    string
		instead func(w http.ResponseWriter, texts []string) bool
		trusted bool
	}{{"words", nil, true}, {"lengths", flat, false}} {
		t.Run(tt.name, func(t *testing.T) {
			e, s := embedtest.New(t), newShelf()
			e.Set(64, tt.instead)
			for n := range trialPassages {
				s.put(fmt.Sprintf("The walrus number%d eats clam%d and sleeps near rock%d every day%d.", n, n, n, n))
			}
			v, _ := start(t, storetest.Open(t).Records(), s, embedtest.Model(t, e.URL, "m"))
			eventually.True(t, "a trial", func() bool {
				v.mu.RLock()
				defer v.mu.RUnlock()
				return v.tried == trialPassages
			})
			m := v.Meaning(t.Context(), "walrus number7 eats clam7", 3, nil)
			if m.Err != nil || (m.Trust > .9) != tt.trusted || !tt.trusted && m.Trust != 0 {
				t.Errorf("trust %v, %v", m.Trust, m.Err)
			}
		})
	}
}

func TestTrustIn(t *testing.T) {
	for _, tt := range []struct {
		found, asked int
		want         float64
	}{{0, 32, 0}, {9, 32, 0}, {21, 32, 1}, {32, 32, 1}, {16, 32, .571}} {
		if got := trustIn(tt.found, tt.asked); math.Abs(got-tt.want) > .001 {
			t.Errorf("trust after %d of %d: %v, want %v", tt.found, tt.asked, got, tt.want)
		}
	}
}

func TestSentenceOf(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "Too short. Really.": "",
		"One. This sentence has all the words that it needs. End.": "This sentence has all the words that it needs",
		"First of all come quite a few words. Short. Tiny":         "First of all come quite a few words",
		strings.Repeat("w ", 40):                                   strings.TrimSpace(strings.Repeat("w ", maxTrialWords)),
	} {
		if got := sentenceOf(line); got != want {
			t.Errorf("sentence of %q: %q, want %q", line, got, want)
		}
	}
}
