package store

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/body"
)

func TestDecodedRecordsKeepToTheirBudget(t *testing.T) {
	const budget = 190 << 10
	s, err := Open(Options{Dir: t.TempDir(), Decoded: budget})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	weights := func() [4]int64 {
		return [4]int64{s.bodies.Weight(), s.renditions.Weight(), s.hot.all.Weight(), s.kv.Decoded().Weight()}
	}
	for i := range 400 {
		url := fmt.Sprint("https://a.test/", i)
		r := &Response{URL: url, Status: http.StatusOK, Header: http.Header{}}
		if err := s.PutResponse(r, strings.NewReader(url+strings.Repeat("x", 2_000)), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.PutRendition(&Rendition{Source: r.Body, Recipe: "r", Markdown: []byte(url)}); err != nil {
			t.Fatal(err)
		}
		_, _ = s.Host(fmt.Sprint(i, ".test")) // that nothing is known is kept, too
		_, _ = s.Page(page.KeyOf(url))        // likewise
		for kind, n := range weights() {
			if most := []int64{6, 6, 4, 3}[kind] * budget / 19; n > most {
				t.Fatalf("after %d pages kind %d takes %d bytes, want at most %d", i+1, kind, n, most)
			}
		}
	}
	for kind, n := range weights() {
		if n == 0 {
			t.Errorf("nothing of kind %d is kept", kind)
		}
	}
}

func TestAPageThatWasStoredIsReadFromMemory(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for length, want := range map[int]bool{1000: true, maxHotBody: true, maxHotBody + 1: false} {
		url := fmt.Sprint("https://a.test/", length)
		markdown := []byte(strings.Repeat("x", length))
		p := &page.Record{URL: url, NormalizedURL: url, ContentHash: url}
		if _, err := s.PutPage(p, markdown, Sum{}); err != nil {
			t.Fatal(err)
		}
		if _, kept := s.bodies.Get(body.Of(markdown).Sum); kept != want {
			t.Errorf("markdown of %d bytes is in memory: %v, want %v", length, kept, want)
		}
	}
}
