//go:build linux

package wiring

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fault/faulttest"
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
func through(t *testing.T, d *Daemon) func(uri string) (status int, body string, err error) {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true, // a request that panics may end its connection
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: d.Info.Proxy}),
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
	injected := faulttest.Once(t,
		"cache: ask the origin", "fetch: make a page", "fetch: work in the background",
		"knowledge: annotate", "knowledge: change the index", "knowledge: index what was read", "knowledge: make vectors",
		"knowledge: merge", "knowledge: merge in the background", "knowledge: open the index",
		"knowledge: read a document", "knowledge: read the index again", "proxy: request", "proxy: serve",
		"proxy: serve inside tunnels", "serve: count what is kept", "serve: hooks", "serve: journal", "serve: knowledge",
		"serve: sample", "serve: sweep", "store: bound mapped memory", "store: commit", "store: count",
		"store: keep house", "store: reclaim space", "store: release buffers", "store: sync the engine",
		"store: sync what is written", "store: write", "store: write what is queued",
	)
	d := startDaemon(t, nil)
	defer injected.End()                  // before the daemon ends
	injected.Add("store: commit records") // a store that cannot be written is opened by no daemon
	read := through(t, d)
	for n := range 30 {
		uri := fmt.Sprintf("%s/page%d", origin.URL, n)
		eventually.True(t, "page "+uri, func() bool {
			status, body, err := read(uri)
			return err == nil && status == 200 && strings.HasPrefix(body, "---")
		})
	}
	client := d.Server.Client("")
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
	injected.Await()
}

// What a panic does in a part without which there is no daemon: it ends in order, with the cause, and is started again
// by whoever keeps it running.
func TestADaemonEndsInOrderWithoutAPartThatItNeeds(t *testing.T) {
	for _, work := range []string{
		"serve: proxy", "serve: admin", "serve: profiles", "serve: say that it is ready", "serve: run",
	} {
		t.Run(work, func(t *testing.T) {
			faulttest.Once(t, work)
			s := &settings.Settings{Config: settings.Defaults(), Source: map[string]string{}, DataDir: t.TempDir()}
			s.Proxy.Listen, s.Admin.Listen, s.Render.Mode = "127.0.0.1:0", "127.0.0.1:0", "never"
			d, err := OpenDaemon(t.Context(), s, false, nil, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if d.profiles, err = daemon.Listen(t.Context(), "127.0.0.1:0", false); err != nil {
				t.Fatal(err)
			}
			if err := d.Run(t.Context()); !fault.Is(err) || !strings.Contains(err.Error(), work) {
				t.Errorf("Run: %v, want the fault", err)
			}
			if work == "serve: run" { // it has begun nothing, not even its end
				d.closeListeners()
				_ = d.profiles.Close()
				_ = d.core.Close()
			}
		})
	}
}

// A daemon whose predecessor crashed in the index within a minute leaves it closed, says so, and serves; the next one
// opens it.
func TestADaemonAfterACrashInTheIndexServesWithoutIt(t *testing.T) {
	origin := site(t)
	dir := t.TempDir()
	at := func(s *settings.Settings) { s.DataDir = dir }
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
		client := d.Server.Client("")
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
		client := d.Server.Client("")
		eventually.True(t, "what was read before is found", func() bool {
			r, err := client.Search(t.Context(), api.SearchQuery{Text: "walrus"})
			return err == nil && len(r.Hits) == 1
		})
	})
}

// What waits beside the daemon goes on after a panic: one that nothing uses ends all the same.
func TestADaemonThatPanickedWhileItWaitedEnds(t *testing.T) {
	faulttest.Once(t, "serve: reload", "serve: await idleness", "serve: fleet", "api: stop serving")
	s := &settings.Settings{Config: settings.Defaults(), Source: map[string]string{}, DataDir: t.TempDir()}
	s.Proxy.Listen, s.Admin.Listen, s.Render.Mode = "127.0.0.1:0", "127.0.0.1:0", "never"
	s.Fleet.Database = "postgres://nobody@127.0.0.1:1/none?sslmode=disable" // one that is away
	load := func() (*settings.Settings, error) { return s, nil }
	if err := Serve(t.Context(), s, Serving{
		Std:  terminal.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard},
		Idle: time.Millisecond, Load: load,
	}); err != nil {
		t.Error(err)
	}
}
