package knowledge_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/knowledge"
)

// TestASearchSeesOneGenerationWhole fills a base anew again and again, each time with other texts, while it is
// searched: a search finds all documents of one filling, never some of one and some of the next.
func TestASearchSeesOneGenerationWhole(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.running(t)
	k.newBase(t, "docs", knowledge.SourceFile)
	const documents = 5
	fill := func(round int) {
		b := k.build(t, "docs")
		for n := range documents {
			add(t, b, fmt.Sprintf("doc-%d", n), fmt.Sprintf("walrus filling%d document%d", round, n))
		}
		if _, err := b.Commit(t.Context()); err != nil {
			t.Errorf("Commit: %v", err)
		}
	}
	fill(0)
	stop := meanwhile(func() bool {
		r, err := k.Search(t.Context(), knowledge.Query{Text: "walrus", KB: "docs", Limit: 100})
		if err != nil || len(r.Hits) != documents {
			t.Errorf("%d hits, %v: want %d", len(r.Hits), err, documents)
			return false
		}
		for i := range r.Hits {
			if r.Hits[i].Snippet == "" {
				t.Errorf("hit %s has no text", r.Hits[i].URL)
				return false
			}
		}
		return true
	})
	defer stop()
	for round := range 15 {
		fill(round + 1)
	}
}

// meanwhile does something again and again in two goroutines, until it returns false or stop is called.
func meanwhile(do func() bool) (stop func()) {
	var stopped atomic.Bool
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for !stopped.Load() && do() {
			}
		})
	}
	return func() {
		stopped.Store(true)
		all.Wait()
	}
}

// TestSearchesGoOnWhileABaseIsDeleted deletes a base whose passages another base has, too, while both are searched.
func TestSearchesGoOnWhileABaseIsDeleted(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.running(t)
	for _, name := range []string{"kept", "doomed"} {
		k.newBase(t, name, knowledge.SourceFile)
	}
	const documents = 20
	var texts []string // URL and markdown in turn
	for n := range documents {
		texts = append(texts, fmt.Sprint("doc-", n), prose("walrus", n))
	}
	for round := range 10 {
		if round > 0 {
			k.newBase(t, "doomed", knowledge.SourceFile)
		}
		k.fill(t, "kept", texts...)
		k.fill(t, "doomed", texts...)
		stop := meanwhile(func() bool {
			r, err := k.Search(t.Context(), knowledge.Query{Text: "walrus", KB: "kept", Limit: 100})
			if err != nil || len(r.Hits) != documents {
				t.Errorf("%d hits in the base that stays, %v: want %d", len(r.Hits), err, documents)
				return false
			}
			if _, err := k.Search(t.Context(), knowledge.Query{Text: "walrus", KB: "doomed"}); ignoreUnknown(err) != nil {
				t.Errorf("Search in the base that goes: %v", err)
				return false
			}
			return true
		})
		if _, err := k.DeleteBase(t.Context(), "doomed"); err != nil {
			t.Errorf("DeleteBase: %v", err)
		}
		k.drain(t)
		stop()
	}
}
