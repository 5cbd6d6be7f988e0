package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
)

// trouble is a fleet of three nodes around which things break, while clients read.
type trouble struct {
	t       *testing.T
	server  *fleettest.Server
	bucket  *fleettest.Bucket
	relays  []*fleettest.Relay // of each node, to the server
	nodes   []*daemon
	clients []*http.Client
	web     *web
	outer   *testing.T
	slowest atomic.Int64
	asked   atomic.Int64
	texts   sync.Map // of pages by their numbers

	mu   sync.Mutex
	next int
	have []int // pages that a client got
}

// troubles are what breaks. begin breaks it, and end mends it; node is one of the three, another one in each round.
// gone is true where clients cannot reach that node. Without READTHRU_ROUNDS, those of usual alone break.
var troubles = []struct {
	name       string
	begin, end func(f *trouble, node int)
	gone       bool
}{
	{"a node, kill -9", func(f *trouble, node int) { f.nodes[node].kill() }, (*trouble).restart, true},
	{
		"PostgreSQL, kill -9", func(f *trouble, _ int) { f.server.Die() },
		func(f *trouble, _ int) { f.server.Begin() }, false,
	},
	{"PostgreSQL restarts", func(f *trouble, _ int) { f.server.End() }, func(f *trouble, _ int) { f.server.Begin() }, false},
	{
		"PostgreSQL stands still", func(f *trouble, _ int) { f.server.Stall(); f.wait() },
		func(f *trouble, _ int) { f.server.Resume() }, false,
	},
	{
		"PostgreSQL is away for long", func(f *trouble, _ int) { f.server.Kill(); f.wait() },
		func(f *trouble, _ int) { f.server.Begin() }, false,
	},
	{"PostgreSQL is slow", func(f *trouble, _ int) {
		for _, r := range f.relays {
			r.Slow(time.Second)
		}
	}, (*trouble).heal, false},
	{"PostgreSQL takes no writes", func(f *trouble, _ int) { f.readOnly("on") }, func(f *trouble, _ int) { f.readOnly("off") }, false},
	{
		"PostgreSQL's disk is full", func(f *trouble, _ int) { f.server.Exec(fullDisk) },
		func(f *trouble, _ int) { f.server.Exec("DROP FUNCTION readthru.full CASCADE") }, false,
	},
	{"partition", func(f *trouble, node int) { f.relays[node].Cut() }, (*trouble).heal, false},
	{"the object store is gone", func(f *trouble, _ int) { f.bucket.Leave() }, (*trouble).recover, false},
	{"the object store answers 503", func(f *trouble, _ int) { f.bucket.Refuse() }, (*trouble).recover, false},
	{"the object store stands still", func(f *trouble, _ int) { f.bucket.Stall() }, (*trouble).recover, false},
	{"the object store is slow", func(f *trouble, _ int) { f.bucket.Slow(time.Second) }, (*trouble).recover, false},
	{"the object store loses objects", func(f *trouble, _ int) { f.spoil(os.Remove) }, func(*trouble, int) {}, false},
	{"the object store returns wrong bytes", func(f *trouble, _ int) {
		f.spoil(func(file string) error { return os.WriteFile(file, []byte("something else"), 0o600) })
	}, func(*trouble, int) {}, false},
	{"an older program meets newer tables", func(f *trouble, node int) {
		f.server.Exec("INSERT INTO readthru.goose_db_version (version_id, is_applied) VALUES (99, true)")
		f.nodes[node].stop()
		f.restart(node)
		f.awaitReason(node, "a newer readthru has made the fleet's tables")
	}, func(f *trouble, _ int) {
		f.server.Exec("DELETE FROM readthru.goose_db_version WHERE version_id = 99")
	}, false},
	{"PostgreSQL is set back", func(f *trouble, _ int) {
		back := f.server.Save()
		f.settled("before the server is set back")
		f.load(2, -1) // which the server is told of, and forgets
		f.settled("told")
		back()
	}, func(*trouble, int) {}, false},
}

// usual are troubles that differ most from each other.
var usual = []string{
	"a node, kill -9", "PostgreSQL, kill -9", "PostgreSQL is set back", "partition", "the object store is gone",
	"the object store returns wrong bytes",
}

