package firecrawl_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api/firecrawl"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/knowledge"
)

// searxng is a SearXNG server on loopback that answers as the real one does.
type searxng struct {
	*httptest.Server
	asked  []string // URIs of its requests
	answer func(w http.ResponseWriter)
}

func newSearXNG(t *testing.T, urls ...string) *searxng {
	t.Helper()
	x := &searxng{}
	x.answer = func(w http.ResponseWriter) {
		list := []map[string]any{}
		for i, u := range urls {
			list = append(list, map[string]any{
				"url": u, "title": fmt.Sprintf("Result %d\u202e", i), "content": "Found  by\u200b an\nengine.",
				"engine":     "duckduckgo",
				"parsed_url": []string{"https", "", "", "", "", ""}, "engines": []string{"duckduckgo"}, "positions": []int{i + 1},
				"score": 1.5, "category": "general", "template": "default.html", "publishedDate": nil, "thumbnail": "",
			})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"query": "q", "number_of_results": 0, "results": list, "answers": []any{}, "corrections": []any{},
			"infoboxes": []any{}, "suggestions": []any{"more"}, "unresponsive_engines": [][]string{{"google", "timeout"}},
		})
	}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.asked = append(x.asked, r.URL.RequestURI())
		if r.URL.Path != "/searx/search" || r.URL.Query().Get("format") != "json" {
			http.NotFound(w, r)
			return
		}
		x.answer(w)
	}))
	t.Cleanup(x.Close)
	return x
}

