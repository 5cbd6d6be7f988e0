package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"readthru/api"
	"readthru/eventually"
	"readthru/fault"
)

// site serves pages that are each different.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<html><head><title>T</title></head><body><main><h1>Page %s</h1><p>%s</p></main></body></html>",
			r.URL.Path, strings.Repeat("A walrus reads "+strings.Trim(r.URL.Path, "/")+" at length. ", 20))
	}))
	t.Cleanup(server.Close)
	return server
}

// through returns a function that reads a URL through a daemon's proxy.
func through(t *testing.T, d *daemon) func(uri string) (status int, body string, err error) {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true, // a request that panics may end its connection
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: d.info.Proxy}),
	}
	t.Cleanup(transport.CloseIdleConnections)
	return func(uri string) (int, string, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, uri, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/markdown")
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body), err
	}
}

// Every piece of work panics when it begins for the first time: the daemon goes on, and in the end everything was read
// and is found.
func TestADaemonSurvivesAPanicInAnyWork(t *testing.T) {
	origin := site(t)
	var mu sync.Mutex
	panicked := map[string]bool{}
	started := false        // a store that cannot be written is opened by no daemon
	defer fault.Inject(nil) // before the daemon ends
	fault.Inject(func(work string) {
		mu.Lock()
		defer mu.Unlock()
		_, what, _ := strings.Cut(work, ": ")
		if strings.HasPrefix(work, "serve: ") && !slices.Contains(goesOn, work) || panicked[work] ||
			strings.HasPrefix(what, "end ") || // it only hands on what work within it gave
			work == "store: commit records" && !started {
			return
		}
		panicked[work] = true
		panic("injected")
	})
	d := startDaemon(t, nil)
	mu.Lock()
	started = true
	mu.Unlock()
	read := through(t, d)
	for n := range 30 {
		uri := fmt.Sprintf("%s/page%d", origin.URL, n)
		eventually.True(t, "page "+uri, func() bool {
			status, body, err := read(uri)
			return err == nil && status == 200 && strings.HasPrefix(body, "---")
		})
	}
	client := d.server.Client("")
	for n := range 30 {
		eventually.True(t, fmt.Sprintf("page %d is found", n), func() bool {
			r, err := client.Search(t.Context(), api.SearchQuery{Text: fmt.Sprintf("page%d", n)})
			if err == nil && len(r.Hits) > 0 {
				return true
			}
			_, _, _ = read(fmt.Sprintf("%s/page%d", origin.URL, n)) // the write of it may have panicked
			return false
		})
	}
	st, err := client.Stats(t.Context())
	if err != nil || st.Faults < 15 {
		t.Errorf("stats say %d faults, %v, want those that were injected", st.Faults, err)
	}
	ready, err := client.Readiness(t.Context())
	if err != nil || !ready.Ready || ready.Parts["faults"].State != "degraded" {
		t.Errorf("readiness %+v, %v, want ready, with faults", ready, err)
	}
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d kinds of work panicked: %s", len(panicked), strings.Join(slices.Sorted(maps.Keys(panicked)), ", "))
	for _, work := range []string{
		"cache: ask the origin", "proxy: request", "fetch: make a page", "knowledge: change the index",
		"knowledge: index what was read", "knowledge: read a document", "store: write", "store: commit",
	} {
		if !panicked[work] {
			t.Errorf("%q did not panic", work)
		}
	}
}

// goesOn is the work of serve.go that goes on after a panic; without the rest there is no daemon.
var goesOn = []string{
	"serve: journal", "serve: sweep", "serve: count what is kept", "serve: knowledge", "serve: hooks", "serve: sample",
}

// A daemon whose predecessor crashed in the index within a minute leaves it closed, says so, and serves; the next one
// opens it.
func TestADaemonAfterACrashInTheIndexServesWithoutIt(t *testing.T) {
	origin := site(t)
	dir := t.TempDir()
	at := func(s *settings) { s.dataDir = dir }
	if err := os.WriteFile(filepath.Join(dir, "doing.json"),
		fmt.Appendf(nil, `{"started":%q}`, time.Now().UTC().Format(time.RFC3339)), 0o600); err != nil {
		t.Fatal(err)
	}
	trace := "panic: boom\n\ngoroutine 7 [running]:\nreadthru/knowledge.(*change).index(0x1)\n\t/x/change.go:1 +0x1\n"
	if err := os.WriteFile(filepath.Join(dir, "crash.txt"), []byte(trace), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("the first start", func(t *testing.T) {
		d := startDaemon(t, at)
		client := d.server.Client("")
		if status, body, err := through(t, d)(origin.URL + "/one"); err != nil || status != 200 {
			t.Errorf("the proxy answers %d %q, %v", status, body, err)
		}
		ready, err := client.Readiness(t.Context())
		if err != nil || !ready.Ready || ready.Parts["index"].State != "closed" || ready.Parts["index"].Remedy == "" ||
			!strings.Contains(ready.Parts["last run"].Reason, "boom") {
			text, _ := json.MarshalIndent(ready, "", " ")
			t.Errorf("readiness %s, %v, want ready, with the index closed", text, err)
		}
		if _, err := client.Search(t.Context(), api.SearchQuery{Text: "walrus"}); err == nil ||
			!strings.Contains(err.Error(), "closed") {
			t.Errorf("search: %v, want why the index is closed", err)
		}
	})
	t.Run("the next start", func(t *testing.T) {
		d := startDaemon(t, at)
		client := d.server.Client("")
		eventually.True(t, "what was read before is found", func() bool {
			r, err := client.Search(t.Context(), api.SearchQuery{Text: "walrus"})
			return err == nil && len(r.Hits) == 1
		})
	})
}
