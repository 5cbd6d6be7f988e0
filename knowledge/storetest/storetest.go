// Package storetest opens stores for the tests of packages that keep records in one.
package storetest

import (
	"testing"

	"github.com/readthru/readthru/store"
)

// Open opens a store that is closed and removed with the test.
func Open(tb testing.TB) *store.Store {
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