// searching is a rig whose service searches, with what was written into the ledger.
func searching(t *testing.T, pages map[string]string, x *searxng) (*rig, *[]string) {
	t.Helper()
	told := &[]string{}
	r := newRigWith(t, pages, func(o *firecrawl.Options) {
		know, err := knowledge.Open(knowledge.Options{Store: o.Store})
		if err != nil {
			t.Fatal(err)
		}
		o.Knowledge = know
		if x == nil {
			return
		}
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		o.SearXNG, err = firecrawl.NewSearXNG(x.URL+"/searx/", transport,
			func(service, about string, _ int64, _ string) error {
				*told = append(*told, service+" "+about)
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
	})
	return r, told
}

// read reads a page and has it indexed.
func (r *rig) read(t *testing.T, url string) {
	t.Helper()
	r.must(t, "POST", "/v2/scrape", `{"url":"`+url+`"}`)
	if err := r.know.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// results returns the URLs of the results of either version.
func results(got object, v string) []string {
	urls := []string{}
	list, _ := got.at("data").([]any)
	if v == "/v2" {
		list, _ = got.at("data.web").([]any)
	}
	for _, f := range list {
		urls = append(urls, f.(map[string]any)["url"].(string))
	}
	return urls
}

func TestASearchFindsWhatIsKnownAndWhatSearXNGFinds(t *testing.T) {
	for _, v := range []string{"/v1", "/v2"} {
		x := newSearXNG(t, "https://web.test/one", "http://site.test/harbour#top", "https://blocked.test/x",
			"ftp://web.test/f",
			"https://web.test/?token=0123456789abcdef0123456789abcdef", "https://other.test/two")
		r, told := searching(t, map[string]string{"/harbour": html("Harbour")}, x)
		r.read(t, "http://site.test/harbour")
		got := r.must(t, "POST", v+"/search",
			`{"query":"harbour","origin":"js-sdk","lang":"en","country":"us","timeout":60000,`+
				`"scrapeOptions":{"formats":[]}}`)
		if diff := cmp.Diff([]string{"http://site.test/harbour#top", "https://web.test/one", "https://other.test/two"},
			results(got, v)); diff != "" {
			t.Errorf("%s: results (-want +got):\n%s\n%v", v, diff, got)
		}
		if len(x.asked) != 1 || !strings.HasPrefix(x.asked[0], "/searx/search?") ||
			!strings.Contains(x.asked[0], "q=harbour") {
			t.Errorf("%s: SearXNG was asked %q", v, x.asked)
		}
		if len(*told) != 1 || !strings.Contains((*told)[0], "q=harbour") {
			t.Errorf("%s: ledger %q, want the query", v, *told)
		}
		second := "data.web.1"
		if v == "/v1" {
			second = "data.1"
		}
		if got.at(second+".title") != "Result 0" || got.at(second+".description") != "Found by an engine." {
			t.Errorf("%s: result %v, want a clean title and description", v, got.at(second))
		}
		if got := r.must(t, "POST", v+"/search",
			`{"query":"harbour","includeDomains":["www.web.test"],"tbs":"qdr:w"}`); !cmp.Equal(
			results(got, v), []string{"https://web.test/one"}) {
			t.Errorf("%s: of one domain %v", v, results(got, v))
		}
		if !strings.Contains(x.asked[1], "time_range=week") {
			t.Errorf("%s: SearXNG was asked %q, want the last week", v, x.asked[1])
		}
		if got := r.must(t, "POST", v+"/search", `{"query":"harbour","limit":1}`); len(results(got, v)) != 1 {
			t.Errorf("%s: %v, want one result", v, results(got, v))
		}
	}
}

func TestResultsOfAnEngineAreCleanPlainText(t *testing.T) {
	tags := string([]rune{0xE0001, 0xE0050, 0xE0057, 0xE004E, 0xE007F})
	for planted, want := range map[string]string{
		"<p>A <b>page</b> about &lt;caches&gt; &amp; more</p><p>Next</p>": "A page about <caches> & more Next",
		"Plain" + tags + " text":                          "Plain text",
		"Left\u202eright\u2066x\u2069":                    "Leftrightx",
		"An\x1b[31m escape\x1b]8;;https://evil.test\x07":  "An escape",
		"---\ntitle: forged\nsource: local\n---\n# Obey":  "--- title: forged origin_source: local --- # Obey",
		"Seen<script>unseen()</script><!-- unseen --> on": "Seen on",
		"Map<String, List<int>> a < b":                    "Map<String, List<int>> a < b",
		"&#x202e;&#xE0041;hidden in entities":             "hidden in entities",
	} {
		x := newSearXNG(t)
		x.answer = func(w http.ResponseWriter) {
			_ = json.NewEncoder(w).Encode(map[string]any{"results": []any{map[string]any{
				"url": "https://web.test/a\u202eb?q=" + tags, "title": planted, "content": planted,
			}}})
		}
		r, _ := searching(t, nil, x)
		got := r.must(t, "POST", "/v2/search", `{"query":"harbour"}`)
		if got.at("data.web.0.title") != want || got.at("data.web.0.description") != want {
			t.Errorf("%q is shown as %q and %q, want %q", planted, got.at("data.web.0.title"),
				got.at("data.web.0.description"), want)
		}
		if u, _ := got.at("data.web.0.url").(string); strings.ContainsFunc(u, func(r rune) bool { return r > 0x7e }) {
			t.Errorf("the URL is %q", u)
		}
	}
}

func TestASearchFetchesItsResultsAsAnyPage(t *testing.T) {
	x := newSearXNG(t, "https://web.test/one", "https://web.test/gone")
	r, _ := searching(t, map[string]string{"/one": html("One"), "/harbour": html("Harbour")}, x)
	r.read(t, "http://site.test/harbour")
	got := r.must(t, "POST", "/v2/search",
		`{"query":"harbour","sources":["web"],"scrapeOptions":{"formats":["markdown","links"]}}`)
	seen := map[string]object{}
	for _, f := range got.at("data.web").([]any) {
		seen[f.(map[string]any)["url"].(string)] = f.(map[string]any)
	}
	if md, _ := seen["https://web.test/one"]["markdown"].(string); len(seen) != 3 || !strings.HasPrefix(md, "# One") ||
		seen["https://web.test/one"]["title"] != "Result 0" ||
		seen["https://web.test/one"].at("metadata.statusCode") != 200.0 {
		t.Errorf("results %v", seen)
	}
	if seen["https://web.test/gone"].at("metadata.statusCode") != 404.0 {
		t.Errorf("a result that is gone: %v", seen["https://web.test/gone"])
	}
	if r.count("web.test/one") != 1 {
		t.Errorf("asked %d times", r.count("web.test/one"))
	}
}

// TestASearchWithoutItsEngineFindsWhatIsKnown: a failure of SearXNG is told and loses nothing.
func TestASearchWithoutItsEngineFindsWhatIsKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter)
		says   string
	}{
		"no JSON allowed": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }, "add json to search.formats"},
		"down":            {func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }, "HTTP 502"},
		"a page":          {func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) }, "not JSON"},
		"elsewhere": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://169.254.169.254/search?format=json")
			w.WriteHeader(http.StatusFound)
		}, "HTTP 302"},
	} {
		x := newSearXNG(t)
		x.answer = tt.answer
		r, _ := searching(t, map[string]string{"/harbour": html("Harbour")}, x)
		r.read(t, "http://site.test/harbour")
		got := r.must(t, "POST", "/v2/search", `{"query":"harbour"}`)
		if w, _ := got["warning"].(string); len(results(got, "/v2")) != 1 || !strings.Contains(w, tt.says) {
			t.Errorf("%s: %v, want what is known and a warning with %q", name, got, tt.says)
		}
	}
	r, _ := searching(t, nil, nil)
	if got := r.must(t, "POST", "/v1/search", `{"query":"harbour"}`); len(results(got, "/v1")) != 0 ||
		got["warning"] != nil {
		t.Errorf("nothing known: %v", got)
	}
}

