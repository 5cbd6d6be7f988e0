// Package embedtest is an endpoint of embeddings for tests.
package embedtest

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/internal/llm"
)

// Embedder is an endpoint whose vectors depend on a text's words alone, synonyms being one word: so it knows what means
// the same.
type Embedder struct {
	*httptest.Server
	mu        sync.Mutex
	dimension int
	texts     []string // that it was asked for
	instead   func(w http.ResponseWriter, texts []string) bool
}

// New starts an endpoint that ends with the test.
func New(t *testing.T) *Embedder {
	t.Helper()
	e := &Embedder{dimension: 64}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.Close)
	return e
}

// Set changes how the endpoint behaves.
func (e *Embedder) Set(dimension int, instead func(w http.ResponseWriter, texts []string) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dimension, e.instead = dimension, instead
}

// About returns how many texts with a word were embedded.
func (e *Embedder) About(word string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, text := range e.texts {
		if strings.Contains(text, word) {
			n++
		}
	}
	return n
}

// Count returns how many texts were embedded.
func (e *Embedder) Count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.texts)
}

func (e *Embedder) serve(w http.ResponseWriter, r *http.Request) {
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
		answer.Data = append(answer.Data, datum{i, Meaning(text, dimension)})
	}
	e.mu.Lock()
	e.texts = append(e.texts, body.Input...)
	e.mu.Unlock()
	_ = json.NewEncoder(w).Encode(answer)
}

// Meaning returns the vector of a text.
func Meaning(text string, dimension int) []float32 {
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

// Model returns a client of the model of this name at an address.
func Model(tb testing.TB, url, name string) *llm.Client {
	tb.Helper()
	transport := &http.Transport{}
	tb.Cleanup(transport.CloseIdleConnections)
	c, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: url, Model: name, Transport: transport, Attempts: 1})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Answer answers as OpenAI does, with the indexes as they are given.
func Answer(w http.ResponseWriter, vectors [][]float32, index func(i int) int) {
	var data []map[string]any
	for i, v := range vectors {
		data = append(data, map[string]any{"index": index(i), "embedding": v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

// InOrder is the usual index of an answer.
func InOrder(i int) int { return i }

// Says answers with a text, whatever is asked.
func Says(text string) func(http.ResponseWriter, []string) bool {
	return func(w http.ResponseWriter, _ []string) bool {
		io.WriteString(w, text)
		return true
	}
}
