package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"readthru/api"
	"readthru/firecrawl"
	"readthru/journal"
	"readthru/knowledge"
)

func TestOpenAPIDescribesEveryPathAndNoOther(t *testing.T) {
	w := newWorld(t, nil)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			Summary   string
			Responses map[string]any
		}
	}
	if err := json.NewDecoder(ask(t, w.listen(t), "GET", "/openapi.json", "").Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for path, ops := range doc.Paths {
		for method, op := range ops {
			got = append(got, strings.ToUpper(method)+" "+path)
			if op.Summary == "" || op.Responses["200"] == nil {
				t.Errorf("%s %s is not described", method, path)
			}
		}
	}
	for _, rt := range w.server.Routes() {
		want = append(want, rt[0]+" "+rt[1])
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi %q", doc.OpenAPI)
	}
}

func TestEveryRouteWorks(t *testing.T) {
	w := newWorld(t, func(o *api.Options) {
		o.Session, o.End = func(string) api.SessionStats { return api.SessionStats{} }, func() {}
		o.Journal = journal.New()
		o.Journal.Add(&journal.Entry{Method: "GET", URL: pageURL})
	})
	addr := w.listen(t)
	file := filepath.Join(t.TempDir(), "note.md")
	write(t, file, "# Quinces\n\nA quince is hard and yellow, and `quince` is its name.\n")
	for _, rt := range w.server.Routes() {
		if staysOpen(rt[1]) || strings.HasPrefix(rt[1], "/api/v1/sessions/{name}/") {
			continue // stays open: TestAServerIsHeldUpByLeases, TestSessionsAreCountedAndRecordedThroughServerAndClient
		}
		path, body := w.example(t, rt[0]+" "+rt[1], file)
		resp := ask(t, addr, rt[0], path, body, "Content-Type: application/json")
		if resp.StatusCode != http.StatusOK {
			b, _ := io.ReadAll(resp.Body)
			t.Errorf("%s %s: status %d: %s", rt[0], path, resp.StatusCode, b)
		}
		if rt[0] == "GET" {
			if head := ask(t, addr, "HEAD", path, ""); head.StatusCode != http.StatusOK ||
				head.Header.Get("Content-Type") != resp.Header.Get("Content-Type") {
				t.Errorf("HEAD %s: status %d, %s", path, head.StatusCode, head.Header.Get("Content-Type"))
			}
		}
	}
	for _, path := range []string{
		"/api/v1/robots", "/api/v1/pages/https:%2F%2Fexample.com%2Fpage/changes?since=whenever", "/api/v1/pages?hots=a",
		"/api/v1/pages?limit=0", "/api/v1/pages?limit=501", "/api/v1/pages?limit=x", "/api/v1/visits?url=x", "/api/v1/cache",
		"/api/v1/cache?uri=" + pageURL,
		"/api/v1/context?session=%00", "/api/v1/context?user=x", "/api/v1/context/page", "/api/v1/context/text?max_chars=x",
		"/api/v1/context/text?max_chars=-1", "/api/v1/context/text?exclude=x",
		"/api/v1/pages?cursor=x", "/api/v1/visits?cursor=x", "/api/v1/disclosures?cursor=x",
		"/api/v1/kbs/garden/documents?cursor=x", "/api/v1/pages?sort=url&cursor=x",
		"/api/v1/search", "/api/v1/search?q=a&kind=&hots=a", "/api/v1/search?q=a&limit=501",
		"/api/v1/search?q=a&since=whenever", "/api/v1/search?q=a&explain=maybe", "/api/v1/cache?url=a&explain=2",
		"/api/v1/notes?limit=0", "/api/v1/subjects?kb=x",
		"/api/v1/pages/https:%2F%2Fexample.com%2Fpage/section", "/api/v1/pages/https:%2F%2Fexample.com%2Fpage/quote",
		"/api/v1/passages", "/api/v1/passages?cursor=x&kb=garden", "/api/v1/relations",
	} {
		resp := ask(t, addr, "GET", path, "")
		if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("GET %s: status %d, %s, want a problem with 400", path, resp.StatusCode, resp.Header.Get("Content-Type"))
		}
	}
}

