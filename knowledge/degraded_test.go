package knowledge_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

func TestStoreThatKeepsNothingStillOpens(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	k, err := knowledge.Open(knowledge.Options{Store: s})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if err := s.Close(); err != nil { // from here on it takes no writes and finds nothing
		t.Fatalf("close store: %v", err)
	}
	if _, err := k.CreateBase(knowledge.Base{Name: "x"}); !errors.Is(err, store.ErrFull) {
		t.Errorf("CreateBase: error %v, want ErrFull", err)
	}
	if _, err := k.Ingest(t.Context(), knowledge.Ingestion{Text: "x"}); !errors.Is(err, store.ErrFull) {
		t.Errorf("Ingest: error %v, want ErrFull", err)
	}
	if len(k.Bases()) != 0 {
		t.Errorf("a base that was not stored is listed")
	}
	if err := k.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	k, err = knowledge.Open(knowledge.Options{Store: s})
	if err != nil {
		t.Fatalf("Open with a store that takes no writes: %v", err)
	}
	if r, err := k.Search(t.Context(), knowledge.Query{Text: "x"}); err != nil || len(r.Hits) != 0 {
		t.Errorf("Search = %v, %v, want no hits and no error", r, err)
	}
	if err := k.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestDamagedDocumentIsForgottenAndNothingElse(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "docs", knowledge.SourceText)
	k.fill(t, "docs", "a", prose("walrus", 1), "b", prose("walrus", 2))
	list, _, err := k.Documents("docs", "", 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("Documents = %v, %v", list, err)
	}
	lost := list[0]
	var changes []store.Change
	k.store.Records().Keys("k/dp/"+string(lost.Key[:]), "", func(key string) bool {
		changes = append(changes, store.Change{Key: key, Gone: true})
		return true
	})
	if err := k.store.Records().Apply(changes...); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	if _, err := k.Document(lost.Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Document: error %v, want ErrNotFound", err)
	}
	if err := k.Rebuild(t.Context(), nil); err != nil {
		t.Fatalf("Rebuild: %v", err)
	}
	if got := k.find(t, "docs", "walrus"); len(got) != 1 || got[0] != list[1].URL {
		t.Errorf("found %v, want the document that is whole", got)
	}
}

func TestKnowledgeIsPartOfABackup(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "docs", knowledge.SourceText)
	k.fill(t, "docs", "a", prose("walrus", 1))
	path := filepath.Join(t.TempDir(), "backup")
	f, err := os.Create(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer f.Close() //nolint:errcheck // read again below
	if err := k.store.Backup(f); err != nil {
		t.Fatalf("Backup: %v", err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatalf("%v", err)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if err := store.Restore(dir, f); err != nil {
		t.Fatalf("Restore: %v", err)
	}
	again := open(t, dir, knowledge.Options{})
	if got := again.find(t, "docs", "walrus"); len(got) != 1 {
		t.Errorf("found %v in the restored base, want its document", got)
	}
}
