package server_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// TestClientsAgree runs one suite with a client in this process and with one over HTTP.
func TestClientsAgree(t *testing.T) { eachClient(t, nil, testOperations) }

func testOperations(t *testing.T, w *world, ops *api.Client) {
	t.Helper()
	ctx := t.Context()

	p, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL, Session: "s1", Agent: "agent/1"})
	if err != nil || p.Error != nil {
		t.Fatalf("fetch: %v, %+v", err, p)
	}
	if !strings.HasPrefix(p.Content, "# A heading\n") || p.ContentFormat != "markdown" || p.Source != page.Local ||
		p.FromCache || !p.Stored || p.VisitID == "" || len(p.Attempts) == 0 {
		t.Errorf("page %+v, want markdown made here, stored, with its visit", p)
	}
	again, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL, Agent: "agent/2"})
	if err != nil || !again.FromCache || again.Content != p.Content || again.VisitCount != 2 {
		t.Errorf("second fetch: %v, from cache %v, visits %d, want the same page from the cache and 2", err, again.FromCache,
			again.VisitCount)
	}
	if _, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL, Force: true}); err != nil {
		t.Error(err)
	}
	if got := w.asked.Load(); got != 2 {
		t.Errorf("the origin was asked %d times, want 2: once, and once by force", got)
	}
	if _, err := ops.Fetch(ctx, api.FetchRequest{
		URL:     "https://example.com/page?unseen",
		Persist: new(false),
	}); err != nil {
		t.Error(err)
	}

	list, err := ops.Pages(ctx, api.PageQuery{Host: "example.com"})
	if err != nil || len(list.Pages) != 1 || list.Pages[0].URL != pageURL || list.Pages[0].Content != "" {
		t.Fatalf("pages: %v, %+v, want the one page without content", err, list)
	}
	for _, ref := range []string{pageURL, p.Doc, p.Doc[:8], "HTTPS://EXAMPLE.com:443/page?utm_source=x#part"} {
		got, err := ops.Page(ctx, ref)
		if err != nil || !strings.HasPrefix(got.Content, "# A heading\n") {
			t.Errorf("page %s: %v, %+v", ref, err, got)
		}
	}
	versions, err := ops.Versions(ctx, pageURL)
	if err != nil || len(versions.Versions) != 2 {
		t.Fatalf("versions: %v, %+v, want 2", err, versions)
	}
	d, err := ops.Diff(ctx, pageURL, "", "")
	if err != nil || !d.Changed || !strings.HasPrefix(d.Unified, "--- ") ||
		!strings.Contains(d.Unified, "\n-This is reading number 1") ||
		!strings.Contains(d.Unified, "\n+This is reading number 2") {
		t.Errorf("diff: %v, %+v", err, d)
	}
	same, err := ops.Diff(ctx, pageURL, versions.Versions[0].ContentHash[:9], "0")
	if err != nil || same.Changed || same.Unified != "" {
		t.Errorf("diff of a version with itself: %v, %+v", err, same)
	}
	testChanges(t, ops, versions.Versions)
	if r, err := ops.Robots(ctx, pageURL); err != nil || !r.Allowed || r.URL != "https://example.com/robots.txt" ||
		r.Status != http.StatusNotFound {
		t.Errorf("robots: %v, %+v, want allowed where there is no robots.txt", err, r)
	}
	visits, err := ops.Visits(ctx, api.VisitQuery{URL: pageURL})
	if err != nil || len(visits.Visits) != 3 {
		t.Fatalf("visits: %v, %+v, want 3", err, visits)
	}
	if one, err := ops.Visits(ctx, api.VisitQuery{Session: "s1"}); err != nil || len(one.Visits) != 1 ||
		one.Visits[0].Agent != "agent/1" {
		t.Errorf("visits of session s1: %v, %+v, want 1 by agent/1", err, one)
	}

	entries, err := ops.Cached(ctx, pageURL+"#part", false)
	if err != nil || len(entries.Entries) != 1 || entries.Entries[0].Status != 200 || entries.Entries[0].Length == 0 {
		t.Errorf("cached: %v, %+v, want one stored response", err, entries)
	}
	for _, tt := range []struct {
		sel  api.Selection
		want int
	}{
		{api.Selection{Prefix: "https://example.com/pa"}, 2},
		{api.Selection{URL: pageURL}, 0},
	} {
		if got, err := ops.Uncache(ctx, tt.sel); err != nil || got.Removed != tt.want {
			t.Errorf("uncache %+v: %v, %+v, want %d", tt.sel, err, got, tt.want)
		}
	}
	for _, sel := range []api.Selection{{Host: "example.com"}, {Tag: "articles"}} {
		if _, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL}); err != nil {
			t.Fatal(err)
		}
		if got, err := ops.Uncache(ctx, sel); err != nil || got.Removed != 1 {
			t.Errorf("uncache %+v: %v, %+v, want 1", sel, err, got)
		}
	}
	if _, err := ops.SweepCache(ctx); err != nil {
		t.Error(err)
	}
	if _, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL}); err != nil {
		t.Fatal(err)
	}
	if got, err := ops.ClearCache(ctx); err != nil || got.Removed != 1 {
		t.Errorf("clear: %v, %+v, want 1", err, got)
	}

	st, err := ops.Stats(ctx)
	if err != nil || st.Pages.Total != 1 || st.Pages.Visits < 5 || st.Cache.Hits != 1 || st.Tokens.Saved <= 0 ||
		st.Version != "test" {
		t.Errorf("stats: %v, %+v", err, st)
	}
	if err := ops.Recognise(ctx, "secret"); err != nil {
		t.Errorf("the daemon is not recognised: %v", err)
	}
	for _, wrong := range []string{"", "Secret"} {
		if err := ops.Recognise(ctx, wrong); err == nil {
			t.Errorf("the daemon is recognised by %q", wrong)
		}
	}
	if rd, err := ops.Readiness(ctx); err != nil || !rd.Ready || rd.Parts["store"].State != "ok" {
		t.Errorf("readiness: %v, %+v", err, rd)
	}
	if dl, err := ops.Disclosures(ctx, "", 10); err != nil || dl.Disclosures == nil || len(dl.Disclosures) != 0 {
		t.Errorf("disclosures: %v, %+v, want an empty list", err, dl)
	}
	var copied bytes.Buffer
	if err := ops.Backup(ctx, &copied); err != nil {
		t.Fatal(err)
	}
	if err := store.Restore(t.TempDir(), &copied); err != nil {
		t.Errorf("restore the backup: %v", err)
	}

	if err := ops.DeletePage(ctx, p.Doc); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"page that is gone":   func() error { _, err := ops.Page(ctx, pageURL); return err }(),
		"page never read":     func() error { _, err := ops.Page(ctx, "0000000000000000"); return err }(),
		"delete what is gone": ops.DeletePage(ctx, pageURL),
		"versions":            func() error { _, err := ops.Versions(ctx, pageURL); return err }(),
	} {
		if got := statusOf(err); got != http.StatusNotFound {
			t.Errorf("%s: %v, status %d, want 404", name, err, got)
		}
	}
	for name, err := range map[string]error{
		"no URL":    func() error { _, err := ops.Fetch(ctx, api.FetchRequest{}); return err }(),
		"no scheme": func() error { _, err := ops.Fetch(ctx, api.FetchRequest{URL: "example.com"}); return err }(),
		"bad format": func() error {
			_, err := ops.Fetch(ctx,
				api.FetchRequest{URL: pageURL, Format: "docx"})
			return err
		}(),
		"two formats": func() error {
			_, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL, Format: "text", OutputFormat: "markdown"})
			return err
		}(),
		"max_html_chars below 0": func() error {
			_, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL, MaxHTMLChars: -1})
			return err
		}(),
		"bad render": func() error {
			_, err := ops.Fetch(ctx,
				api.FetchRequest{URL: pageURL, Render: "maybe"})
			return err
		}(),
		"below 0": func() error {
			_, err := ops.Fetch(ctx,
				api.FetchRequest{URL: pageURL, MaxChars: -1})
			return err
		}(),
		"bad sort":      func() error { _, err := ops.Pages(ctx, api.PageQuery{Sort: "colour"}); return err }(),
		"no page":       func() error { _, err := ops.Page(ctx, "what"); return err }(),
		"two selectors": func() error { _, err := ops.Uncache(ctx, api.Selection{URL: pageURL, Host: "a"}); return err }(),
		"no selector":   func() error { _, err := ops.Uncache(ctx, api.Selection{}); return err }(),
		"a bad prefix":  func() error { _, err := ops.Uncache(ctx, api.Selection{Prefix: "exa"}); return err }(),
	} {
		if got := statusOf(err); got != http.StatusBadRequest {
			t.Errorf("%s: %v, status %d, want 400", name, err, got)
		}
	}
}

