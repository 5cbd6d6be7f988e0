package fetch_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// TestAPageIsMadeAgainOfAStaleAnswer has a page as another converter made it, of an answer that may not be used without
// asking the origin, behind a redirect that is not kept.
func TestAPageIsMadeAgainOfAStaleAnswer(t *testing.T) {
	for _, tt := range []struct{ name, at string }{
		{"the page itself", "https://site.test/a"},
		{"behind a redirect", "https://site.test/from"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newChain(t, redirecting("/from", "/a", respond(200, article("Harbour"), html, "Cache-Control: no-cache")))
			ans, err := c.own(t, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			made, key := ans.Page.Record, page.KeyOf(ans.Page.NormalizedURL)
			if named := c.store.Named(key); named != (page.Key{}) {
				key = named
			}
			older := made
			older.ContentHash, older.Error = strings.Repeat("0", 64), &page.Error{Kind: "timeout"}
			if _, err := c.store.PutPage(&older, []byte("# Older\n"), store.Sum{}); err != nil {
				t.Fatal(err)
			}
			asked := len(c.origin.asked())
			stored, err := c.store.Page(key)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Convert(t.Context(), stored); err != nil {
				t.Fatal(err)
			}
			p, err := c.store.Page(key)
			if err != nil || p.ContentHash != made.ContentHash || p.VisitCount != 1 || p.Error == nil {
				t.Errorf("converted again it is %+v, %v", p, err)
			}
			if md, err := c.store.Markdown(key); err != nil || !strings.Contains(string(md), "The harbour wakes") {
				t.Errorf("its content is %.80q, %v", md, err)
			}
			if n := len(c.origin.asked()); n != asked {
				t.Errorf("%d requests to the origin", n-asked)
			}
		})
	}
}

func TestWhatWasNotConvertedHereIsNotConvertedAgain(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour"), html, "Cache-Control: max-age=600"))
	ans, err := c.own(t, "https://site.test/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []page.Source{page.Browser, page.Negotiated, page.Alternate, page.MarkdownNew, page.LLM} {
		p := *ans.Page
		p.Source = from
		if err := c.Convert(t.Context(), &p); !errors.Is(err, fetch.ErrNotConverted) {
			t.Errorf("a page of the source %s: %v", from, err)
		}
	}
}

// redirecting answers one path with a redirect that may not be kept, and the others by a handler.
func redirecting(from, to string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != from {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Location", to)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusFound)
	})
}

// TestAHitDoesNotReplaceANewerReadingOfAPage: another node of a fleet may have read the page since.
func TestAHitDoesNotReplaceANewerReadingOfAPage(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour"), html, "Cache-Control: max-age=600"))
	ans, err := c.own(t, "https://site.test/a")
	if err != nil {
		t.Fatal(err)
	}
	key := page.KeyOf(ans.Page.NormalizedURL)
	newer := ans.Page.Record
	newer.FetchedAt, newer.ContentHash = newer.FetchedAt.Add(time.Minute), strings.Repeat("0", 64)
	if _, err := c.store.PutPage(&newer, []byte("# Newer\n"), store.Sum{}); err != nil {
		t.Fatal(err)
	}
	ans, err = c.own(t, "https://site.test/a")
	if err != nil || !ans.Cache.Hit || !strings.Contains(string(ans.Body), "The harbour wakes") {
		t.Fatalf("%v, %+v, want a hit", err, ans)
	}
	if md, err := c.store.Markdown(key); err != nil || string(md) != "# Newer\n" {
		t.Errorf("the page is %.80q, %v, want the newer reading", md, err)
	}
	if p, err := c.store.Page(key); err != nil || p.VisitCount != 2 {
		t.Errorf("%+v, %v, want two visits", p, err)
	}
}
