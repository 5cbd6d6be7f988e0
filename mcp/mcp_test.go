package mcp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/mcp"
)

// TestAnAgentReadsSearchesAndChecks is what an agent does in a session, over both transports.
func TestAnAgentReadsSearchesAndChecks(t *testing.T) {
	for name, connect := range map[string]func(*world) *sdk.ClientSession{
		"streams": func(w *world) *sdk.ClientSession { return w.connect(t, nil) },
		"http":    func(w *world) *sdk.ClientSession { return w.connectHTTP(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			testSession(t, w, connect(w))
		})
	}
}

func testSession(t *testing.T, w *world, s *sdk.ClientSession) {
	t.Helper()
	const url = "https://example.com/guide"
	first, _ := use(t, s, "fetch", map[string]any{"url": url, "max_length": 100})
	if !strings.HasPrefix(first, "Contents of "+url+":\n# Guide\n\nA cache keeps") ||
		!strings.HasSuffix(first,
			"<error>Content truncated. Call the fetch tool with a start_index of 100 to get more content.</error>") {
		t.Errorf("first part: %q", first)
	}
	rest, _ := use(t, s, "fetch", map[string]any{"url": url, "start_index": 100})
	body := strings.TrimPrefix(strings.TrimSuffix(first,
		"\n\n<error>Content truncated. Call the fetch tool with a start_index of 100 to get more content.</error>"),
		"Contents of "+url+":\n") +
		strings.TrimPrefix(rest, "Contents of "+url+":\n")
	whole, _ := use(t, s, "fetch", map[string]any{"url": url})
	if got := "Contents of " + url + ":\n" + body; got != whole || strings.Contains(whole, "<error>") {
		t.Errorf("the parts give %q, want %q", got, whole)
	}
	if w.asked.Load() != 1 {
		t.Errorf("the origin was asked %d times, want once", w.asked.Load())
	}

	_, recent := use(t, s, "recent_pages", map[string]any{"host": "example.com"})
	pages := recent["pages"].([]any)
	if len(pages) != 1 || pages[0].(map[string]any)["url"] != url {
		t.Fatalf("recent pages %v, want the guide", recent)
	}
	doc := pages[0].(map[string]any)["doc"].(string)
	if err := w.api.Memory().CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, found := use(t, s, "search_knowledge_base", map[string]any{"query": "yellow quince"})
	hits := found["results"].([]any)
	if len(hits) != 1 || hits[0].(map[string]any)["doc"] != doc || !strings.Contains(text, "Quinces") {
		t.Fatalf("hits %v, text %q, want the guide", found, text)
	}
	if link := url + "#the-quinces"; hits[0].(map[string]any)["link"] != link ||
		!strings.Contains(text, "\n   "+link+"\n") {
		t.Errorf("hit %v, text %q, want the link to its place, %s", hits[0], text, link)
	}
	passage := hits[0].(map[string]any)["passage"].(string)
	if _, bases := use(t, s, "list_knowledge_bases", nil); len(bases["knowledge_bases"].([]any)) != 0 {
		t.Errorf("knowledge bases %v, want none", bases)
	}
	if _, o := use(t, s, "outline", map[string]any{"doc": doc}); len(o["headings"].([]any)) != 3 {
		t.Errorf("outline %v, want three headings", o)
	}
	section, _ := use(t, s, "get_page", map[string]any{"doc": doc, "section": "#quinces"})
	if !strings.Contains(section, "hard and yellow") || strings.Contains(section, "Install") {
		t.Errorf("section %q, want that of quinces alone", section)
	}
	for _, args := range []map[string]any{ // the anchor of a hit's link is no heading's slug
		{"url": url + "#the-quinces"}, {"url": url, "section": "#the-quinces"}, {"doc": doc, "section": "the-quinces"},
	} {
		linked, _ := use(t, s, "get_page", args)
		_, got, _ := strings.Cut(linked, "\n\n")
		if _, want, _ := strings.Cut(section, "\n\n"); got != want || got == "" {
			t.Errorf("get_page %v: %q, want %q", args, linked, section)
		}
	}
	if said, _, bad := try(t, s, "get_page", map[string]any{"url": url + "#plums"}); !bad ||
		!strings.Contains(said, "plums") || !strings.Contains(said, "not found: it has") {
		t.Errorf("an unknown fragment: %q, want what there is", said)
	}
	if _, q := use(t, s, "verify_quote", map[string]any{
		"url":   url,
		"quote": "hardly anybody eats it raw",
	}); q["found"] != true || q["current"] != true {
		t.Errorf("quote %v, want it found", q)
	}
	if text, q := use(t, s, "verify_quote", map[string]any{
		"url":   url,
		"quote": "the quince is soft and yellow",
	}); q["found"] != false || !strings.Contains(text, "Nearest") {
		t.Errorf("quote %v, %q, want what is nearest", q, text)
	}
	if _, d := use(t, s, "detect_urls", map[string]any{"text": "see https://github.com/a/b/issues/7, and " +
		url}); len(d["urls"].([]any)) != 2 {
		t.Errorf("detected %v, want two", d)
	}
	testResources(t, s, doc, passage)
	testChanges(t, w, s, url)
}

