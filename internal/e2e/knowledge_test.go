package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
)

// ask asks the admin port and reads its JSON.
func (d *daemon) ask(method, path, content string, v any) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, "http://"+d.admin+path, strings.NewReader(content))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		d.t.Fatalf("%s %s: %s %s, %v", method, path, resp.Status, body, err)
	}
	if err := json.Unmarshal(body, v); err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// found returns the URLs that a search finds.
func (d *daemon) found(query string) (list []string) {
	d.t.Helper()
	var res struct{ Results []struct{ URL string } }
	d.ask(http.MethodGet, "/api/v1/search?q="+url.QueryEscape(query), "", &res)
	for _, h := range res.Results {
		list = append(list, h.URL)
	}
	return list
}

// manual is a site of n pages about numbered things, each with links to the next ones. It validates.
func manual(n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/manual/%d", &i); err != nil && r.URL.Path != "/manual/" || i > n {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"manual-%d"`, i))
		if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		var links strings.Builder
		for next := 3*i + 1; next <= min(3*i+3, n); next++ {
			_, _ = fmt.Fprintf(&links,
				`<p>Then there is <a href="/manual/%d">thing number %d</a>, of which another page tells.</p>`, next, next)
		}
		_, _ = fmt.Fprintf(w,
			`<html><head><title>Thing %d</title></head><body><main><h1>Thing %d</h1><p>This page of the manual tells of the thing that is called quonset%dx, and of how it is used by those who use it at all.</p>%s</main></body></html>`, i, i, i, &links)
	})
}

func TestAPageIsFoundWithinTwoSecondsOfBeingRead(t *testing.T) {
	d := serve(t, newWeb(t, manual(9)))
	for i := range 10 {
		page := fmt.Sprintf("https://manual.test/manual/%d", i)
		d.get(page)
		eventually.True(t, page+" is found", func() bool {
			list := d.found(fmt.Sprintf("quonset%dx", i))
			return len(list) == 1 && list[0] == page
		})
	}
}

func TestACrawlGoesOnAfterAKillAndARefreshIsConditional(t *testing.T) {
	const pages = 40
	w := newWeb(t, manual(pages-1))
	dir := t.TempDir()
	config := filepath.Join(dir, ".config", "readthru", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("crawl: {interval: 20ms}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := func() (n, conditional int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, r := range w.seen {
			var i int
			if _, err := fmt.Sscanf(r.URL.Path, "/manual/%d", &i); err == nil || r.URL.Path == "/manual/" {
				n++
				if r.Header.Get("If-None-Match") != "" {
					conditional++
				}
			}
		}
		return n, conditional
	}
	type job struct {
		ID, State string
		Resumed   bool
		Documents int
		Outcomes  map[string]int
		Error     string
	}
	wait := func(d *daemon) (last job) {
		eventually.True(t, "the job has ended", func() bool {
			var list struct{ Jobs []job }
			d.ask(http.MethodGet, "/api/v1/jobs", "", &list)
			last = list.Jobs[0]
			return last.State != "running"
		})
		return last
	}

	d := serveIn(t, w, dir)
	var filling struct{ Job job }
	d.ask(http.MethodPost, "/api/v1/kbs", `{"name":"manual","crawl":"https://manual.test/manual/","limit":100}`, &filling)
	eventually.True(t, "a third of the pages were asked for", func() bool { n, _ := asked(); return n >= pages/3 })
	d.kill()
	if n, _ := asked(); n >= pages {
		t.Fatalf("%d pages were asked for before the kill: it was too late to show anything", n)
	}

	d = serveIn(t, w, dir)
	if last := wait(d); last.State != "done" || !last.Resumed || last.Documents != pages {
		t.Errorf("after the kill: %+v, want all %d pages", last, pages)
	}
	if n, _ := asked(); n > pages+8 { // those of a round that was not noted down are asked for again
		t.Errorf("%d requests for %d pages", n, pages)
	}
	if list := d.found(fmt.Sprintf("quonset%dx", pages-1)); len(list) != 1 {
		t.Errorf("the last page is found as %q", list)
	}

	before, _ := asked()
	d.ask(http.MethodPost, "/api/v1/kbs/manual/refresh", "", &filling)
	if last := wait(d); last.State != "done" || last.Outcomes["unchanged"] != pages || last.Documents != pages {
		t.Errorf("refresh: %+v, want %d pages unchanged", last, pages)
	}
	if n, conditional := asked(); n-before != pages || conditional != pages {
		t.Errorf("the refresh made %d requests, %d of all were conditional: want %d of each", n-before, conditional, pages)
	}
}
