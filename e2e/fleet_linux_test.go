package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"readthru/fleet/fleettest"
)

// TestAFleetSharesWhatItsNodesRead drives three daemons that share a PostgreSQL server, which dies and comes back, and
// of which one dies, too.
func TestAFleetSharesWhatItsNodesRead(t *testing.T) {
	server := fleettest.Start(t)
	w := newWeb(t, manual(40))
	node := func(name, dir string) *daemon {
		config := fmt.Sprintf("fleet:\n  database: %s\n  node: %s\n", server.URL, name)
		file := filepath.Join(dir, ".config", "readthru", "config.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		return serveIn(t, w, dir)
	}
	a, b, c := node("a", t.TempDir()), node("b", t.TempDir()), node("c", t.TempDir())
	url := func(n int) string { return fmt.Sprintf("https://manual.test/manual/%d", n) }
	read := func(d *daemon, n int) {
		t.Helper()
		if got := d.get(url(n), "Accept: */*", "User-Agent: curl/8"); got.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", url(n), got.StatusCode, got.body)
		}
	}
	state := func(d *daemon) string {
		var s struct{ State string }
		d.ask(http.MethodGet, "/api/v1/fleet", "", &s)
		return s.State
	}
	pages := func(d *daemon, n int64, within time.Duration) {
		t.Helper()
		until(t, within, fmt.Sprintf("a node has %d pages", n), func() bool { return d.stats().Pages.Total >= n })
	}
	for _, d := range []*daemon{a, b, c} {
		until(t, 20*time.Second, "a node has joined", func() bool { return state(d) == "ok" })
	}
	read(a, 1)
	for _, d := range []*daemon{b, c} {
		until(t, 10*time.Second, "a page that another node read is found", func() bool {
			return slices.Contains(d.found("quonset1x"), url(1))
		})
	}

	// What one has stored answers on all: each page is asked of its origin once.
	for n := 10; n < 30; n++ {
		var group sync.WaitGroup
		for _, d := range []*daemon{a, b, c} {
			group.Go(func() { read(d, n) })
		}
		group.Wait()
		if asked := len(w.requests(fmt.Sprintf("/manual/%d", n))); asked != 1 {
			t.Errorf("page %d was asked of its origin %d times", n, asked)
		}
	}
	got := b.get(url(1), "Accept: */*", "User-Agent: curl/8")
	if asked := len(w.requests("/manual/1")); asked != 1 || !strings.Contains(got.body, "quonset1x") {
		t.Errorf("a page that a read long ago: asked %d times, %q, %s", asked, got.Header.Get("Cache-Status"), got.body)
	}
	a.readthru("cache", "rm", url(1))
	until(t, 10*time.Second, "what one purges is gone everywhere", func() bool {
		before := len(w.requests("/manual/1"))
		read(c, 1)
		return len(w.requests("/manual/1")) > before
	})

	// The server dies: pages are read as before, and told later.
	server.Kill()
	read(a, 2)
	read(b, 3)
	until(t, 20*time.Second, "a node says that it works alone", func() bool { return state(a) == "degraded" })
	if out := a.readthru("fleet", "status"); strings.Contains(out, "away") {
		t.Errorf("status without a server: %s", out)
	}
	var ready struct {
		Ready bool
		Parts map[string]struct{ State, Reason string }
	}
	a.ask(http.MethodGet, "/readyz", "", &ready)
	if !ready.Ready || ready.Parts["fleet"].State != "degraded" || ready.Parts["fleet"].Reason == "" {
		t.Errorf("readiness without a server: %+v", ready)
	}
	if out, _, _ := command(t, a.env, binary, "doctor"); !strings.Contains(out, "this node works alone: ") {
		t.Errorf("doctor without a server:\n%s", out)
	}
	b.kill() // with a page that it could tell nobody
	server.Begin()
	b = node("b", b.dir)
	for _, d := range []*daemon{a, b, c} {
		pages(d, 23, 30*time.Second)
	}
	a.readthru("pages", "rm", url(1))
	until(t, 10*time.Second, "a page that one deletes is gone", func() bool { return c.stats().Pages.Total == 22 })
	out := a.readthru("fleet", "status")
	for _, want := range []string{"NODE", "a  ", "b  ", "c  ", "ok"} {
		if !strings.Contains(out, want) {
			t.Errorf("status lacks %q:\n%s", want, out)
		}
	}
}
