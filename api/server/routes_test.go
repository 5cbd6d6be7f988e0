package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/knowledge"
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

// examplesFile has the examples of the API's description.
const examplesFile = "examples.json"

// unrecorded are the operations without an example: their answers are bytes, stay open, want a proxy, or are this
// description.
var unrecorded = []string{
	"endRecording", "getAuthorityDER", "getBackup", "getImage", "getOpenAPI", "holdDaemon",
	"openSession", "packBase", "recordSession", "replayRequest", "watchEvents",
}

// TestExamplesAreOfTheirSchemas holds what was recorded against the types as they are now.
func TestExamplesAreOfTheirSchemas(t *testing.T) {
	w := newWorld(t, nil)
	type object = map[string]any
	var doc object
	if err := json.NewDecoder(ask(t, w.listen(t), "GET", "/openapi.json", "").Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	schemas := doc["components"].(object)["schemas"].(object)
	var check func(where string, schema object, v any)
	check = func(where string, schema object, v any) {
		if ref, ok := schema["$ref"].(string); ok {
			schema = schemas[ref[strings.LastIndexByte(ref, '/')+1:]].(object)
		}
		switch v := v.(type) {
		case object:
			known, _ := schema["properties"].(object)
			other, _ := schema["additionalProperties"].(object)
			if schema["type"] != "object" && len(schema) > 0 && schema["anyOf"] == nil {
				t.Errorf("%s: an object, want %v", where, schema["type"])
			}
			for name, member := range v {
				of, ok := known[name].(object)
				switch {
				case ok:
					check(where+"."+name, of, member)
				case other != nil:
					check(where+"."+name, other, member)
				case known != nil:
					t.Errorf("%s: the schema lacks %s", where, name)
				}
			}
		case []any:
			of, _ := schema["items"].(object)
			for _, item := range v {
				check(where+"[]", of, item)
			}
		case string:
			if want, ok := schema["type"].(string); ok && want != "string" {
				t.Errorf("%s: a string, want %s", where, want)
			}
		}
	}
	of := func(where string, content any, wanted bool) {
		for media, c := range content.(object) {
			example, ok := c.(object)["example"]
			if ok != wanted && !strings.Contains(media, "octet-stream") {
				t.Errorf("%s has an example: %v", where, ok)
			}
			check(where, c.(object)["schema"].(object), example)
		}
	}
	for path, methods := range doc["paths"].(object) {
		for method, op := range methods.(object) {
			op := op.(object)
			wanted, where := !slices.Contains(unrecorded, op["operationId"].(string)), method+" "+path
			if strings.HasPrefix(path, "/mcp") {
				continue
			}
			of(where, op["responses"].(object)["200"].(object)["content"], wanted)
			if body, ok := op["requestBody"].(object); ok {
				of(where+": request", body["content"], wanted)
			}
			params, _ := op["parameters"].([]any)
			for _, p := range params {
				if p := p.(object); p["in"] == "path" && wanted && p["example"] == nil {
					t.Errorf("%s has no example of %s", where, p["name"])
				}
			}
		}
	}
}

// setAside has a document panic whenever it is indexed, and returns its id once it is set aside.
func (w *world) setAside(t *testing.T) string {
	t.Helper()
	fault.Inject(func(work string) {
		if work == "knowledge: read a document" {
			panic("index out of range [0] with length 0")
		}
	})
	defer fault.Inject(nil)
	if _, err := w.know.Ingest(t.Context(), knowledge.Ingestion{Text: "A medlar is eaten when it is soft."}); err != nil {
		t.Fatal(err)
	}
	if err := w.know.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, j := range w.know.Jobs() {
		if j.State == knowledge.JobAside {
			return j.ID
		}
	}
	t.Fatalf("no document was set aside: %+v", w.know.Jobs())
	return ""
}

func TestEveryRouteWorks(t *testing.T) {
	told := journal.New(journal.Options{})
	w := newWorld(t, func(o *server.Options) {
		o.RenewCA = func() error { return nil }
		o.Session, o.End = func(string) api.SessionStats { return api.SessionStats{} }, func() {}
		o.Switch = func(api.Switches) error { return nil }
		o.Services = func() map[string]bool { return map[string]bool{"markdown.new": false} }
		o.Journal = told
	})
	addr := w.listen(t)
	file := filepath.Join(t.TempDir(), "note.md")
	write(t, file, "# Quinces\n\nA quince is hard and yellow, and `quince` is its name.\n")
	recorded := map[string]any{}
	for _, rt := range w.server.Routes() {
		if rt[1] == "/api/v1/pages/{doc}/image" {
			continue // wants an image: TestAnImageIsGivenForThePageThatHasIt
		}
		if rt[1] == "/api/v1/requests/{id}/replay" {
			continue // wants a proxy: the script requests.txtar of cmd/readthru
		}
		if rt[1] == "/api/v1/account/password" {
			continue // wants a user who signed in: TestAUserChoosesAPassword
		}
		if staysOpen(rt[1]) || strings.HasPrefix(rt[1], "/api/v1/sessions/{name}/") {
			continue // stays open: TestAServerIsHeldUpByLeases, TestSessionsAreCountedAndRecordedThroughServerAndClient
		}
		told.Add(&journal.Entry{Method: "GET", URL: pageURL})
		path, body := w.example(t, rt[0]+" "+rt[1], file)
		resp := ask(t, addr, rt[0], path, body, "Content-Type: application/json")
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s %s: status %d: %s %v", rt[0], path, resp.StatusCode, b, err)
		}
		recorded[w.server.ID(rt)] = exampleOf(rt[1], path, body, resp.Header.Get("Content-Type"), b)
		if rt[0] == "GET" {
			if head := ask(t, addr, "HEAD", path, ""); head.StatusCode != http.StatusOK ||
				head.Header.Get("Content-Type") != resp.Header.Get("Content-Type") {
				t.Errorf("HEAD %s: status %d, %s", path, head.StatusCode, head.Header.Get("Content-Type"))
			}
		}
	}
	if *update {
		delete(recorded, "getOpenAPI") // it would hold itself
		var lines []string
		for _, id := range slices.Sorted(maps.Keys(recorded)) {
			b, err := json.Marshal(map[string]any{id: recorded[id]})
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(b[1:len(b)-1]))
		}
		text := strings.NewReplacer(strings.TrimPrefix(w.origin.URL, "https://"), "93.184.215.14:443", addr, "localhost:7888",
			filepath.Dir(file), "notes").Replace("{\n" + strings.Join(lines, ",\n") + "\n}\n")
		text = shownToken.ReplaceAllString(text, "rt_0123456789ab_…")
		write(t, examplesFile, text)
	}
	for _, path := range []string{
		"/api/v1/robots", "/api/v1/check", "/api/v1/pages/https:%2F%2Fexample.com%2Fpage/changes?since=whenever", "/api/v1/pages?hots=a",
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

var update = flag.Bool("update", false, "record the examples of /openapi.json")

// exampleOf is an exchange as /openapi.json shows it.
func exampleOf(pattern, target, body, media string, answer []byte) map[string]any {
	e := map[string]any{}
	path, query, _ := strings.Cut(target, "?")
	if values, err := url.ParseQuery(query); err == nil && len(values) > 0 {
		e["query"] = values
	}
	parts, of := strings.Split(path, "/"), map[string]string{}
	for i, part := range strings.Split(pattern, "/") {
		if strings.HasPrefix(part, "{") {
			of[strings.Trim(part, "{}")], _ = url.PathUnescape(parts[i])
		}
	}
	if len(of) > 0 {
		e["path"] = of
	}
	if in := decoded([]byte(body)); in != nil {
		e["body"] = in
	}
	switch {
	case media == "application/json":
		e["answer"] = shortened(decoded(answer))
	case utf8.Valid(answer) && !strings.Contains(media, "octet-stream"):
		e["answer"] = shortened(string(answer))
	}
	return e
}

// decoded returns a JSON object or list, or nil.
func decoded(b []byte) (v any) {
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	return v
}

// shortened cuts what nobody reads in an example.
func shortened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = shortened(member)
		}
	case []any:
		v = v[:min(2, len(v))]
		for i, item := range v {
			v[i] = shortened(item)
		}
		return v
	case string:
		if r := []rune(v); len(r) > 100 {
			return string(r[:100]) + "…"
		}
	}
	return v
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
	if err := w.server.Memory().CatchUp(ctx); err != nil {
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
	rule, err := w.client.AddRule(ctx, api.RuleFields{Host: "a.test", Action: "block"})
	if err != nil {
		t.Fatal(err)
	}
	view, err := w.client.SaveView(ctx, api.NewView{Name: "mine", Filter: "host:a.test"})
	if err != nil {
		t.Fatal(err)
	}
	const gardenRecipe = "recipe: garden\nmatch: {host: example.com}\ncontent: main\n"
	if _, err := w.client.AddRecipes(ctx, api.RecipeTexts{Text: gardenRecipe}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(route, "/recipes") && !strings.Contains(route, "{name}") {
		texts := api.RecipeTexts{Text: gardenRecipe}
		if strings.HasSuffix(route, "/propose") {
			texts = api.RecipeTexts{URL: pageURL}
		}
		recipes, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		return path, string(recipes)
	}
	token := w.garden(t)
	_, path, _ = strings.Cut(route, " ")
	id := map[string]string{
		"jobs": jobs.Jobs[0].ID, "passages": hits.Hits[0].Passage,
		"notes": note.ID, "rules": rule.ID, "views": view.ID, "requests": told.Requests[0].ID, "users": token,
	}[strings.Split(path+"///", "/")[3]]
	if strings.Contains(path, "/store/jobs") {
		id = w.setAside(t)
	}
	path = strings.NewReplacer("{agent}", "claude", "{doc}", "https:%2F%2Fexample.com%2Fpage", "{name}", "garden",
		"{subject}", "quince", "{id}", id, "{host}", "a.test").Replace(path)
	switch route {
	case "POST /api/v1/stop":
		body = `{"unused":true}`
	case "GET /api/v1/cache", "DELETE /api/v1/cache":
		path += "?url=" + pageURL
	case "GET /api/v1/robots", "GET /api/v1/check":
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
	case "POST /api/v1/rules":
		body = `{"host":"b.test","action":"tunnel"}`
	case "POST /api/v1/views":
		body = `{"name":"guides","filter":"guide since:7d"}`
	case "POST /api/v1/disclosures/services":
		body = `{"service":"markdown.new","off":true}`
	case "POST /api/v1/switches":
		body = `{"paused":true}`
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
	case "POST /api/v1/users":
		body = `{"name":"ann","role":"write","scopes":["proxy","mcp"],"requests_per_minute":600,"tokens_per_day":1000000}`
	case "POST /api/v1/users/{name}":
		body = `{"role":"admin"}`
	case "POST /api/v1/users/{name}/tokens":
		body = `{"scopes":["api"]}`
	case "GET /api/v1/usage":
		path += "?since=7d&days=1"
	}
	return path, body
}

// garden makes a user of that name, who used something, and returns the id of their token.
func (w *world) garden(t *testing.T) string {
	t.Helper()
	if _, err := w.client.RemoveUser(t.Context(), "garden"); err != nil && api.CodeOf(err) != api.CodeNotFound {
		t.Fatal(err)
	}
	made, err := w.client.AddUser(t.Context(), api.NewUser{Name: "garden"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.AddUse(time.Now(), map[string]users.Use{"garden": users.PageUse(300, 2000)}); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// shownToken is a token in an answer.
var shownToken = regexp.MustCompile(`rt_[0-9a-f]{12}_[A-Z2-7]{26}`)
