package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/journal"
)

// doorNames are what the list of requests calls the doors of these tests.
var doorNames = map[string]string{
	"proxy": "proxy", "agent": "proxy", "browser": "proxy", "prefix": "prefix", "API": "api", "MCP": "mcp",
	"Firecrawl": "firecrawl", "command": "cli",
}

// figures are what a daemon says of the requests since its start.
type figures struct {
	Requests struct {
		Total           int64
		Outcomes, Doors map[string]int64
	}
	Cache struct{ Hits, Misses, Revalidated, Stale, Bypass int64 }
}

func sum(of map[string]int64) (n int64) {
	for _, v := range of {
		n += v
	}
	return n
}

// TestFiguresAddUp reads by every door: one row for each read, and every place that counts them counts the same.
func TestFiguresAddUp(t *testing.T) {
	web := newWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		rw.Header().Set("Cache-Control", "max-age=3600")
		words := strings.Repeat("Some words. ", 60)
		_, _ = fmt.Fprintf(rw, "<title>A page</title><main><h1>A page</h1><p>%s</p></main>", words)
	}))
	d := openDoors(serve(t, web))
	rows := func() (list []journal.Entry) {
		t.Helper()
		var page struct{ Requests []journal.Entry }
		d.get("/api/v1/requests?limit=5000", &page)
		return page.Requests
	}
	known := 0
	// read reads, and returns the row that it left.
	read := func(name string, do func() said) journal.Entry {
		t.Helper()
		got := do()
		var list []journal.Entry
		eventually.True(t, name+": a row is told", func() bool { list = rows(); return len(list) > known })
		var read []journal.Entry
		for _, e := range list[:len(list)-known] {
			if e.Method != http.MethodConnect {
				read = append(read, e)
			}
		}
		known = len(list)
		if len(read) != 1 {
			t.Fatalf("%s: %d rows, want one: %+v (answer %d %.200s)", name, len(read), read, got.status, got.text)
		}
		return read[0]
	}
	const page, gone = "https://a.test/page", "https://a.test/gone"
	for _, door := range allDoors {
		for _, anew := range []bool{false, true} {
			e := read(door.name, func() said { return door.read(d, page, anew) })
			if e.Door != doorNames[door.name] || e.Status != http.StatusOK || e.Outcome == "" || e.Why == "" ||
				e.URL != page || e.Client != "127.0.0.1" || e.BytesOut == 0 || e.BytesIn == 0 {
				t.Errorf("%s: %+v", door.name, e)
			}
			if !door.html && (e.Doc == "" || e.Tokens == 0 || e.HTMLTokens == 0 || e.Source == "") {
				t.Errorf("%s: nothing is told of the page: %+v", door.name, e)
			}
		}
		if e := read(door.name+", gone", func() said { return door.read(d, gone, false) }); e.Status != http.StatusNotFound ||
			e.Outcome == "" || e.Door != doorNames[door.name] {
			t.Errorf("%s, gone: %+v", door.name, e)
		}
	}

	// Now all have ended, and every place counts them.
	var all figures
	d.get("/api/v1/stats", &all)
	n := int64(len(rows()))
	if all.Requests.Total != n || sum(all.Requests.Outcomes) != n || sum(all.Requests.Doors) != n {
		t.Errorf("%d rows, but figures %+v", n, all.Requests)
	}
	c, o := all.Cache, all.Requests.Outcomes
	if c.Hits != o["hit"] || c.Misses != o["miss"] || c.Revalidated != o["revalidated"] || c.Stale != o["stale"] ||
		c.Bypass != o["bypass"] {
		t.Errorf("the cache's figures %+v, those of requests %v", c, o)
	}
	byDoor := map[string]int64{}
	for _, e := range rows() {
		byDoor[e.Door]++
	}
	for door, want := range all.Requests.Doors {
		if byDoor[door] != want {
			t.Errorf("%d rows of %s, want %d", byDoor[door], door, want)
		}
	}
	if lines := d.send(http.DefaultClient, http.MethodGet, "http://"+d.admin+"/api/v1/requests/export?format=jsonl",
		""); int64(strings.Count(lines.text, "\n")) != n {
		t.Errorf("%d lines of JSON, want %d", strings.Count(lines.text, "\n"), n)
	}
	var har struct {
		Log struct{ Entries []json.RawMessage }
	}
	if d.get("/api/v1/requests/export?format=har", &har); int64(len(har.Log.Entries)) != n {
		t.Errorf("%d entries of the HTTP archive, want %d", len(har.Log.Entries), n)
	}
	metrics := d.send(http.DefaultClient, http.MethodGet, "http://"+d.admin+"/metrics", "").text
	for _, prefix := range []string{"readthru_requests_total{", "readthru_request_duration_seconds_count{"} {
		var total int64
		for line := range strings.Lines(metrics) {
			if strings.HasPrefix(line, prefix) {
				var v int64
				_, _ = fmt.Sscan(line[strings.LastIndex(line, " ")+1:], &v)
				total += v
			}
		}
		if total != n {
			t.Errorf("%s…} is %d in all, want %d", prefix, total, n)
		}
	}
	var series struct{ Sum map[string]int64 }
	d.get("/api/v1/series?step=hour", &series)
	var counted int64
	for outcome := range o {
		counted += series.Sum[outcome]
	}
	if counted != n {
		t.Errorf("%d requests in the series, want %d: %v", counted, n, series.Sum)
	}
}