// testChanges looks at a page whose second paragraph is another in the newest of two versions.
func testChanges(t *testing.T, ops *api.Client, versions []store.Version) {
	t.Helper()
	for _, tt := range []struct{ since, kind, base string }{
		{"", outline.SectionChanged, versions[1].ContentHash},
		{versions[1].ContentHash[:12], outline.SectionChanged, versions[1].ContentHash},
		{versions[1].Time.Add(time.Second).Format(time.RFC3339), "", ""}, // either version: the clock decides
		{"0s", "", versions[0].ContentHash},
		{"7d", outline.SectionAdded, ""},
	} {
		c, err := ops.Changes(t.Context(), pageURL, tt.since)
		if err != nil || c.Now.ContentHash != versions[0].ContentHash || c.Changes == nil {
			t.Errorf("changes since %q: %v, %+v, want those that led to the newest version", tt.since, err, c)
			continue
		}
		if tt.base != "" && (c.Since == nil || c.Since.ContentHash != tt.base) {
			t.Errorf("changes since %q: compared with %+v, want %.12s", tt.since, c.Since, tt.base)
		}
		if tt.kind != "" && (!c.Changed || len(c.Changes) != 1 || c.Changes[0].Kind != tt.kind ||
			!strings.Contains(c.Changes[0].Text, "This is reading number 2")) {
			t.Errorf("changes since %q: %+v, want one section %s", tt.since, c.Changes, tt.kind)
		}
	}
	for _, since := range []string{"whenever", "ffffffffffff"} {
		if _, err := ops.Changes(t.Context(), pageURL, since); statusOf(err) != http.StatusBadRequest &&
			statusOf(err) != http.StatusNotFound {
			t.Errorf("changes since %q: %v, want it refused", since, err)
		}
	}
}

