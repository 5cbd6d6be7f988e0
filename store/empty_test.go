package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A page whose text is empty is read like any other, whatever becomes of others with that text, and when it is gone.
func TestAPageWithoutTextIsRead(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	rng := rand.New(rand.NewPCG(1, 1))
	now := map[string]string{}
	for n := range 600 {
		url := fmt.Sprintf("https://a.test/%d", rng.IntN(4))
		text := []string{"", "", "one", "two"}[rng.IntN(4)]
		switch rng.IntN(8) {
		case 0:
			if err := s.DeletePage(page.KeyOf(url)); err == nil {
				delete(now, url)
			}
		case 1:
			gone := page.Error{Kind: "http", Message: "HTTP 410", Status: 410}
			if err := s.PageFailed(page.KeyOf(url), gone); err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
		case 2:
			if n%50 == 0 {
				if _, err := s.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		default:
			putPage(t, s, url, text)
			now[url] = text
		}
		for url, want := range now {
			if got, err := s.Markdown(page.KeyOf(url)); err != nil || string(got) != want {
				t.Fatalf("step %d: %s is %q, %v, want %q", n, url, got, err, want)
			}
		}
	}
}