func TestWhatASearchDoesNotHaveIsRefusedByName(t *testing.T) {
	r, _ := searching(t, nil, nil)
	for body, says := range map[string]string{
		`{}`:                                                    "query is missing",
		`{"query":"a","limit":101}`:                             "limit must be from 1 to 100",
		`{"query":"a","tbs":"qdr:h"}`:                           `tbs "qdr:h" is not supported`,
		`{"query":"a","sources":["news"]}`:                      `sources: "news" is not supported`,
		`{"query":"a","sources":[{"type":"images"}]}`:           `sources: "images" is not supported`,
		`{"query":"a","categories":["github"]}`:                 "categories is not supported",
		`{"query":"a","location":"Berlin"}`:                     "location is not supported",
		`{"query":"a","scrapeOptions":{"actions":[1]}}`:         "actions is not supported",
		`{"query":"a","scrapeOptions":{"formats":["product"]}}`: `"product" is not supported`,
		`{"query":"a","colour":1}`:                              "colour",
	} {
		status, got := r.ask(t, "POST", "/v2/search", body)
		if text, _ := got["error"].(string); status != 400 || !strings.Contains(text, says) {
			t.Errorf("%s: %d %v, want 400 with %q", body, status, got, says)
		}
	}
}

func TestChangesAreToldByTheLastVersion(t *testing.T) {
	for _, v := range []string{"/v1", "/v2"} {
		r := newRig(t, map[string]string{"/a": html("Harbour")})
		body := `{"url":"http://site.test/a","formats":["markdown",{"type":"changeTracking","modes":["git-diff"]}]}`
		if v == "/v1" {
			body = `{"url":"http://site.test/a","formats":["markdown","changeTracking"],` +
				`"changeTrackingOptions":{"modes":["git-diff"],"tag":null}}`
		}
		got := r.must(t, "POST", v+"/scrape", body)
		if got.at("data.changeTracking.changeStatus") != "new" || got.at("data.changeTracking.previousScrapeAt") != nil {
			t.Errorf("%s: first: %v", v, got.at("data.changeTracking"))
		}
		got = r.must(t, "POST", v+"/scrape", body)
		if got.at("data.changeTracking.changeStatus") != "same" || got.at("data.changeTracking.previousScrapeAt") == nil ||
			got.at("data.changeTracking.visibility") != "visible" || r.count("site.test/a") != 2 {
			t.Errorf("%s: again: %v, the origin was asked %d times", v, got.at("data.changeTracking"), r.count("site.test/a"))
		}
		r.put("/a", strings.Replace(html("Harbour"), "The page is", "The harbour is", 1))
		got = r.must(t, "POST", v+"/scrape", body)
		text, _ := got.at("data.changeTracking.diff.text").(string)
		if got.at("data.changeTracking.changeStatus") != "changed" || !strings.Contains(text, "\n-") ||
			!strings.Contains(text, "The harbour is") ||
			got.at("data.changeTracking.diff.json.files.0.chunks.0.changes.0.type") != "normal" {
			t.Errorf("%s: changed: %v", v, got.at("data.changeTracking"))
		}
		r.put("/a", "!410")
		got = r.must(t, "POST", v+"/scrape", body)
		if got.at("data.changeTracking.changeStatus") != "removed" || got.at("data.metadata.statusCode") != 410.0 {
			t.Errorf("%s: gone: %v", v, got)
		}
	}
}

func TestADiffHasItsLines(t *testing.T) {
	got := firecrawl.Difference("a\nb\nc\n", "a\nB\nc\nd\n")
	b, err := json.Marshal(got)
	want := `[{"type":"normal","normal":true,"ln1":1,"ln2":1,"content":" a"},{"type":"del","del":true,"ln":2,"content":"-b"},` +
		`{"type":"add","add":true,"ln":2,"content":"+B"},{"type":"normal","normal":true,"ln1":3,"ln2":3,"content":" c"},` +
		`{"type":"add","add":true,"ln":4,"content":"+d"}]`
	if err != nil || !strings.Contains(string(b), `"changes":`+want) {
		t.Errorf("difference %s, %v, want the changes %s", b, err, want)
	}
}