// StatusOf is the status that an operation's error has on the wire.
func statusOf(err error) int {
	if err == nil {
		return 0
	}
	return server.AsError(err).Status
}

func TestAFailureIsAPageObjectWithItsError(t *testing.T) {
	addr := newWorld(t, nil).listen(t)
	for _, tt := range []struct {
		url, kind, message string
		status             int
	}{
		{"https://example.com/none", "http", "HTTP 404 fetching https://example.com/none", 502},
		{"https://medium.com/story", "blocked", "Blocked", 403},
		{"https://example.com/cut", "connect", "Connection error fetching https://example.com/cut", 502},
		{"https://other.test/page", "tls", "Connection error fetching https://other.test/page", 502},
		{"http://127.0.0.1:1/", "blocked", "Blocked", 403}, // fetch.allow_private is false
	} {
		resp := ask(t, addr, "POST", "/api/v1/fetch", `{"url":"`+tt.url+`"}`, "Content-Type: application/json")
		var p page.Page
		if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != tt.status || p.Error == nil || p.URL != tt.url || p.Content != "" {
			t.Errorf("%s: status %d, page %+v, want %d and an error", tt.url, resp.StatusCode, p, tt.status)
			continue
		}
		if p.Error.Kind != tt.kind || !strings.HasPrefix(p.Error.Message, tt.message) {
			t.Errorf("%s: error %+v, want %s: %s", tt.url, p.Error, tt.kind, tt.message)
		}
	}
}