// fullDisk has every statement that writes fail as it does when a table's file cannot grow. A log that cannot grow ends
// the server instead, as kill -9 does.
const fullDisk = `CREATE FUNCTION readthru.full() RETURNS trigger LANGUAGE plpgsql AS $f$
	BEGIN
		RAISE EXCEPTION 'could not extend file "base/5/16384": No space left on device' USING ERRCODE = 'disk_full';
	END $f$;
	DO $d$ DECLARE name text; BEGIN
		FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'readthru' LOOP
			EXECUTE format('CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON readthru.%I
				FOR EACH STATEMENT EXECUTE FUNCTION readthru.full()', name);
		END LOOP;
	END $d$`

// TestWhatAFleetPromisesWhenThingsBreak breaks what is around three nodes, again and again: no request fails, no page
// is another one, and what a client got all nodes have in the end. READTHRU_ROUNDS is how often each thing breaks, and
// READTHRU_TROUBLE the beginning of the only ones. Without the first the usual ones break, once.
func TestWhatAFleetPromisesWhenThingsBreak(t *testing.T) {
	rounds, all := 1, false
	if n, err := strconv.Atoi(os.Getenv("READTHRU_ROUNDS")); err == nil {
		rounds, all = n, true
	}
	// Pages have numbers that are no status: "Page 404" is not kept.
	f := &trouble{next: 1000, t: t, outer: t, server: fleettest.Start(t), bucket: fleettest.StartBucket(t)}
	f.web = newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/page/"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cache-Control", "max-age=86400")
		_, _ = fmt.Fprintf(w, "<html><head><title>Page %d</title></head><body><main><h1>Page %d</h1><p>%s</p></main></body></html>",
			n, n, f.text(n))
	}))
	for i := range 3 {
		f.relays = append(f.relays, f.server.Relay(t))
		dir := t.TempDir()
		file := filepath.Join(dir, ".config", "readthru", "config.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		config := fmt.Sprintf("fleet: {database: %q, bodies: %q, node: %c}\n", f.relays[i].URL, f.bucket.URL, 'a'+i)
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		f.nodes, f.clients = append(f.nodes, serveIn(t, f.web, dir)), append(f.clients, nil)
		f.clients[i] = f.nodes[i].client()
	}
	f.settled("at the start")
	checked := 0
	for _, each := range troubles {
		if !strings.HasPrefix(each.name, os.Getenv("READTHRU_TROUBLE")) || !all && !slices.Contains(usual, each.name) {
			continue
		}
		t.Run(each.name, func(t *testing.T) {
			f.t = t
			defer func() { f.t = f.outer }()
			f.slowest.Store(0)
			f.asked.Store(0)
			began := time.Now()
			for round := range rounds {
				node := round % len(f.nodes)
				f.load(3, -1)
				each.begin(f, node)
				if each.gone {
					f.load(3, node)
				} else {
					f.load(3, -1)
				}
				each.end(f, node)
				f.load(1, -1)
				if t.Failed() {
					break
				}
			}
			f.settled("in the end")
			f.check(f.have[checked:])
			checked = len(f.have)
			t.Logf("%d rounds in %s: %d requests, the slowest %s; %d pages are there", rounds, time.Since(began).Round(time.Second),
				f.asked.Load(), time.Duration(f.slowest.Load()).Round(time.Millisecond), len(f.have))
		})
		if t.Failed() {
			break
		}
	}
	f.check(f.have) // what one trouble left, another one may have taken
}

// text returns what page n says: every other one so much that it goes to the object store.
func (f *trouble) text(n int) string {
	if text, ok := f.texts.Load(n); ok {
		return text.(string)
	}
	text := newText(n)
	f.texts.Store(n, text)
	return text
}

func newText(n int) string {
	said := fmt.Sprintf("This page tells of the thing that is called quonset%dx, and of how it is used by those who use it. ", n)
	if n%2 == 0 {
		return strings.Repeat(said, 4)
	}
	r := rand.New(rand.NewPCG(uint64(n), 1)) //nolint:gosec // it is the same for each page
	var words strings.Builder
	for i := range 13_000 { // more than 8 KiB compressed, in few words, which each node indexes
		words.WriteByte("bdfgklmnprstvz"[r.IntN(14)])
		words.WriteByte("aeiou"[r.IntN(5)])
		if i%15 == 14 {
			words.WriteByte(' ')
		}
	}
	return said + words.String()
}

func address(n int) string { return fmt.Sprintf("https://faults.test/page/%d", n) }

// load has each node but one read some pages that are new, and some that any node has read, several at once.
func (f *trouble) load(count, without int) {
	var group sync.WaitGroup
	for i := range f.nodes {
		if i == without {
			continue
		}
		for range 2 {
			group.Go(func() {
				for range count {
					f.mu.Lock()
					f.next++
					n, old := f.next, 0
					if len(f.have) > 0 {
						old = f.have[rand.IntN(len(f.have))]
					}
					f.mu.Unlock()
					if f.read(i, n) {
						f.mu.Lock()
						f.have = append(f.have, n)
						f.mu.Unlock()
					}
					if old != 0 {
						f.read(i, old)
					}
				}
			})
		}
	}
	group.Wait()
}

