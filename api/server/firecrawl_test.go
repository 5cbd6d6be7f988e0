package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/readthru/readthru/api/server"
)

// firecrawlExample is example for the paths that clients of Firecrawl know. A job that is to be cancelled is one
// without an end.
func (w *world) firecrawlExample(t *testing.T, route string) (path, body string) {
	t.Helper()
	_, path, _ = strings.Cut(route, " ")
	body = `{"url":"` + pageURL + `"}`
	switch {
	case strings.HasSuffix(path, "/batch/scrape"):
		return path, `{"urls":["` + pageURL + `"]}`
	case strings.HasSuffix(path, "/search"):
		return path, `{"query":"whoever asks"}`
	case !strings.Contains(path, "{id}"):
		return path, body
	case strings.HasPrefix(route, "DELETE ") && !strings.HasSuffix(path, "/errors"):
		body = `{"url":"https://example.com/slow/"}`
	}
	serve := func(method, path, body string) (job struct{ ID string }) {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer token")
		rec := httptest.NewRecorder()
		w.server.ServeHTTP(rec, r)
		if err := json.NewDecoder(rec.Body).Decode(&job); err != nil || rec.Code != http.StatusOK {
			t.Fatalf("%s %s: status %d, %v", method, path, rec.Code, err)
		}
		return job
	}
	if strings.Contains(body, "slow") {
		return strings.ReplaceAll(path, "{id}", serve("POST", "/v2/crawl", body).ID), ""
	}
	if w.crawled == "" {
		w.crawled = serve("POST", "/v2/crawl", body).ID
	}
	return strings.ReplaceAll(path, "{id}", w.crawled), ""
}

func TestFirecrawlsClientsGetTheirFormOfRefusals(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token = "fc-token" })
	addr := w.listen(t)
	const typed = "Content-Type: application/json"
	for _, tt := range []struct {
		name, method, path, body string
		fields                   []string
		status                   int
		code                     string
	}{
		{"no token", "POST", "/v2/scrape", `{"url":"` + pageURL + `"}`, []string{typed}, 401, "UNAUTHORIZED"},
		{
			"another token", "POST", "/v2/scrape", `{"url":"` + pageURL + `"}`,
			[]string{typed, "Authorization: Bearer fc-other"},
			401, "UNAUTHORIZED",
		},
		{
			"a page of a browser", "POST", "/v1/scrape", `{"url":"` + pageURL + `"}`,
			[]string{typed, "Authorization: Bearer fc-token", "Origin: https://evil.test"},
			403, "FORBIDDEN",
		},
		{
			"a form", "POST", "/v1/scrape", `url=x`,
			[]string{"Content-Type: text/plain", "Authorization: Bearer fc-token"},
			415,
			"",
		},
		{"another method", "GET", "/v2/scrape", "", []string{"Authorization: Bearer fc-token"}, 405, ""},
		{"no such path", "POST", "/v2/extract", `{}`, []string{typed, "Authorization: Bearer fc-token"}, 404, "NOT_FOUND"},
		{
			"too much", "POST", "/v2/scrape", `{"url":"` + strings.Repeat("x", 1<<20) + `"}`,
			[]string{typed, "Authorization: Bearer fc-token"},
			413, "BAD_REQUEST",
		},
	} {
		resp := ask(t, addr, tt.method, tt.path, tt.body, tt.fields...)
		var got struct {
			Success     *bool
			Code, Error string
		}
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != tt.status ||
			got.Code != tt.code || got.Success == nil || *got.Success || got.Error == "" ||
			resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s %+v, %v, want %d %s in JSON", tt.name, resp.StatusCode, resp.Header.Get("Content-Type"), got,
				err, tt.status, tt.code)
		}
	}
	resp := ask(t, addr, "POST", "/v2/scrape", `{"url":"`+pageURL+`"}`, typed, "Authorization: Bearer fc-token")
	if resp.StatusCode != http.StatusOK {
		t.Errorf("with the token: status %d", resp.StatusCode)
	}
}

func TestAnyKeyOfAClientWillDoWhereNoTokenIsSet(t *testing.T) {
	addr := newWorld(t, nil).listen(t)
	if resp := ask(t, addr, "POST", "/v1/scrape", `{"url":"`+pageURL+`"}`, "Content-Type: application/json",
		"Authorization: Bearer fc-anything"); resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
}