// TestAKeptPageIsAnAnswerAfterAFailedFetch asks for a page that is stored, and whose last fetch failed.
func TestAKeptPageIsAnAnswerAfterAFailedFetch(t *testing.T) {
	w := newWorld(t, nil)
	addr := w.listen(t)
	resp := ask(t, addr, "POST", "/api/v1/fetch", `{"url":"https://example.com/page"}`, "Content-Type: application/json")
	var p page.Page
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || !p.Stored {
		t.Fatalf("page %+v, %v", p, err)
	}
	key, _, err := w.store.FindPage(p.Doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.PageFailed(key, page.Error{Kind: "connect", Message: "gone"}); err != nil {
		t.Fatal(err)
	}
	resp = ask(t, addr, "GET", "/api/v1/pages/"+p.Doc, "")
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || p.Content == "" || p.Error == nil || p.Error.Message != "gone" {
		t.Errorf("status %d, page %+v, want 200 with content and the error", resp.StatusCode, p)
	}
}

// A page whose text is empty is an answer as well, also when its origin says since that it is gone: 502 would say that
// the origin was asked now.
func TestAnEmptyPageIsAnAnswerAfterItIsGone(t *testing.T) {
	w := newWorld(t, nil)
	addr := w.listen(t)
	u, err := page.Parse("https://example.com/empty")
	if err != nil {
		t.Fatal(err)
	}
	p := page.New(u)
	p.StatusCode = http.StatusOK
	if _, err := w.store.PutPage(&p.Record, nil, store.Sum{}); err != nil {
		t.Fatal(err)
	}
	key := page.KeyOf(p.NormalizedURL)
	if err := w.store.PageFailed(key, page.Error{Kind: "http", Message: "HTTP 410", Status: 410}); err != nil {
		t.Fatal(err)
	}
	resp := ask(t, addr, "GET", "/api/v1/pages/"+key.Doc(), "")
	var got page.Page
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || got.Content != "" || !got.Error.Gone() {
		t.Errorf("status %d, page %+v, want 200 with the error", resp.StatusCode, got)
	}
}

func TestFormats(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct {
		name    string
		r       api.FetchRequest
		format  string
		begins  string
		warning string
	}{
		{"markdown", api.FetchRequest{URL: pageURL}, "markdown", "# A heading\n", ""},
		{
			"json is markdown in a page object",
			api.FetchRequest{URL: pageURL, Format: "json"},
			"markdown", "# A heading\n",
			"",
		},
		{"text has no markup", api.FetchRequest{URL: pageURL, Format: "text"}, "text", "A heading\n", ""},
		{"output_format is format", api.FetchRequest{URL: pageURL, OutputFormat: "text"}, "text", "A heading\n", ""},
		{"html is the origin's", api.FetchRequest{URL: pageURL, Format: "html"}, "html", "<!doctype html>", ""},
		{
			"prompt names the page (rule B34)",
			api.FetchRequest{URL: pageURL, Format: "prompt"},
			"prompt",
			"URL: " + pageURL + "\nTitle: ", "",
		},
		{"max_chars counts code points", api.FetchRequest{URL: pageURL, MaxChars: 6}, "markdown", "# A he", "truncated"},
		{"max_tokens", api.FetchRequest{URL: pageURL, MaxTokens: 10}, "markdown", "# A heading\n", "truncated"},
		{
			"a browser that is not there",
			api.FetchRequest{URL: pageURL, Render: "always"},
			"markdown", "# A heading\n",
			"no-browser",
		},
		{
			"JSON becomes markdown too",
			api.FetchRequest{URL: "https://example.com/data"},
			"markdown",
			"```json\n{\n  \"größe\": 1\n}\n```\n", "",
		},
	} {
		p, err := w.client.Fetch(t.Context(), tt.r)
		if err != nil || p.Error != nil {
			t.Errorf("%s: %v, %+v", tt.name, err, p.Error)
			continue
		}
		if p.ContentFormat != tt.format || !strings.HasPrefix(p.Content, tt.begins) {
			t.Errorf("%s: %s %q, want %s %q…", tt.name, p.ContentFormat, p.Content, tt.format, tt.begins)
		}
		if tt.warning != "" && !slices.Contains(p.Warnings, tt.warning) {
			t.Errorf("%s: warnings %v lack %s", tt.name, p.Warnings, tt.warning)
		}
	}
	if p, _ := w.client.Fetch(t.Context(), api.FetchRequest{
		URL: pageURL, Format: "prompt",
		MaxChars: 20,
	}); !strings.HasSuffix(p.Content, "...\n") {
		t.Errorf("a prompt that was cut ends %q, want an ellipsis", p.Content)
	}
}

// TestStatsHasTheShapeThatScriptsRelyOn names every key that a script may rely on.
func TestStatsHasTheShapeThatScriptsRelyOn(t *testing.T) {
	addr := newWorld(t, nil).listen(t)
	for _, path := range []string{"/stats", "/api/v1/stats"} {
		var got map[string]any
		if err := json.NewDecoder(ask(t, addr, "GET", path, "").Body).Decode(&got); err != nil {
			t.Fatal(err)
		}
		for group, keys := range map[string]string{
			"requests":     "total intercepted tunnelled blocked errors",
			"cache":        "hits misses revalidated stale bypass hit_ratio entries bytes",
			"pages":        "total visits by_source versions",
			"tokens":       "html markdown saved",
			"index":        "passages queued failed",
			"render":       "state",
			"work":         "requests origins renders jobs",
			"markdown_new": "mode sent remaining",
		} {
			fields, _ := got[group].(map[string]any)
			for key := range strings.FieldsSeq(keys) {
				if _, ok := fields[key]; !ok {
					t.Errorf("%s: %s lacks %s", path, group, key)
				}
			}
		}
		for _, key := range []string{"uptime_s", "version", "hosts", "agents"} {
			if got[key] == nil {
				t.Errorf("%s lacks %s", path, key)
			}
		}
	}
}

func TestMetricsAreTheSameFigures(t *testing.T) {
	w := newWorld(t, nil)
	addr := w.listen(t)
	ask(t, addr, "POST", "/api/v1/fetch", `{"url":"`+pageURL+`"}`, "Content-Type: application/json")
	b, _ := io.ReadAll(ask(t, addr, "GET", "/metrics", "").Body)
	for _, want := range []string{
		`readthru_cache_answers_total{outcome="miss"} 1`,
		`readthru_visits_total{source="local"} 1`, "readthru_pages 1\n", "go_goroutines ",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("metrics lack %q", want)
		}
	}
	if strings.Contains(string(b), "example.com") {
		t.Error("a host in the metrics")
	}
}

