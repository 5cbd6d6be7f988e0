package store

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

func TestCountsAreRightAgainAfterWritesWereDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { countAfterDrops(t) })
}

func countAfterDrops(t *testing.T) {
	t.Helper()
	looks := 0
	space := func(string) (free, total uint64, err error) {
		if looks++; looks == 2 { // the first was at opening
			return 200 << 20, 100 << 30, nil // nothing but deletions fits
		}
		return 10 << 30, 100 << 30, nil
	}
	o := Options{Dir: t.TempDir()}
	s, err := open(o, space, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The writer waits a moment for more, which is over when nothing else happens: it gets both together.
	r := &Response{URL: "https://a.test/", Status: http.StatusOK}
	if err := s.PutResponse(r, strings.NewReader("content"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteResponses(r.URL); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil {
		t.Error("Close does not tell that a write was dropped")
	}

	s, err = Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Totals(); got.Responses != 0 || got.ResponseBytes != 0 {
		t.Errorf("Totals() = %+v after opening again, want nothing", got)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}
