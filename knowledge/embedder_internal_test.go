package knowledge

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/store"
)

// shelf stands for the index: passages by number.
type shelf struct {
	mu      sync.Mutex
	list    map[uint32]index.Passage
	next    uint32
	cleared bool
}

func newShelf() *shelf { return &shelf{list: map[uint32]index.Passage{}} }

func (s *shelf) put(texts ...string) (numbers []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		p := index.Passage{Number: s.next, Text: text, Hash: outline.PassageHash(text)}
		p.Doc = Document{Title: "Title", URL: "https://a.test/?token=secret"}
		s.list[s.next] = p
		numbers = append(numbers, s.next)
		s.next++
	}
	return numbers
}

// say has something said of a passage.
func (s *shelf) say(n uint32, said string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.list[n]
	p.Said = said
	s.list[n] = p
}

func (s *shelf) remove(n uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.list, n)
}

func (s *shelf) passages() iter.Seq2[uint32, [16]byte] {
	return func(yield func(uint32, [16]byte) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for n, p := range s.list {
			if !yield(n, p.Hash) {
				return
			}
		}
	}
}

func (s *shelf) passage(n uint32) (index.Passage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.list[n]; ok {
		return p, nil
	}
	return index.Passage{}, store.ErrNotFound
}

func (s *shelf) live(hash [16]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.list {
		if p.Hash == hash {
			return true
		}
	}
	return false
}

// whole is false while the shelf is cleared.
func (s *shelf) whole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.cleared
}

// clear takes everything off the shelf, which is to be filled anew until it is whole again.
func (s *shelf) clear() (removed []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.list {
		removed = append(removed, n)
	}
	clear(s.list)
	s.cleared = true
	return removed
}

// embedder is an endpoint whose vectors depend on a text's words alone, synonyms being one word: so it knows what means
// the same.
type embedder struct {
	*httptest.Server
	mu        sync.Mutex
	dimension int
	texts     []string // that it was asked for
	instead   func(w http.ResponseWriter, texts []string) bool
}

func newEmbedder(t *testing.T) *embedder {
	t.Helper()
	e := &embedder{dimension: 64}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.Close)
	return e
}

// set changes how the endpoint behaves.
func (e *embedder) set(dimension int, instead func(w http.ResponseWriter, texts []string) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dimension, e.instead = dimension, instead
}

// about returns how many texts with a word were embedded.
func (e *embedder) about(word string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, text := range e.texts {
		if strings.Contains(text, word) {
			n++
		}
	}
	return n
}

func (e *embedder) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.texts)
}

func (e *embedder) serve(w http.ResponseWriter, r *http.Request) {
	var body struct{ Input []string }
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		http.Error(w, "bad JSON", http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	dimension, instead := e.dimension, e.instead
	e.mu.Unlock()
	if instead != nil && instead(w, body.Input) {
		return
	}
	type datum struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var answer struct {
		Data []datum `json:"data"`
	}
	for i, text := range body.Input {
		answer.Data = append(answer.Data, datum{i, meaningOf(text, dimension)})
	}
	e.mu.Lock()
	e.texts = append(e.texts, body.Input...)
	e.mu.Unlock()
	_ = json.NewEncoder(w).Encode(answer)
}

func meaningOf(text string, dimension int) []float32 {
	synonyms := map[string]string{"automobile": "car", "physician": "doctor", "purchase": "buy"}
	v := make([]float32, dimension)
	for _, word := range append(strings.Fields(strings.ToLower(text)), "title") {
		if s, ok := synonyms[word]; ok {
			word = s
		}
		h := fnv.New64a()
		io.WriteString(h, word)
		rng := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += float32(rng.NormFloat64())
		}
	}
	return v
}

func modelAt(tb testing.TB, url, name string) *llm.Client {
	tb.Helper()
	transport := &http.Transport{}
	tb.Cleanup(transport.CloseIdleConnections)
	c, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: url, Model: name, Transport: transport, Attempts: 1})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// start runs vectors until the test, or stop, ends them.
func start(t *testing.T, r *store.Records, s *shelf, model *llm.Client) (v *vectors, stop func()) {
	t.Helper()
	v = newVectors(vectorOptions{
		records: r, model: model, passages: s.passages, passage: s.passage, live: s.live,
		whole: s.whole, log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := v.run(ctx); err != nil {
			t.Error(err)
		}
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			<-done
			v.close()
		})
	}
	t.Cleanup(stop)
	return v, stop
}

func settled(v *vectors, n int) func() bool {
	return func() bool {
		s := v.state()
		return s.Vectors == n && s.Waiting == 0
	}
}

func storedVectors(r *store.Records) (n int) {
	r.Keys("k/v/", "", func(string) bool {
		n++
		return true
	})
	return n
}

// first returns the passage nearest to a text.
func first(t *testing.T, v *vectors, text string) uint32 {
	t.Helper()
	list, err := v.nearest(t.Context(), text, 3, nil)
	if err != nil {
		t.Fatalf("nearest(%q): %v", text, err)
	}
	if len(list) == 0 {
		t.Fatalf("nearest(%q) finds nothing", text)
	}
	return list[0].Passage
}