// Of the first hit more is shown than of others: what is asked is answered there or nowhere. The title of a page is not
// said twice.
func TestTheFirstHitOfASearchShowsMore(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	for _, name := range []string{"one", "two"} {
		use(t, s, "ingest", map[string]any{
			"url": "https://notes.example/" + name, "title": "Pears " + name,
			"text": "# Pears " + name + "\n\n## Storing\n\nThe bergamot pear keeps in " + name + ". " +
				strings.Repeat("Nobody knows how long it keeps in "+name+" when it is cold. ", 20),
		})
	}
	if err := w.api.Memory().CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, found := use(t, s, "search_knowledge_base", map[string]any{"query": "bergamot pear"})
	hits := found["results"].([]any)
	if len(hits) != 2 {
		t.Fatalf("hits %v, want two", hits)
	}
	var shown []int
	for _, h := range hits {
		shown = append(shown, len([]rune(h.(map[string]any)["snippet"].(string))))
	}
	if shown[0] < 400 || shown[0] > 500 || shown[1] > 300 {
		t.Errorf("%v characters are shown, want about 480 and at most 300", shown)
	}
	if strings.Count(text, ", read 20") != 1 {
		t.Errorf("text %q, want the day once that both were read on", text)
	}
	if !strings.Contains(text, "\n   › Storing\n") || strings.Contains(text, "Pears one › Storing") {
		t.Errorf("text %q, want headings without the title", text)
	}
}

func testChanges(t *testing.T, w *world, s *sdk.ClientSession, url string) {
	t.Helper()
	if text, c := use(t, s, "page_changes", map[string]any{"url": url}); c != nil ||
		!strings.Contains(text, "Nothing changed.") {
		t.Errorf("changes %v, %q, want none", c, text)
	}
	w.edited.Store(true)
	use(t, s, "fetch", map[string]any{"url": url, "fresh": true})
	text, c := use(t, s, "page_changes", map[string]any{"url": url})
	if c != nil || strings.Count(text, "\n== ") != 1 || !strings.Contains(text, "Guide › Quinces") ||
		!strings.Contains(text, "soft by now") || strings.Contains(text, "shell finds it") {
		t.Errorf("changes %v, %q, want the one section, once", c, text)
	}
	if text, _, failed := try(t, s, "page_changes", map[string]any{"url": url, "since": "some day"}); !failed ||
		!strings.Contains(text, "neither a time") {
		t.Errorf("since some day: %q", text)
	}
}

