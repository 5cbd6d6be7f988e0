package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestVisitsOfLongURLsAreWritten(t *testing.T) {
	for name, length := range map[string]int{
		"a chunk of them over a transaction": 8 << 10, "one over a record": 2 << 20,
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, store.Options{})
			_, _, k := newPage("https://a.test/", "")
			const n = 300
			s.AddVisit(k, store.Visit{URL: "https://a.test/first?" + strings.Repeat("x", length)})
			for i := range n {
				query := strings.Repeat("x", min(length, 8<<10))
				s.AddVisit(k, store.Visit{URL: fmt.Sprintf("https://a.test/%d?%s", i, query)})
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

func TestVisitsOfOneReaderAreWrittenTogetherAndAllCounted(t *testing.T) {
	s := openStore(t, store.Options{})
	p, _, k := newPage("https://a.test/x", "")
	if _, err := s.PutPage(p, []byte("m"), store.Sum{1}); err != nil {
		t.Fatal(err)
	}
	v := s.Visitor(k, store.Visit{URL: "https://a.test/x", Agent: "a", Source: page.Local, FromCache: true, Tokens: 3})
	const n = 500
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			for range n / 5 {
				v.Visit(time.Now())
			}
		})
	}
	group.Wait()
	if got, err := s.Page(k); err != nil || got.VisitCount != n {
		t.Errorf("VisitCount = %d, %v, want %d", got.VisitCount, err, n)
	}
	totals := s.Totals()
	if totals.Visits != n || totals.MarkdownTokens != 3*n || totals.VisitsBySource[page.Local] != n {
		t.Errorf("totals %+v, want %d visits", totals, n)
	}
	visits, _, err := s.Visits(store.VisitQuery{Limit: 1000})
	var counted int64
	for _, each := range visits {
		counted += max(each.Count, 1)
		if each.ID == "" || each.Doc != k.Doc() || each.Time.IsZero() {
			t.Errorf("visit %+v lacks ID, Doc or Time", each)
		}
	}
	if err != nil || counted != n || len(visits) > n/10 {
		t.Errorf("%d visits in %d records, %v; want %d in few", counted, len(visits), err, n)
	}
	v.Visit(time.Now())
	if visits, _, _ := s.Visits(store.VisitQuery{Limit: 1}); len(visits) != 1 || visits[0].Count != 0 {
		t.Errorf("a single visit: %+v, want no count", visits)
	}
}
