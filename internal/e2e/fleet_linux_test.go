package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// nodeIn starts a daemon with its files in dir that is a node of the fleet in a database.
func nodeIn(t *testing.T, server *fleettest.Server, w *web, dir, name string, more ...string) *daemon {
	t.Helper()
	file := filepath.Join(dir, ".config", "readthru", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("fleet: {database: %q, node: %s, wait: %s}\n", server.URL, name, fleetWait)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return serveIn(t, w, dir, more...)
}

// fleetWait is for how long requests of a node wait for the database: as long as can be configured, so that a busy
// machine does not decide what nodes share.
const fleetWait = "10s"

// promised is for how long a node waits at most for what another one is at: what takes longer, it does itself.
const promised = 10 * time.Second

// fleet returns what a node says of its part in the fleet.
func (d *daemon) fleet() (is struct {
	State      string
	Renditions int
},
) {
	d.ask(http.MethodGet, "/api/v1/fleet", "", &is)
	return is
}

// awaitFleet waits until a node has joined.
func (d *daemon) awaitFleet() {
	d.t.Helper()
	eventually.True(d.t, "a node has joined", func() bool { return d.fleet().State == "ok" })
}

// TestAFleetSharesWhatItsNodesRead drives three daemons that share a PostgreSQL server, which dies and comes back, and
// of which one dies, too.
func TestAFleetSharesWhatItsNodesRead(t *testing.T) {
	server := fleettest.Start(t)
	w := newWeb(t, manual(40))
	a, b, c := nodeIn(t, server, w, t.TempDir(), "a"), nodeIn(t, server, w, t.TempDir(), "b"),
		nodeIn(t, server, w, t.TempDir(), "c")
	url := func(n int) string { return fmt.Sprintf("https://manual.test/manual/%d", n) }
	read := func(d *daemon, n int) {
		t.Helper()
		if got := d.get(url(n), "Accept: */*", "User-Agent: curl/8"); got.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", url(n), got.StatusCode, got.body)
		}
	}
	pages := func(d *daemon, n int64) {
		t.Helper()
		eventually.True(t, fmt.Sprintf("a node has %d pages", n), func() bool { return d.stats().Pages.Total >= n })
	}
	for _, d := range []*daemon{a, b, c} {
		d.awaitFleet()
	}
	read(a, 1)
	for _, d := range []*daemon{b, c} {
		eventually.True(t, "a page that another node read is found", func() bool {
			return slices.Contains(d.found("quonset1x"), url(1))
		})
	}

	// What one has stored answers on all: each page is asked of its origin once, if that answers while others wait.
	for n := 10; n < 30; n++ {
		var group sync.WaitGroup
		began := time.Now()
		for _, d := range []*daemon{a, b, c} {
			group.Go(func() { read(d, n) })
		}
		group.Wait()
		if asked := len(w.requests(fmt.Sprintf("/manual/%d", n))); asked != 1 && time.Since(began) < promised {
			t.Errorf("page %d was asked of its origin %d times", n, asked)
		}
	}
	got := b.get(url(1), "Accept: */*", "User-Agent: curl/8")
	if asked := len(w.requests("/manual/1")); asked != 1 || !strings.Contains(got.body, "quonset1x") {
		t.Errorf("a page that a read long ago: asked %d times, %q, %s", asked, got.Header.Get("Cache-Status"), got.body)
	}
	a.readthru("cache", "rm", url(1))
	eventually.True(t, "what one purges is gone everywhere", func() bool {
		before := len(w.requests("/manual/1"))
		read(c, 1)
		return len(w.requests("/manual/1")) > before
	})

	// The server dies: pages are read as before, and told later.
	server.Kill()
	read(a, 2)
	read(b, 3)
	eventually.True(t, "a node says that it works alone", func() bool { return a.fleet().State == "degraded" })
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
	b = nodeIn(t, server, w, b.dir, "b")
	for _, d := range []*daemon{a, b, c} {
		pages(d, 23)
	}
	a.readthru("pages", "rm", url(1))
	eventually.True(t, "a page that one deletes is gone", func() bool { return c.stats().Pages.Total == 22 })
	out := a.readthru("fleet", "status")
	for _, want := range []string{"NODE", "a  ", "b  ", "c  ", "ok"} {
		if !strings.Contains(out, want) {
			t.Errorf("status lacks %q:\n%s", want, out)
		}
	}
}

// TestOneNodeOfAFleetRendersAPage has two daemons read a page that its script makes: one of them shows it to a browser,
// if that is done while the other one waits.
func TestOneNodeOfAFleetRendersAPage(t *testing.T) {
	newBrowser(t) // without one there is nothing to see
	server := fleettest.Start(t)
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/text" {
			_, _ = io.WriteString(w, strings.Repeat("The harbour wakes before the town does, quonset and all. ", 30))
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><html lang=en><head><title>Harbour</title></head><body><div id=root></div>
			<script>fetch('/text').then((r) => r.text()).then((t) => {
				document.getElementById('root').innerHTML = '<main><h1>Harbour</h1><p>' + t + '</p></main>';
			});</script></body></html>`)
	}))
	nodes := []*daemon{nodeIn(t, server, w, t.TempDir(), "a"), nodeIn(t, server, w, t.TempDir(), "b")}
	for _, d := range nodes {
		d.awaitFleet()
	}
	read := func(url string) {
		t.Helper()
		var group sync.WaitGroup
		for _, d := range nodes {
			group.Go(func() {
				got := d.get(url, "Accept: */*", "User-Agent: curl/8")
				if got.Header.Get("X-Readthru-Source") != "browser" || !strings.Contains(got.body, "quonset") {
					t.Errorf("%s: %d, source %s, %.200q", url, got.StatusCode, got.Header.Get("X-Readthru-Source"), got.body)
				}
			})
		}
		group.Wait()
	}
	shared := 0
	for n := range 5 {
		began := time.Now()
		read(fmt.Sprintf("https://manual.test/app/%d", n))
		if time.Since(began) < promised {
			shared++
		}
	}
	if a, b := nodes[0].fleet().Renditions, nodes[1].fleet().Renditions; a+b < shared || a+b > 5 {
		t.Errorf("of %d pages that both nodes read in time, the browser of the other one was used for %d and %d",
			shared, a, b)
	}
}
