package e2e_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// readPage finds the pages that the steps of a crawl have.
var readPage = regexp.MustCompile(`"u":"https://manual.test(/manual/\d*)","o":"new"`)

// TestACrawlGoesOnOnAnotherNode kills a daemon that crawls a site of 61 pages for a knowledge base, of which no stored
// answer may be used without asking the origin. Another one goes on, and no page is asked for again that was told.
func TestACrawlGoesOnOnAnotherNode(t *testing.T) {
	server := fleettest.Start(t)
	site := manual(60)
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		site.ServeHTTP(w, r)
	}))
	node := func(name, dir string) *daemon {
		d := nodeIn(t, server, w, dir, name)
		d.awaitFleet()
		return d
	}
	a, b, c := node("a", t.TempDir()), node("b", t.TempDir()), node("c", t.TempDir())
	type base struct {
		Documents, Generation int
		Building              bool
	}
	of := func(d *daemon) (found base) {
		var all struct {
			KBs []struct {
				Name string
				base
			}
		}
		d.ask(http.MethodGet, "/api/v1/kbs", "", &all)
		for _, kb := range all.KBs {
			if kb.Name == "manual" {
				found = kb.base
			}
		}
		return found
	}
	complete := func(b base) bool { return b.Documents == 61 && b.Generation > 0 && !b.Building }
	a.ask(http.MethodPost, "/api/v1/kbs", `{"name":"manual","crawl":"https://manual.test/manual/"}`, &struct{}{})
	eventually.True(t, "another node has some pages of the base", func() bool { return of(b).Documents >= 15 })
	a.kill()
	began := time.Now()
	var told []string // of what the crawl has done
	rows, err := server.Open().QueryContext(t.Context(), "SELECT content FROM readthru.rounds")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err tells what went wrong
	for rows.Next() {
		var content string
		if err := rows.Scan(&content); err != nil {
			t.Fatal(err)
		}
		for _, done := range readPage.FindAllStringSubmatch(content, -1) {
			told = append(told, done[1])
		}
	}
	if rows.Err() != nil || len(told) < 10 {
		t.Fatalf("told of %d pages, %v", len(told), rows.Err())
	}
	paths := []string{"/manual/"}
	for i := range 60 {
		paths = append(paths, fmt.Sprintf("/manual/%d", i+1))
	}
	asked := func() (n int) {
		for _, path := range paths {
			n += len(w.requests(path))
		}
		return n
	}
	before := asked()
	eventually.True(t, "another node goes on", func() bool { return asked() > before })
	t.Logf("%d pages were asked for and %d told; another node went on after %s", before, len(told),
		time.Since(began).Round(time.Millisecond))
	for _, d := range []*daemon{b, c} {
		eventually.True(t, "the base is complete", func() bool { return complete(of(d)) })
	}
	again := 0
	for _, path := range paths {
		switch n := len(w.requests(path)); {
		case n == 0 || n > 2:
			t.Errorf("%s was asked for %d times", path, n)
		case n == 2 && slices.Contains(told, path):
			t.Errorf("%s was told of and is asked for again", path)
		case n == 2:
			again++
		}
	}
	if again > 8 {
		t.Errorf("%d pages were asked for twice", again)
	}
	all := asked()
	a = node("a", a.dir)
	for _, d := range []*daemon{a, b, c} {
		eventually.True(t, "the base is complete on all nodes", func() bool { return complete(of(d)) })
		eventually.True(t, "a page is found in the base", func() bool {
			var r struct{ Results []struct{ URL string } }
			d.ask(http.MethodGet, "/api/v1/search?q=quonset60x&kb=manual", "", &r)
			return len(r.Results) > 0 && r.Results[0].URL == "https://manual.test/manual/60"
		})
	}
	if n := asked() - all; n != 0 {
		t.Errorf("after the crawl %d pages were asked for", n)
	}
}