// read reads a page by a node, and reports whether it got it.
func (f *trouble) read(node, n int) bool {
	req, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, address(n), http.NoBody)
	if err != nil {
		f.t.Error(err)
		return false
	}
	req.Header.Set("Accept", "*/*")
	req.Header.Set("User-Agent", "curl/8")
	began := time.Now()
	resp, err := f.clients[node].Do(req)
	if err != nil {
		f.t.Errorf("page %d by node %d: %v", n, node, err)
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	took := int64(time.Since(began))
	for known := f.slowest.Load(); took > known && !f.slowest.CompareAndSwap(known, took); known = f.slowest.Load() {
	}
	f.asked.Add(1)
	if err != nil || resp.StatusCode != http.StatusOK || !f.says(string(body), n) {
		f.t.Errorf("page %d by node %d: %v, %s, %q: %.200s", n, node, err, resp.Status, resp.Header.Get("Cache-Status"), body)
		return false
	}
	return true
}

// says reports whether a content is that of page n.
func (f *trouble) says(content string, n int) bool {
	return strings.Contains(strings.Join(strings.Fields(content), " "), strings.TrimSpace(f.text(n)))
}

// check looks at pages that a client got, on every node.
func (f *trouble) check(pages []int) {
	f.t.Helper()
	for i, d := range f.nodes {
		for _, n := range pages {
			resp, err := http.Get("http://" + d.admin + "/api/v1/pages/" + page.KeyOf(address(n)).Doc()) //nolint:noctx // it is near
			if err != nil {
				f.t.Fatal(err)
			}
			var p struct{ Content string }
			err = json.NewDecoder(resp.Body).Decode(&p)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK || !f.says(p.Content, n) {
				f.t.Errorf("node %d lacks page %d: %s, %v, %.100q", i, n, resp.Status, err, p.Content)
			}
		}
	}
}

// state is what a node says of its part in the fleet.
type state struct {
	State, Reason   string
	Outbox, Refused int64
	Bodies          struct {
		State, Reason string
		Held          int64
	}
}

func (f *trouble) state(node int) (s state) {
	f.nodes[node].ask(http.MethodGet, "/api/v1/fleet", "", &s)
	return s
}

// settled waits until all nodes have told all, and have all pages.
func (f *trouble) settled(when string) {
	f.t.Helper()
	for i := range f.nodes {
		defer func() {
			if f.t.Failed() {
				f.t.Logf("node %d: %+v, %d of %d pages", i, f.state(i), f.nodes[i].stats().Pages.Total, len(f.have))
				f.check(f.have)
			}
		}()
	}
	eventually.True(f.t, "all nodes have all pages "+when, func() bool {
		for i, d := range f.nodes {
			s := f.state(i)
			if s.State != "ok" || s.Bodies.State != "ok" || s.Outbox != 0 || s.Bodies.Held != 0 || s.Refused != 0 ||
				d.stats().Pages.Total < int64(len(f.have)) {
				return false
			}
		}
		return true
	})
}

func (f *trouble) awaitReason(node int, reason string) {
	f.t.Helper()
	eventually.True(f.t, "a node says: "+reason, func() bool { return strings.Contains(f.state(node).Reason, reason) })
}

func (f *trouble) restart(node int) {
	f.nodes[node] = serveIn(f.outer, f.web, f.nodes[node].dir)
	f.clients[node] = f.nodes[node].client()
}

func (f *trouble) heal(int) {
	for _, r := range f.relays {
		r.Heal()
	}
}

func (f *trouble) recover(int) { f.bucket.Recover() }

// wait lets something go on for as long as READTHRU_AWAY says.
func (f *trouble) wait() {
	if d, err := time.ParseDuration(os.Getenv("READTHRU_AWAY")); err == nil {
		time.Sleep(d)
	}
}

func (f *trouble) readOnly(is string) {
	f.server.Exec("ALTER SYSTEM SET default_transaction_read_only = " + is)
	f.server.Exec("SELECT pg_reload_conf()")
}

// spoil does something to every third object.
func (f *trouble) spoil(do func(file string) error) {
	for i, file := range f.bucket.Objects() {
		if i%3 == 0 {
			if err := do(file); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}