func testResources(t *testing.T, s *sdk.ClientSession, doc, passage string) {
	t.Helper()
	ctx := t.Context()
	list, err := s.ListResources(ctx, nil)
	if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != "page://"+doc ||
		list.CacheScope != "private" {
		t.Errorf("resources: %v, %+v, want the guide, private", err, list)
	}
	templates, err := s.ListResourceTemplates(ctx, nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Errorf("templates: %v, %+v, want two", err, templates)
	}
	read, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: "page://" + doc})
	if err != nil || len(read.Contents) != 1 || !strings.HasPrefix(read.Contents[0].Text, "# Guide\n") ||
		read.Contents[0].MIMEType != "text/markdown" || read.CacheScope != "private" {
		t.Errorf("page: %v, %+v", err, read)
	}
	read, err = s.ReadResource(ctx, &sdk.ReadResourceParams{URI: "kb://-/" + passage})
	if err != nil || !strings.Contains(read.Contents[0].Text, "quince") {
		t.Errorf("passage: %v, %+v", err, read)
	}
	for _, uri := range []string{
		"page://0000000000000000", "page://nothing", "kb://none/" + passage, "kb://-/x",
		"file:///etc/passwd", "page://",
	} {
		if _, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri}); err == nil ||
			!strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: %v, want it not found", uri, err)
		}
	}
	prompt, err := s.GetPrompt(ctx, &sdk.GetPromptParams{
		Name:      "fetch",
		Arguments: map[string]string{"url": "https://example.com/guide"},
	})
	if err != nil || prompt.Description != "Contents of https://example.com/guide" ||
		!strings.HasPrefix(prompt.Messages[0].Content.(*sdk.TextContent).Text, "# Guide") {
		t.Errorf("prompt: %v, %+v", err, prompt)
	}
}

// documentedTools returns the names in the table of tools in docs/agents.md, sorted; those that write, too, if writes
// is set.
func documentedTools(tb testing.TB, writes bool) (names []string) {
	tb.Helper()
	text, err := os.ReadFile("../docs/agents.md")
	if err != nil {
		tb.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| tool | does |")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if writes || !strings.Contains(cell, "they write") {
			for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cell, -1) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return names
}

func TestTheToolsAreListedInAFewTokens(t *testing.T) {
	most := map[bool]int{true: 2760, false: 2210} // as convert.Tokens counts
	writers := []string{"ingest", "add_note", "relate"}
	for _, writes := range []bool{true, false} {
		s := newWorld(t, func(o *mcp.Options) { o.Write = writes }).connect(t, nil)
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if tool.Annotations == nil || tool.Annotations.ReadOnlyHint == slices.Contains(writers, tool.Name) ||
				tool.Annotations.OpenWorldHint == nil ||
				!tool.Annotations.ReadOnlyHint && tool.Annotations.DestructiveHint == nil {
				t.Errorf("%s: annotations %+v", tool.Name, tool.Annotations)
			}
		}
		want := strings.Fields("detect_urls fetch get_page list_knowledge_bases outline page_changes recent_pages " +
			"relations search_knowledge_base subjects verify_quote")
		if writes {
			want = append(want, writers...)
		}
		if slices.Sort(want); !slices.Equal(names, want) {
			t.Errorf("the tools differ (-wanted, +present):\n%s", cmp.Diff(want, names))
		}
		if documented := documentedTools(t, writes); !slices.Equal(documented, names) {
			t.Errorf("docs/agents.md has other tools (-documented, +present):\n%s", cmp.Diff(documented, names))
		}
		b, err := json.Marshal(list.Tools)
		if err != nil {
			t.Fatal(err)
		}
		n := convert.Tokens(string(b))
		t.Logf("%d tools: %d tokens, %d bytes", len(list.Tools), n, len(b))
		if n >= most[writes] {
			t.Errorf("the tools take %d tokens, want under %d: each session of an agent pays for them", n, most[writes])
		}
	}
}

