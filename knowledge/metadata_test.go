package knowledge_test

import (
	"fmt"
	"testing"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// forgetMetadata makes the store one of a program that wrote no keys of metadata, but for a mark.
func forgetMetadata(t *testing.T, s *store.Store, mark *store.Change) {
	t.Helper()
	changes := []store.Change{{Key: "k/ym", Gone: true}}
	if mark != nil {
		changes[0] = *mark
	}
	s.Records().Keys("k/dm/", "", func(key string) bool {
		changes = append(changes, store.Change{Key: key, Gone: true})
		return true
	})
	for len(changes) > 0 {
		n := min(len(changes), 1000)
		if err := s.Records().Apply(changes[:n]...); err != nil {
			t.Fatal(err)
		}
		changes = changes[n:]
	}
}

func TestTextsOfAnOlderProgramAreFoundByTheirMetadata(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, knowledge.Options{})
	const texts = 1200 // more than are done at once
	for i := range texts {
		if _, err := k.Ingest(t.Context(), knowledge.Ingestion{
			Label: fmt.Sprint(i), Text: fmt.Sprintf("Seal number %d.", i), Metadata: page.Metadata{"n": i, "kind": "seal"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	k.drain(t)
	found := func(name, value string) int {
		t.Helper()
		all, err := k.Search(t.Context(), knowledge.Query{
			Text: "seal", Limit: 10, Metadata: map[string]string{name: value},
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(all.Hits)
	}
	check := func(when string) {
		t.Helper()
		for _, n := range []int{0, texts / 2, texts - 1} {
			if hits := found("n", fmt.Sprint(n)); hits != 1 {
				t.Errorf("%s: number %d: %d hits", when, n, hits)
			}
		}
	}
	check("as stored")

	forgetMetadata(t, k.store, nil)
	if found("n", "0") != 0 {
		t.Fatal("a text is found without its key")
	}
	k.shut(t)
	k = open(t, dir, knowledge.Options{})
	check("after the next start")

	// Interrupted when all but the documents after this one had their keys.
	var heads []string
	k.store.Records().Keys("k/d/", "", func(key string) bool {
		heads = append(heads, key[len("k/d/"):])
		return true
	})
	forgetMetadata(t, k.store, &store.Change{Key: "k/ym", Value: []byte(heads[texts-101])})
	k.shut(t)
	k = open(t, dir, knowledge.Options{})
	keys := 0
	k.store.Records().Keys("k/dm/", "", func(string) bool { keys++; return true })
	if keys != 2*100 {
		t.Errorf("%d keys were written after the mark, want 200", keys)
	}

	forgetMetadata(t, k.store, &store.Change{Key: "k/ym"})
	k.shut(t)
	k = open(t, dir, knowledge.Options{})
	if found("n", "0") != 0 {
		t.Error("the keys are written again at each start")
	}
}