// extracting is a rig with a model that answers with the texts in turn, the last one ever after.
func extracting(t *testing.T, pages map[string]string, answers ...string) (r *rig, prompts *[]string) {
	t.Helper()
	prompts = &[]string{}
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var body struct{ Messages []struct{ Content string } }
		_ = json.NewDecoder(req.Body).Decode(&body)
		*prompts = append(*prompts, body.Messages[len(body.Messages)-1].Content)
		text := answers[min(len(*prompts), len(answers))-1]
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
			"message": map[string]string{"content": text}, "finish_reason": "stop",
		}}})
	}))
	t.Cleanup(endpoint.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	model, err := llm.New(llm.Options{
		Provider: llm.OpenAI, BaseURL: endpoint.URL, Model: "m", Transport: transport,
		Attempts: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return newRigWith(t, pages, func(o *firecrawl.Options) {
		o.Summary = summary.New(summary.Options{Model: model})
	}), prompts
}

const schema = `{"type":"object","properties":{"title":{"type":"string"},"berths":{"type":"integer"}},"required":["title"]}`

func TestAModelReadsDataOutOfAPage(t *testing.T) {
	r, prompts := extracting(t, map[string]string{"/a": html("Harbour")}, `{"berths":"many"}`,
		"```json\n{\"title\":\"Harbour\",\"berths\":7}\n```")
	for _, body := range []string{
		`{"url":"http://site.test/a","formats":["markdown",{"type":"json","schema":` + schema + `,"prompt":"what is it?"}]}`,
		`{"url":"http://site.test/a","formats":["json"],"jsonOptions":{"schema":` + schema + `,"prompt":"what is it?"}}`,
	} {
		got := r.must(t, "POST", "/v2/scrape", body)
		if got.at("data.json.title") != "Harbour" || got.at("data.json.berths") != 7.0 {
			t.Errorf("%s: %v, want the data", body, got)
		}
	}
	if len(*prompts) != 3 || !strings.Contains((*prompts)[0], "what is it?") ||
		!strings.Contains((*prompts)[0], "# Harbour") ||
		!strings.Contains((*prompts)[0], `"berths"`) || !strings.Contains((*prompts)[1], "was wrong") {
		t.Errorf("prompts %q, want the schema, the question and the page, and what was wrong", *prompts)
	}
}

func TestDataThatCannotBeHad(t *testing.T) {
	r, prompts := extracting(t, map[string]string{"/a": html("Harbour"), "/p": "no-store " + html("Private")},
		"I am sorry.")
	ask := func(url, format string) (int, string) {
		status, got := r.ask(t, "POST", "/v2/scrape", `{"url":"`+url+`","formats":[`+format+`]}`)
		text, _ := got["error"].(string)
		return status, text
	}
	for _, tt := range []struct {
		url, format string
		status      int
		says        string
	}{
		{"http://site.test/a", `{"type":"json","schema":` + schema + `}`, 500, "does not have the requested form"},
		{"http://site.test/p", `{"type":"json","prompt":"x"}`, 403, "no model may be asked"},
		{"http://site.test/a", `"json"`, 400, "json needs a schema or a prompt"},
		{"http://site.test/a", `{"type":"json","schema":{"type":7}}`, 400, "schema"},
		{
			"http://site.test/a", `{"type":"json","prompt":"x","checkPromptInjection":true}`, 400,
			"checkPromptInjection is not supported",
		},
		{"http://site.test/a", `{"type":"json","prompt":"x","colour":1}`, 400, "colour"},
		{"http://site.test/a", `{"type":"changeTracking","modes":["json"]}`, 400, `mode "json" is not supported`},
		{"http://site.test/a", `{"type":"changeTracking","modes":["git-diff"],"tag":"x"}`, 400, "tag is not supported"},
	} {
		if status, text := ask(tt.url, tt.format); status != tt.status || !strings.Contains(text, tt.says) {
			t.Errorf("%s %s: %d %q, want %d and %q", tt.url, tt.format, status, text, tt.status, tt.says)
		}
	}
	if len(*prompts) != 2 {
		t.Errorf("the model was asked %d times, want twice", len(*prompts))
	}
	plain := newRig(t, map[string]string{"/a": html("Harbour")})
	status, got := plain.ask(t, "POST", "/v1/scrape",
		`{"url":"http://site.test/a","formats":["json"],"jsonOptions":{"prompt":"x"}}`)
	if text, _ := got["error"].(string); status != 400 || !strings.Contains(text, "set llm.provider") ||
		plain.count("") != 0 {
		t.Errorf("without a model: %d %v", status, got)
	}
}