func TestEveryResultStaysWithinItsBudgetAndGoesOn(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) { o.Write = true })
	s := w.connect(t, nil)
	const slack = 200 // the frame round the items
	use(t, s, "fetch", map[string]any{"url": "https://example.com/links"})
	use(t, s, "fetch", map[string]any{"url": "https://example.com/long"})
	var urls strings.Builder
	for i := range 800 {
		fmt.Fprintf(&urls, "https://example.com/a/rather/long/path/to/page/%d ", i)
	}
	for _, tt := range []struct {
		tool  string
		args  map[string]any
		items string
		least int
	}{
		{"outline", map[string]any{"url": "https://example.com/links"}, "headings", 1201},
		{"detect_urls", map[string]any{"text": urls.String()}, "urls", 800},
	} {
		got := 0
		for range 100 {
			text, value := use(t, s, tt.tool, tt.args)
			b, _ := json.Marshal(value)
			if n := max(convert.Tokens(text), convert.Tokens(string(b))); n > mcp.UsualTokens+slack {
				t.Fatalf("%s: %d tokens, want at most %d", tt.tool, n, mcp.UsualTokens)
			}
			got += len(value[tt.items].([]any))
			next, more := value["next_cursor"].(string)
			if !more {
				break
			}
			tt.args["cursor"] = next
		}
		if got != tt.least {
			t.Errorf("%s: %d items in all, want %d", tt.tool, got, tt.least)
		}
	}
	for _, tt := range []struct {
		tool string
		args map[string]any
		most int
		says string
	}{
		{
			"fetch",
			map[string]any{"url": "https://example.com/long", "max_length": 999_999},
			mcp.MostTokens,
			"[A result has at most 20000 tokens",
		},
		{
			"fetch",
			map[string]any{"url": "https://example.com/long", "max_length": 999_999, "max_tokens": 10_000_000},
			mcp.MostTokens, "[max_tokens was clamped from 10000000 to 20000, its maximum]",
		},
		{
			"fetch",
			map[string]any{"url": "https://example.com/long", "max_length": 50_000_000, "max_tokens": 300},
			300,
			"[max_length was clamped from 50000000 to 999999, its maximum]",
		},
		{"get_page", map[string]any{"url": "https://example.com/long"}, mcp.UsualTokens, "Continue with start "},
		{
			"get_page",
			map[string]any{"url": "https://example.com/long", "max_tokens": "100"},
			100,
			"Continue with start ",
		},
		{
			"get_page",
			map[string]any{"url": "https://example.com/long", "start": 100_000_000},
			0,
			"<error>No more content available.</error>",
		},
	} {
		text, _ := use(t, s, tt.tool, tt.args)
		if n := convert.Tokens(text); n > tt.most+slack {
			t.Errorf("%s %v: %d tokens, want at most %d", tt.tool, tt.args, n, tt.most)
		}
		if !strings.Contains(text, tt.says) {
			t.Errorf("%s %v: %.300q lacks %q", tt.tool, tt.args, text, tt.says)
		}
	}
}

