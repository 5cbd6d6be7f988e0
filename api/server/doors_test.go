package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/journal"
)

// told is what a test looks at of a request.
type told struct {
	Door, Agent, Session, Outcome string
	Status                        int
	Page, Given, Tokens           bool
}

func toldOf(e journal.Entry) told {
	return told{e.Door, e.Agent, e.Session, e.Outcome, e.Status, e.Doc != "", e.BytesOut > 0, e.Tokens > 0}
}

// newToldWorld is a world that tells of what is read.
func newToldWorld(t *testing.T) (*world, *journal.Journal) {
	t.Helper()
	j := journal.New(journal.Options{})
	robots := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/robots.txt" {
			return false
		}
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /forbidden/\n")
		return true
	}
	w := newWorldOver(t, robots, func(o *fetch.Options) { o.Journal = j }, func(o *server.Options) { o.Journal = j })
	return w, j
}

func TestEachReadIsARequestByItsDoor(t *testing.T) {
	const post = http.MethodPost
	page := func(door, agent, session, outcome string) told {
		return told{door, agent, session, outcome, http.StatusOK, true, true, true}
	}
	scrape := func(t *testing.T, w *world, body string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), post, "http://localhost/v2/scrape", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer token")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User-Agent", "sdk/1")
		w.server.ServeHTTP(httptest.NewRecorder(), r)
	}
	fetched := func(door string, r api.FetchRequest) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			t.Helper()
			if _, err := w.client.By(door).Fetch(t.Context(), r); err != nil {
				t.Error(err)
			}
		}
	}
	hooked := func(event string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			t.Helper()
			if _, err := w.client.Hook(t.Context(), api.HookEvent{
				Agent: "claude", Event: webFetch(event, pageURL), Wait: longWait,
			}); err != nil {
				t.Error(err)
			}
		}
	}
	const gone = "https://example.com/nothing"
	for _, tt := range []struct {
		name string
		read func(*testing.T, *world)
		want []told
	}{
		{
			"API", fetched("", api.FetchRequest{URL: pageURL, Session: "s1", Agent: "sdk/1"}),
			[]told{page("api", "sdk/1", "s1", "miss")},
		},
		{
			"command", fetched(api.DoorCommand, api.FetchRequest{URL: pageURL, Force: true}),
			[]told{page("cli", "agent/1", "", "miss")},
		},
		{
			"tool server", fetched(api.DoorMCP, api.FetchRequest{URL: pageURL, Agent: "Cursor/2"}),
			[]told{page("mcp", "Cursor/2", "", "hit")},
		},
		{"data, which the tool server reads twice", func(t *testing.T, w *world) {
			t.Helper()
			const data = "https://example.com/data"
			fetched(api.DoorMCP, api.FetchRequest{URL: data})(t, w)
			fetched(api.DoorMCP, api.FetchRequest{URL: data, Format: "verbatim", Persist: new(false)})(t, w)
		}, []told{page("mcp", "agent/1", "", "miss")}},
		{
			"a dashboard's refetch", fetched(api.DoorDashboard, api.FetchRequest{URL: pageURL, Force: true}),
			[]told{page("dashboard", "agent/1", "", "miss")},
		},
		{"an unknown door", fetched("window", api.FetchRequest{URL: pageURL}), []told{page("api", "agent/1", "", "hit")}},
		{"a tool that is spared a request", hooked("PreToolUse"), []told{page("hook", "claude", "s1", "hit")}},
		{"Firecrawl", func(t *testing.T, w *world) {
			t.Helper()
			scrape(t, w, `{"url":"`+pageURL+`"}`)
		}, []told{page("firecrawl", "sdk/1", "", "hit")}},
		{"a tool that reads a stored page", func(t *testing.T, w *world) {
			t.Helper()
			if _, err := w.client.By(api.DoorMCP).For("Cursor/2").Page(t.Context(), pageURL); err != nil {
				t.Error(err)
			}
		}, []told{page("mcp", "Cursor/2", "", "hit")}},
		{"a person who reads in the dashboard", func(t *testing.T, w *world) {
			t.Helper()
			fetched("", api.FetchRequest{URL: pageURL})(t, w)
			if _, err := w.client.By(api.DoorDashboard).Page(t.Context(), pageURL); err != nil {
				t.Error(err)
			}
		}, []told{page("api", "agent/1", "", "hit")}},
		{
			"not found", fetched("", api.FetchRequest{URL: gone}),
			[]told{{Door: "api", Agent: "agent/1", Outcome: "miss", Status: 404, Given: true}},
		},
		{"not found, for Firecrawl", func(t *testing.T, w *world) {
			t.Helper()
			scrape(t, w, `{"url":"`+gone+`"}`)
		}, []told{{Door: "firecrawl", Agent: "sdk/1", Outcome: "miss", Status: 404, Given: true}}},
		{
			"what robots.txt forbids the tool server", func(t *testing.T, w *world) {
				t.Helper()
				r, err := w.client.By(api.DoorMCP).For("Cursor/2").Robots(t.Context(), "https://example.com/forbidden/x")
				if err != nil || r.Allowed {
					t.Errorf("allowed: %+v, %v", r, err)
				}
			},
			[]told{{Door: "mcp", Agent: "Cursor/2", Outcome: "refused", Status: 403}},
		},
		{
			"a site that cannot be asked for robots.txt", func(t *testing.T, w *world) {
				t.Helper()
				r, err := w.client.By(api.DoorMCP).For("Cursor/2").Robots(t.Context(), "https://nobody.test/x")
				if err != nil || r.Allowed || r.Error == nil || r.Error.Kind != fetch.KindTLS {
					t.Errorf("allowed: %+v, %v", r, err)
				}
			},
			[]told{{Door: "mcp", Agent: "Cursor/2", Outcome: "failed", Status: 502, Given: true}},
		},
		{"what robots.txt forbids, for who only wants to know", func(t *testing.T, w *world) {
			t.Helper()
			if _, err := w.client.Robots(t.Context(), "https://example.com/forbidden/x"); err != nil {
				t.Error(err)
			}
		}, nil},
		{
			"a blocked site", fetched("", api.FetchRequest{URL: "https://medium.com/x"}),
			[]told{{Door: "api", Agent: "agent/1", Outcome: "refused", Status: 403, Given: true}},
		},
		{
			"a site that cannot be reached", fetched("", api.FetchRequest{URL: "https://nobody.test/x"}),
			[]told{{Door: "api", Agent: "agent/1", Outcome: "failed", Status: 502, Given: true}},
		},
		{
			"and at once again", fetched("", api.FetchRequest{URL: "https://nobody.test/x"}),
			[]told{{Door: "api", Agent: "agent/1", Outcome: "failed", Status: 502, Given: true}},
		},
	} {
		w, j := newToldWorld(t)
		if len(tt.want) == 1 && tt.want[0].Outcome == "hit" || strings.HasPrefix(tt.name, "and at once") {
			url := pageURL
			if tt.want[0].Status != http.StatusOK {
				url = "https://nobody.test/x"
			}
			if _, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: url}); err != nil {
				t.Fatal(err)
			}
		}
		last := j.Last()
		tt.read(t, w)
		var got []told
		list, _, _ := j.After(last, journal.Filter{}, 10)
		for _, e := range list {
			if e.OriginStatus == http.StatusNotFound && e.BytesIn == 0 {
				t.Errorf("%s: the origin's answer has no bytes", tt.name)
			}
			if e.Why == "" || e.Client != "127.0.0.1" && e.Client != "192.0.2.1" {
				t.Errorf("%s: why %q, client %q", tt.name, e.Why, e.Client)
			}
			got = append(got, toldOf(e))
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestWorkWithoutAReaderIsTold(t *testing.T) {
	w, j := newToldWorld(t)
	if _, err := w.client.Hook(t.Context(), api.HookEvent{
		Agent: "claude", Event: webFetch("PostToolUse", pageURL), Wait: longWait,
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.CreateBase(t.Context(), api.NewBase{
		Name: "site", Crawl: "https://example.com/site/", Limit: 10,
	}); err != nil {
		t.Fatal(err)
	}
	want := []told{
		{"hook", "webfetch-auto (claude)", "s1", "miss", 200, true, false, true},
		{"crawl", "", "", "miss", 200, true, false, true},
		{"crawl", "", "", "miss", 200, true, false, true},
		{"crawl", "", "", "miss", 200, true, false, true},
		{"crawl", "", "", "miss", 404, false, true, false},
	}
	var got []told
	eventually.True(t, "all pages are told", func() bool {
		list, _, _ := j.After(0, journal.Filter{}, 10)
		got = nil
		for _, e := range list {
			got = append(got, toldOf(e))
		}
		return len(got) == len(want)
	})
	slices.SortStableFunc(got, func(a, b told) int { return a.Status - b.Status })
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestTokensOfAllDoorsAddUp: what agents, sessions and times saved is what was saved in all. Failures, what people look
// at in the dashboard, crawls and what is read of stored pages count for none of them.
func TestTokensOfAllDoorsAddUp(t *testing.T) {
	w, j := newToldWorld(t)
	ctx := t.Context()
	for _, door := range []string{"", api.DoorMCP, api.DoorCommand, api.DoorDashboard} {
		agent := w.client.By(door).For("agent of " + door)
		for _, url := range []string{pageURL, pageURL, "https://example.com/nothing", "https://nobody.test/x"} {
			r := api.FetchRequest{URL: url, Session: door, Agent: "agent of " + door}
			if _, err := agent.Fetch(ctx, r); err != nil {
				t.Errorf("%s: %v", door, err)
			}
		}
		if _, err := agent.Fetch(ctx, api.FetchRequest{URL: pageURL, MaxTokens: 20}); err != nil {
			t.Errorf("%s: %v", door, err)
		}
		if _, err := agent.Page(ctx, pageURL); err != nil {
			t.Errorf("%s: %v", door, err)
		}
	}
	if _, err := w.client.Hook(ctx, api.HookEvent{
		Agent: "claude", Event: webFetch("PostToolUse", pageURL), Wait: longWait,
	}); err != nil {
		t.Error(err)
	}
	st, err := w.client.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	series, err := w.client.Series(ctx, api.SeriesQuery{Since: time.Now().Add(-time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	var lately, since, sessions, listed, failed int64
	for _, a := range st.Agents {
		lately += a.TokensSaved
	}
	for _, a := range series.Agents {
		since += a.TokensSaved
	}
	for _, s := range j.Sessions() {
		sessions += s.HTMLTokens - s.Tokens
		failed += s.Errors
	}
	list, _, _ := j.After(0, journal.Filter{}, 1000)
	for _, e := range list {
		if e.Visit {
			listed += int64(max(0, e.HTMLTokens-e.Tokens))
		}
	}
	want := st.Tokens.Saved
	if want == 0 || st.Tokens.Markdown == 0 || lately != want || since != want || sessions != want || listed != want ||
		series.Sum.HTMLTokens-series.Sum.MarkdownTokens != want {
		t.Errorf("saved: %d in all, %d by agents lately, %d since an hour ago, %d by sessions, %d in the list; series %+v",
			want, lately, since, sessions, listed, series)
	}
	f, err := journal.ParseFilter("is:failed")
	if err != nil {
		t.Fatal(err)
	}
	found, _, _ := j.After(0, f, 1000)
	if n := int64(len(found)); n == 0 || st.Requests.Failures != n || series.Sum.Failures != n || failed != n {
		t.Errorf("failed: %d in the list, %d in figures, %d in the series, %d by sessions", n, st.Requests.Failures,
			series.Sum.Failures, failed)
	}
}
