package store_test

import (
	"sync"
	"testing"

	"readthru/store"
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