func TestArgumentsAreTakenAsModelsWriteThem(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	const url = "https://example.com/guide"
	plain, _ := use(t, s, "fetch", map[string]any{"url": url, "max_length": 50})
	for _, args := range []map[string]any{
		{"URI": url, "maxLength": "50"},
		{"link": url, "max_chars": 50.0, "start": "0", "section": nil},
		{"url": url, "max-length": 50, "raw": "false", "force": 0},
	} {
		if got, _ := use(t, s, "fetch", args); got != plain {
			t.Errorf("%v: %q, want %q", args, got, plain)
		}
	}
	got, _ := use(t, s, "fetch", map[string]any{
		"url": url, "uri": "https://example.com/other", "colour": "blue",
		"max_length": 50,
	})
	if got != "[Unknown arguments, ignored: \"colour\", \"uri\"]\n"+plain {
		t.Errorf("unknown arguments: %q", got)
	}
	if _, value := use(t, s, "recent_pages",
		map[string]any{"colour": 1}); fmt.Sprint(value["notes"]) != `[Unknown arguments, ignored: "colour"]` {
		t.Errorf("unknown arguments: %v", value["notes"])
	}
	for _, tt := range []struct {
		tool string
		args any
		want string
	}{
		{"fetch", map[string]any{}, "Input validation error: 'url' is a required property"},
		{"fetch", map[string]any{"url": ""}, "Input validation error: 'url' is empty"},
		{"search_knowledge_base", map[string]any{"query": ""}, "Input validation error: 'query' is empty"},
		{
			"fetch",
			map[string]any{"url": url, "max_length": 0},
			"Input validation error: 'max_length' must be 1 or more: 0",
		},
		{
			"fetch",
			map[string]any{"url": url, "start_index": -1},
			"Input validation error: 'start_index' must be 0 or more: -1",
		},
		{
			"fetch",
			map[string]any{"url": url, "max_length": "many"},
			`Input validation error: 'max_length' must be of type integer: "many"`,
		},
		{
			"fetch",
			map[string]any{"url": url, "max_length": 1.5},
			"Input validation error: 'max_length' must be of type integer: 1.5",
		},
		{
			"fetch",
			map[string]any{"url": []string{url}},
			`Input validation error: 'url' must be of type string: ["` + url + `"]`,
		},
		{
			"fetch",
			map[string]any{"url": url, "raw": "perhaps"},
			`Input validation error: 'raw' must be of type boolean: "perhaps"`,
		},
		{"get_page", map[string]any{}, "Input validation error: 'doc' or 'url' is required"},
		{
			"get_page",
			map[string]any{"url": "https://example.com/unread"},
			"https://example.com/unread is not stored: fetch it first",
		},
		{
			"outline",
			map[string]any{"doc": "0123456789abcdef", "cursor": "x"},
			"0123456789abcdef is not stored: fetch it first",
		},
		{
			"search_knowledge_base",
			map[string]any{"query": "a", "kb_name": "none"},
			`unknown knowledge base "none": no base exists`,
		},
		{
			"search_knowledge_base",
			map[string]any{"query": "a", "cursor": "-1"},
			"Input validation error: 'cursor' is not a next_cursor of this tool: -1",
		},
		{"ingest", map[string]any{}, "Input validation error: 'url' or 'text' is a required property"},
	} {
		if got, _, failed := try(t, s, tt.tool, tt.args); !failed || got != tt.want {
			t.Errorf("%s %v: failed %v, %q, want %q", tt.tool, tt.args, failed, got, tt.want)
		}
	}
}

func TestWhatIsIngestedIsFound(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	base := api.NewBase{Name: "garden", Description: "What grows"}
	if _, err := w.api.Client("").CreateBase(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	_, one := use(t, s, "ingest", map[string]any{
		"text":    "# Medlars\n\nA medlar is eaten when it is rotten.",
		"kb_name": "garden",
	})
	_, again := use(t, s, "ingest", map[string]any{
		"text":    "# Medlars\n\nA medlar is eaten when it is rotten.",
		"kb_name": "garden",
	})
	if one["changed"] != true || again["changed"] != false {
		t.Errorf("ingested %v and again %v, want a change and none", one, again)
	}
	use(t, s, "ingest", map[string]any{"url": "https://example.com/guide", "kb_name": "garden"})
	if err := w.api.Memory().CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"medlar", "quince"} {
		if _, found := use(t, s, "search_knowledge_base",
			map[string]any{"query": query, "kb_name": "garden"}); len(found["results"].([]any)) != 1 {
			t.Errorf("%s: %v, want one result", query, found)
		}
	}
	_, bases := use(t, s, "list_knowledge_bases", nil)
	if b := bases["knowledge_bases"].([]any)[0].(map[string]any); b["name"] != "garden" ||
		b["description"] != "What grows" || b["documents"] != 2.0 {
		t.Errorf("bases %v", bases)
	}
}
