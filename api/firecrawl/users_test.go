package firecrawl_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// What a user has scraped is theirs: the visits name them, its tokens are counted, also of a job, and over the limit of
// the day they get no more.
func TestScrapesAreTheirUsers(t *testing.T) {
	r := newRig(t, map[string]string{
		"/a": html("A"), "/b": html("B"), "/c": html("C"),
	})
	now := time.Now()
	token, text, err := users.NewToken([]string{users.ScopeAPI}, now)
	if err != nil {
		t.Fatal(err)
	}
	ann := users.User{
		Name: "ann", ID: "the id of ann", Made: now, Changed: now, Role: users.Write, Tokens: []users.Token{token},
		Limits: users.Limits{TokensPerDay: 1_000_000},
	}
	d := users.NewDirectory(nil)
	if err := d.Set(nil, []users.User{ann}, true); err != nil {
		t.Fatal(err)
	}
	who, err := d.Bearer(t.Context(), "192.0.2.1:1", text, users.ScopeAPI)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body string) (int, object) {
		t.Helper()
		if !strings.HasPrefix(path, "http") {
			path = "http://localhost:7888" + path
		}
		req := httptest.NewRequestWithContext(users.With(t.Context(), who), method, path, strings.NewReader(body))
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		var got object
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", w.Body, err)
		}
		return w.Code, got
	}
	if status, got := ask("POST", "/v2/scrape", `{"url":"https://site.test/a"}`); status != http.StatusOK {
		t.Fatalf("scrape: status %d, %v", status, got)
	}
	status, got := ask("POST", "/v2/batch/scrape", `{"urls":["https://site.test/a","https://site.test/b"]}`)
	if status != http.StatusOK {
		t.Fatalf("batch: status %d, %v", status, got)
	}
	path := got.at("url").(string)
	eventually.True(t, "the batch is completed", func() bool {
		_, got = ask("GET", path, "")
		return got.at("status") == "completed"
	})
	visits, _, err := r.store.Visits(store.VisitQuery{})
	if err != nil || len(visits) != 3 {
		t.Fatalf("%d visits, %v; want 3", len(visits), err)
	}
	tokens := int64(0)
	for _, v := range visits {
		tokens += int64(v.Tokens)
		if v.User != "ann" {
			t.Errorf("the visit of %s is of %q", v.URL, v.User)
		}
	}
	var used map[string]users.Use
	if err := d.Take(func(u map[string]users.Use) error { used = u; return nil }); err != nil {
		t.Fatal(err)
	}
	if used["ann"].Pages != 3 || used["ann"].Tokens != tokens {
		t.Errorf("used %+v, want 3 pages and %d tokens", used["ann"], tokens)
	}

	ann.Limits.TokensPerDay = tokens
	if err := d.Set(nil, []users.User{ann}, true); err != nil {
		t.Fatal(err)
	}
	if status, got = ask("POST", "/v2/scrape", `{"url":"https://site.test/c"}`); status != http.StatusTooManyRequests ||
		got.at("code") != "RATE_LIMITED" || r.count("site.test/c") != 0 {
		t.Errorf("over the limit: status %d, %v", status, got)
	}
}
