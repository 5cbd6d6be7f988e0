package store_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/store"
)

func TestStoreMayBeClosedByTwo(t *testing.T) {
	for range 10 {
		s, err := store.Open(store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, response("https://a.test/"), "content")
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
		}
		wg.Wait()
	}
}

// The engine tries for ever to write what it has in memory.
func TestAStoreWithoutItsDirectoryCloses(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, response("https://a.test/"), "content")
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "the directory is gone") {
		t.Errorf("Close: %v, want it to say that the directory is gone", err)
	}
	leftByEngine = append(leftByEngine, goleak.IgnoreCurrent())
}