// example makes what a route needs and returns a path and the content of a request that it answers.
func (w *world) example(t *testing.T, route, file string) (path, body string) {
	t.Helper()
	ctx := t.Context()
	if _, path, _ = strings.Cut(route, " "); firecrawl.Owns(path) {
		return w.firecrawlExample(t, route)
	}
	for _, force := range []bool{false, true} { // two versions
		if _, err := w.client.Fetch(ctx, api.FetchRequest{URL: pageURL, Force: force}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.know.Base("garden"); err != nil {
		f, err := fillFrom(t, w.client, "garden", file)
		if last := finished(t, w.client, f, err); last.State != api.JobDone {
			t.Fatalf("job %+v", last)
		}
	}
	if err := w.server.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	jobs, err := w.client.Jobs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	hits, err := w.client.Search(ctx, api.SearchQuery{Text: "quince", KB: "garden"})
	if err != nil || len(hits.Hits) == 0 {
		t.Fatal(err, hits)
	}
	note, err := w.know.AddNote(knowledge.Note{Text: "Quinces are better cooked."})
	if err != nil {
		t.Fatal(err)
	}
	told, err := w.client.Requests(ctx, api.RequestQuery{})
	if err != nil || len(told.Requests) == 0 {
		t.Fatal(err, told)
	}
	_, path, _ = strings.Cut(route, " ")
	id := map[string]string{
		"jobs": jobs.Jobs[0].ID, "passages": hits.Hits[0].Passage,
		"notes": note.ID, "requests": told.Requests[0].ID,
	}[strings.Split(path+"///", "/")[3]]
	path = strings.NewReplacer("{agent}", "claude", "{doc}", "https:%2F%2Fexample.com%2Fpage", "{name}", "garden",
		"{subject}", "quince", "{id}", id, "{host}", "a.test").Replace(path)
	switch route {
	case "POST /api/v1/stop":
		body = `{"unused":true}`
	case "GET /api/v1/cache", "DELETE /api/v1/cache":
		path += "?url=" + pageURL
	case "GET /api/v1/robots":
		path += "?url=" + pageURL
	case "DELETE /api/v1/hosts":
		path += "?all=1"
	case "GET /api/v1/context/page":
		path += "?url=" + pageURL
	case "POST /api/v1/detect", "POST /api/v1/detect-and-fetch":
		body = `{"text":"Read ` + pageURL + `."}`
	case "POST /rpc":
		body = `{"jsonrpc":"2.0","id":1,"method":"LLM.detect_urls","params":["Read ` + pageURL + `."]}`
	case "POST /api/v1/hooks/{agent}":
		body = `{"hook_event_name":"SessionStart"}`
	case "POST /api/v1/fetch":
		body = `{"url":"` + pageURL + `"}`
	case "GET /api/v1/search":
		path += "?q=quince&explain=1&since=7d"
	case "GET /api/v1/pages/{doc}/section":
		path += "?name=a-heading"
	case "GET /api/v1/pages/{doc}/quote":
		path += "?q=whoever+asks"
	case "POST /api/v1/kbs":
		body = `{"name":"texts"}`
	case "POST /api/v1/kbs/unpack":
		var pack bytes.Buffer
		if err := w.client.Pack(ctx, "garden", &pack); err != nil {
			t.Fatal(err)
		}
		path, body = path+"?name=copy", pack.String()
	case "POST /api/v1/kbs/{name}/files":
		path, body = strings.ReplaceAll(path, "garden", "another"), parcelOf(t, file).String()
	case "POST /api/v1/kbs/{name}/refresh":
		path = strings.ReplaceAll(path, "garden", "scraped")
		f, err := w.client.CreateBase(ctx, api.NewBase{Name: "scraped", Scrape: pageURL})
		if last := finished(t, w.client, f, err); last.State != api.JobDone {
			t.Fatalf("job %+v", last)
		}
	case "POST /api/v1/signin":
		body = `{"page":"/stats"}`
	case "POST /api/v1/ingest":
		body = `{"text":"Medlars are eaten soft."}`
	case "GET /api/v1/passages", "GET /api/v1/relations":
		path += map[string]string{"/api/v1/passages": "?frame=CAUSAL", "/api/v1/relations": "?type=supports"}[path]
	case "POST /api/v1/passages/{id}/relations":
		body = `{"note":"` + note.ID + `","type":"supports"}`
	case "POST /api/v1/notes":
		body = `{"text":"Medlars too."}`
	}
	return path, body
}
