package knowledge

import (
	"testing"

	"github.com/readthru/readthru/store"
)

func testStore(tb testing.TB) *store.Store {
	tb.Helper()
	s, err := store.Open(store.Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}
