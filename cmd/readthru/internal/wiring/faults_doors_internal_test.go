//go:build linux

package wiring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fault/faulttest"
	"github.com/readthru/readthru/internal/needs"
)

// linked serves a site: three pages that link to each other, one more, and /script, which is made by a script that has
// a WebSocket.
func linked(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/", "/a", "/b", "/c":
			_, _ = fmt.Fprintf(w, `<title>T</title><main><h1>Page %s</h1><p>%s<p><a href=/a>A</a> <a href=/b>B</a></main>`,
				r.URL.Path, strings.Repeat("A walrus reads at length. ", 20))
		case "/script":
			_, _ = io.WriteString(w, `<title>S</title><main id=m></main><script>
				new WebSocket('ws://' + location.host + '/socket');
				m.innerHTML = '<h1>Made</h1><p>' + 'A walrus writes at length. '.repeat(20)</script>`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// What browsers, crawls, refreshes, hooks, screenshots and the interfaces of other programs do panics at its first
// beginning. What was asked then may fail; asked again, it is done, and the daemon serves on.
func TestADaemonSurvivesAPanicInTheWorkOfItsDoors(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts a browser")
	}
	origin := "http://walrus.test"
	server := linked(t)
	d := startDaemon(t, func(s *settings.Settings) {
		s.Render.Mode, s.Render.Browser = "auto", needs.Program(t, "chromium")
		s.Upstream.Resolve = []string{"walrus.test:80=" + server.Listener.Addr().String()}
	})
	client := d.Server.Client("")
	injected := faulttest.Once(t,
		"api: fetch a page that a text names", "api: job", "api: request", "api: work of a hook", "crawl: fetch a page",
		"crawl: handle results", "firecrawl: add documents", "firecrawl: get a document", "firecrawl: job",
		"firecrawl: scrape a result", "firecrawl: search known pages", "render: answer a request",
		"render: refuse the browser's own network", "render: start a browser", "render: start a process",
		"render: take events", "render: take requests", "render: watch a page", "render: watch memory",
		"users: compare a secret",
	)
	defer injected.End() // before the daemon ends

	fetched := func(r api.FetchRequest, holds string) {
		t.Helper()
		eventually.True(t, fmt.Sprintf("%+v", r), func() bool {
			p, err := client.Fetch(t.Context(), r)
			return err == nil && strings.Contains(p.Content+string(p.Screenshot), holds)
		})
	}
	fetched(api.FetchRequest{URL: origin + "/script", Render: "always"}, "walrus writes")
	fetched(api.FetchRequest{URL: origin + "/script", Format: "screenshot"}, "PNG")
	fetched(api.FetchRequest{URL: origin + "/script", WaitFor: "h1", Force: true}, "walrus writes")

	n := 0
	eventually.True(t, "a base is filled by a crawl", func() bool {
		n++
		f, err := client.CreateBase(t.Context(), api.NewBase{Name: fmt.Sprint("base", n), Crawl: origin + "/"})
		return err == nil && ended(t, client, f.Job) && documents(t, client, f.KB.Name) == 3
	})
	eventually.True(t, "a base is refreshed", func() bool {
		f, err := client.RefreshBase(t.Context(), fmt.Sprint("base", n), 0)
		return err == nil && ended(t, client, f.Job) && documents(t, client, f.KB.Name) == 3
	})

	event := fmt.Appendf(nil, `{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"WebFetch",
		"tool_input":{"url":%q,"prompt":"What?"},"tool_response":{"code":200,"result":"short"}}`, origin+"/c")
	eventually.True(t, "a hook's page is kept", func() bool {
		_, err := client.Hook(t.Context(), api.HookEvent{Agent: "claude", Event: event})
		visits, e := client.Visits(t.Context(), api.VisitQuery{URL: origin + "/c"})
		return err == nil && e == nil && len(visits.Visits) > 0
	})
	eventually.True(t, "pages that a text names are fetched", func() bool {
		text := "See " + origin + "/a and " + origin + "/b"
		got, err := client.DetectAndFetch(t.Context(), api.DetectRequest{Text: text})
		return err == nil && len(got.Pages) == 2
	})
	ask := func(method, path, body string, v any) bool {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+d.Info.Admin+path, bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+d.Info.Token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(v) == nil && resp.StatusCode == http.StatusOK
	}
	eventually.True(t, "a batch of another program is scraped", func() bool {
		var begun, now struct {
			ID        string
			Status    string
			Completed int
			Data      []struct{ Markdown string }
		}
		urls := fmt.Sprintf(`{"urls":[%q,%q]}`, origin+"/a", origin+"/b")
		if !ask(http.MethodPost, "/v2/batch/scrape", urls, &begun) {
			return false
		}
		eventually.True(t, "the batch ends", func() bool {
			return ask(http.MethodGet, "/v2/batch/scrape/"+begun.ID, "", &now) && now.Status != "scraping"
		})
		return len(now.Data) == 2
	})

	eventually.True(t, "known pages are found and scraped", func() bool {
		var got struct {
			Data struct {
				Web []struct{ URL, Markdown string }
			}
		}
		query := `{"query":"walrus","scrapeOptions":{"formats":["markdown"]}}`
		return ask(http.MethodPost, "/v2/search", query, &got) && len(got.Data.Web) > 1 && got.Data.Web[0].Markdown != ""
	})

	made, err := client.AddUser(t.Context(), api.NewUser{Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "a user is let in", func() bool {
		through := &http.Transport{Proxy: http.ProxyURL(&url.URL{
			Scheme: "http", Host: d.Info.Proxy, User: url.UserPassword("ann", made.Token),
		})}
		defer through.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, origin+"/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := through.RoundTrip(req)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	if _, err := client.RemoveUser(t.Context(), "ann"); err != nil {
		t.Error(err)
	}
	ready, err := client.Readiness(t.Context())
	if err != nil || !ready.Ready || ready.Parts["faults"].State != "degraded" || ready.Parts["faults"].Remedy == "" {
		t.Errorf("readiness %+v, %v, want ready, with faults and what to do", ready, err)
	}
}

// ended waits for the end of a job, and reports whether it was done.
func ended(t *testing.T, client *api.Client, j *api.Job) (done bool) {
	t.Helper()
	if j == nil {
		return false
	}
	eventually.True(t, "job "+j.ID+" ends", func() bool {
		now, err := client.Job(t.Context(), j.ID)
		done = err == nil && now.State == api.JobDone
		return err == nil && now.State != api.JobRunning
	})
	return done
}

// documents returns how many documents a base has.
func documents(t *testing.T, client *api.Client, name string) int {
	t.Helper()
	list, err := client.BaseDocuments(t.Context(), name, "", 0)
	if err != nil {
		return 0
	}
	return len(list.Documents)
}
