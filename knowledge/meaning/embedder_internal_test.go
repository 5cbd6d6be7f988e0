package meaning

import (
	"context"
	"iter"
	"log/slog"
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
		p.Doc = index.Document{Title: "Title", URL: "https://a.test/?token=secret"}
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

// start runs vectors until the test, or stop, ends them.
func start(t *testing.T, r *store.Records, s *shelf, model *llm.Client) (v *Vectors, stop func()) {
	t.Helper()
	v = New(Options{
		Records: r, Model: model, Passages: s.passages, Passage: s.passage, Live: s.live,
		Whole: s.whole, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := v.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			<-done
			v.Close()
		})
	}
	t.Cleanup(stop)
	return v, stop
}

func settled(v *Vectors, n int) func() bool {
	return func() bool {
		s := v.State()
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
func first(t *testing.T, v *Vectors, text string) uint32 {
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