func TestAuthorityAndProxySettings(t *testing.T) {
	w := newWorld(t, nil)
	addr := w.listen(t)
	der, _ := io.ReadAll(ask(t, addr, "GET", "/ca.der", "").Body)
	if c, err := x509.ParseCertificate(der); err != nil || !c.Equal(w.origin.Certificate()) {
		t.Errorf("ca.der: %v", err)
	}
	if resp := ask(t, addr, "GET", botauth.DirectoryPath, ""); resp.StatusCode != http.StatusOK ||
		resp.Header.Get("Content-Type") != botauth.DirectoryType {
		t.Errorf("signing keys: %d %v", resp.StatusCode, resp.Header)
	}
	pac, _ := io.ReadAll(ask(t, addr, "GET", "/proxy.pac", "").Body)
	if !strings.Contains(string(pac), `return "PROXY 127.0.0.1:7887";`) {
		t.Errorf("proxy.pac: %s", pac)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	w := newWorld(t, nil)
	l := httptest.NewUnstartedServer(nil).Listener
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.server.Serve(ctx, l) }()
	if resp := ask(t, l.Addr().String(), "GET", "/healthz", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// ExampleClient asks a daemon for a page.
func ExampleClient() {
	c := api.NewClient("127.0.0.1:7888", "", "my-agent/1")
	defer c.Close()
	p, err := c.Fetch(context.Background(), api.FetchRequest{URL: "https://go.dev/doc/", MaxTokens: 2000})
	if err != nil || p.Error != nil {
		return // no daemon, or no page
	}
	_ = p.Content
}
