package journal_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/readthru/readthru/internal/journal"
)

// recent returns the URLs of recent requests, oldest first.
func recent(j *journal.Journal) (list []string) {
	for e, at := range j.Recent() {
		if at.IsZero() {
			panic("a request without a time")
		}
		list = append(list, e.URL)
	}
	return list
}

func TestRecentRequestsAreThoseOfEarlierProcessesToo(t *testing.T) {
	o := journal.Options{Dir: filepath.Join(t.TempDir(), "requests"), Days: 3}
	var want []string
	kept(t, o, func(j *journal.Journal) { want = fill(j, "first", 4000) })
	kept(t, o, func(j *journal.Journal) {
		want = append(want, fill(j, "second", 2000)...)
		if got := recent(j); !slices.Equal(got, want[1000:]) {
			t.Errorf("%d requests from %s on, want 5000 from %s on", len(got), got[0], want[1000])
		}
	})
	kept(t, o, func(j *journal.Journal) {
		if got := recent(j); !slices.Equal(got, want[1000:]) {
			t.Errorf("%d requests before the first, want 5000", len(got))
		}
		want = append(want, fill(j, "third", 10)...)
		if got := recent(j); !slices.Equal(got, want[1010:]) {
			t.Errorf("%d requests from %s on, want 5000 from %s on", len(got), got[0], want[1010])
		}
		f, err := journal.ParseFilter("second")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.Remove(f); err != nil {
			t.Fatal(err)
		}
		if got := recent(j); len(got) != 4010 || slices.ContainsFunc(got, func(u string) bool { return u == want[4000] }) {
			t.Errorf("%d requests after some were removed, want 4010", len(got))
		}
		if err := j.Clear(); err != nil {
			t.Fatal(err)
		}
		if got := recent(j); len(got) != 0 {
			t.Errorf("%d requests after all were removed", len(got))
		}
	})
}
