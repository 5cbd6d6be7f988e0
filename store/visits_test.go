package store_test

import (
	"fmt"
	"strings"
	"testing"

	"readthru/store"
)

func TestVisitsOfLongURLsAreWritten(t *testing.T) {
	for name, length := range map[string]int{"a chunk of them over a transaction": 8 << 10, "one over a record": 2 << 20} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, store.Options{})
			_, _, k := newPage("https://a.test/", "")
			const n = 300
			s.AddVisit(k, store.Visit{URL: "https://a.test/first?" + strings.Repeat("x", length)})
			for i := range n {
				s.AddVisit(k, store.Visit{URL: fmt.Sprintf("https://a.test/%d?%s", i, strings.Repeat("x", min(length, 8<<10)))})
			}
			flush(t, s)
			if got := len(s.Keys("vi/")); got < n {
				t.Errorf("%d visits are on disk, want %d", got, n)
			}
			if got := s.Totals().Visits; got != n+1 {
				t.Errorf("Totals().Visits = %d, want %d", got, n+1)
			}
		})
	}
}
