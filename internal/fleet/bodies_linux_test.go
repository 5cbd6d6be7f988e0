package fleet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// large returns a content that does not stay in its row.
func large(title string) string {
	text := make([]byte, 40<<10)
	r := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32.32s", title))))
	_, _ = r.Read(text) // it never fails
	return fmt.Sprintf("# %s\n\n%x\n", title, text)
}

// shared returns nodes of a fleet with an object store that are connected to both.
func shared(tb testing.TB, server *fleettest.Server, bucket *fleettest.Bucket, names ...string) (list []*node) {
	tb.Helper()
	for _, name := range names {
		n := &node{t: tb, store: opened(tb), wait: 10 * time.Second, bodies: bucket.URL}
		n.begin(server.URL, name)
		list = append(list, n)
	}
	for _, n := range list {
		n.awaitState(fleet.Connected)
		n.awaitBodies(fleet.Connected)
	}
	return list
}

func (n *node) awaitBodies(state string) {
	n.t.Helper()
	eventually.True(n.t, "the object store of "+n.Status().Node+" is "+state, func() bool {
		return n.Status().Bodies.State == state
	})
}

func TestLargeContentGoesToTheObjectStore(t *testing.T) {
	t.Parallel()
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	all := shared(t, server, bucket, "a", "b")
	a, b := all[0], all[1]
	a.read("https://a.test/large", large("Large"), 0)
	a.read("https://a.test/small", "# Small", 0)
	a.read("https://a.test/empty", "", 0)
	await(t, "https://a.test/large", large("Large"), b)
	await(t, "https://a.test/small", "# Small", b)
	await(t, "https://a.test/empty", "", b)
	a.keep("https://a.test/response", large("Response"), 1)
	a.keep("https://a.test/nothing", "", 1)
	b.gets("https://a.test/response", large("Response"))
	eventually.True(t, "it was told", func() bool { return a.Status().Told == 2 })
	if n, outside := len(bucket.Objects()), server.Count("pages WHERE body IS NULL"); n != 3 || outside != 1 {
		t.Errorf("%d objects, with that of the probe; %d pages without content in their rows", n, outside)
	}
	if st := b.Status(); st.Bodies.Got != 2 || st.Refused != 0 || st.Bodies.Lost != 0 {
		t.Errorf("status of b: %+v", st)
	}
}

func TestWhatTheObjectStoreDoesNotTakeWaits(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(*fleettest.Bucket){
		"gone": (*fleettest.Bucket).Leave, "503": (*fleettest.Bucket).Refuse, "stalled": (*fleettest.Bucket).Stall,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
			all := shared(t, server, bucket, "a", "b")
			a, b := all[0], all[1]
			a.read("https://a.test/before", large("Before"), 0)
			await(t, "https://a.test/before", large("Before"), b)
			trouble(bucket)
			a.read("https://a.test/large", large("Large"), 0)
			a.keep("https://a.test/response", large("Response"), 1)
			a.awaitBodies(fleet.Disconnected)
			if st := a.Status(); st.State != fleet.Connected || st.Bodies.Reason == "" || st.Bodies.Remedy == "" {
				t.Errorf("without the object store: %+v", st)
			}
			// What is small goes on, and so do deletions.
			a.read("https://a.test/small", "# Small", 0)
			await(t, "https://a.test/small", "# Small", b)
			if err := a.store.DeletePage(page.KeyOf("https://a.test/before")); err != nil {
				t.Fatal(err)
			}
			await(t, "https://a.test/before", "nothing", b)
			told := server.Count("pages WHERE body IS NULL AND gone_at IS NULL")
			if got := b.has("https://a.test/large"); got != "nothing" || told != 0 {
				t.Errorf("b has %.20s, %d are told", got, told)
			}
			if got, done := b.ask("https://a.test/response"); got != "" {
				t.Errorf("b got %.20s", got)
			} else {
				done()
			}
			bucket.Recover()
			await(t, "https://a.test/large", large("Large"), b)
			b.gets("https://a.test/response", large("Response"))
			eventually.True(t, "nothing is held", func() bool { return a.Status().Bodies.Held+b.Status().Bodies.Held == 0 })
		})
	}
}

func TestContentThatCannotBeHadNowIsTakenOverLater(t *testing.T) {
	t.Parallel()
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	a := shared(t, server, bucket, "a")[0]
	a.read("https://a.test/large", large("Large"), 0)
	eventually.True(t, "a has told", func() bool { return a.Status().Published == 1 })
	bucket.Refuse()
	late := &node{t: t, store: opened(t), wait: 10 * time.Second, bodies: bucket.URL}
	late.begin(server.URL, "late")
	without := join(t, server.URL, "without") // an object store
	for _, n := range []*node{late, without} {
		eventually.True(t, "a page is held", func() bool { return n.Status().Bodies.Held == 1 })
		a.read("https://a.test/small/"+n.Status().Node, "# Small", 0)
		await(t, "https://a.test/small/"+n.Status().Node, "# Small", n)
	}
	if st := without.Status().Bodies; st.State != fleet.Disconnected || !strings.Contains(st.Remedy, "set fleet.bodies") {
		t.Errorf("without an object store: %+v", st)
	}
	bucket.Recover()
	await(t, "https://a.test/large", large("Large"), late)
	without.stop()
	without.bodies = bucket.URL
	without.begin(server.URL, "without")
	await(t, "https://a.test/large", large("Large"), without)
}

func TestLostContentIsPutAgainByWhoHasIt(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(file string) error{
		"lost":        os.Remove,
		"empty":       func(file string) error { return os.Truncate(file, 0) },
		"wrong bytes": func(file string) error { return os.WriteFile(file, []byte("something else"), 0o600) },
		"a byte wrong": func(file string) error {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text[len(text)/2] ^= 1
			return os.WriteFile(file, text, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
			a := shared(t, server, bucket, "a")[0]
			a.read("https://a.test/large", large("Large"), 0)
			a.keep("https://a.test/response", large("Response"), 1)
			eventually.True(t, "a has told", func() bool { return a.Status().Published == 1 && a.Status().Told == 1 })
			a.stop() // so that nothing is put again at first
			for _, file := range bucket.Objects() {
				if err := lose(file); err != nil {
					t.Fatal(err)
				}
			}
			b := shared(t, server, bucket, "b")[0]
			eventually.True(t, "b has missed the page", func() bool { return b.Status().Bodies.Lost == 1 })
			if got, done := b.ask("https://a.test/response"); got != "" {
				t.Errorf("b got %.20s", got)
			} else {
				done()
			}
			if got := b.has("https://a.test/large"); got != "nothing" {
				t.Errorf("b has %.20s", got)
			}
			eventually.True(t, "both are told", func() bool { return server.Count("lost") == 2 })
			a.begin(server.URL, "a")
			await(t, "https://a.test/large", large("Large"), b)
			b.gets("https://a.test/response", large("Response"))
			if st := a.Status(); st.Bodies.Repaired != 2 || b.Status().Refused != 0 {
				t.Errorf("status of a: %+v, of b: %+v", st, b.Status())
			}
		})
	}
}

func TestContentOfOthersIsNotPutForAStranger(t *testing.T) {
	t.Parallel()
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	a := shared(t, server, bucket, "a")[0]
	a.read("https://a.test/?token=dGhpcyBpcyBhIHNlY3JldCB0b2tlbg", large("Secret"), 0)
	secret := a.put("https://a.test/mine", large("Mine"), 1, func(r *store.Response) { r.Partition = "ann" })
	server.Exec(`INSERT INTO readthru.responses (uri, slot, url, host, tags, node, response_time, fresh_until,
		retain_until, form, record, body_hash, body_length)
		VALUES (sha256('x'), sha256('x'), 'https://a.test/mine', 'a.test', '{}', 'x', now(),
			now() + interval '1 hour', now() + interval '1 hour', 1, '', $1, 1)`, secret.Body[:])
	server.Exec("INSERT INTO readthru.lost (hash) VALUES ($1)", secret.Body[:])
	// The beat after this one has looked at it.
	server.Exec("INSERT INTO readthru.lost (hash) SELECT sha256('marker')")
	a.read("https://a.test/marker", large("Marker"), 0)
	eventually.True(t, "the marker was told", func() bool { return a.Status().Published == 1 })
	marker := server.Count("lost")
	eventually.True(t, "a has looked three times", func() bool { return bucketBeats(server) >= 3 })
	if got := len(bucket.Objects()); got != 2 || marker != 2 || a.Status().Bodies.Repaired != 0 {
		t.Errorf("%d objects, with those of the probe and of the marker; %+v", got, a.Status().Bodies)
	}
}

// bucketBeats returns how many beats a node has had, of two seconds each.
func bucketBeats(s *fleettest.Server) int {
	return s.Count("nodes, generate_series(1, extract(epoch FROM seen_at - started_at)::int / 2)")
}

// What the reasons are is tested with package bucket.
func TestAnObjectStoreThatCannotBeUsedSaysWhy(t *testing.T) {
	t.Parallel()
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	n := &node{t: t, store: opened(t), wait: 10 * time.Second, bodies: strings.Replace(bucket.URL, ":secret", ":other", 1)}
	n.begin(server.URL, "a")
	defer n.stop()
	n.awaitBodies(fleet.Disconnected)
	if st := n.Status().Bodies; !strings.Contains(st.Reason, "403 SignatureDoesNotMatch") ||
		!strings.Contains(st.Remedy, "correct the access key") {
		t.Errorf("reason %q, remedy %q", st.Reason, st.Remedy)
	}
}

func TestBodiesAreInABucket(t *testing.T) {
	t.Parallel()
	err := fleet.Options{Database: "postgres://db.test/x", Node: "a", Bodies: "https://bucket.test"}.Check()
	if err == nil || !strings.Contains(err.Error(), "no URL like s3://") {
		t.Error(err)
	}
}

func TestASlowObjectStoreCostsThreeRequestsTheirWait(t *testing.T) {
	t.Parallel()
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	all := shared(t, server, bucket, "a", "b")
	a, b := all[0], all[1]
	const count = 12
	url := func(i int) string { return fmt.Sprintf("https://a.test/%d", i) }
	for i := range count {
		a.keep(url(i), large(url(i)), i)
	}
	eventually.True(t, "all are told", func() bool { return a.Status().Told == count })
	b.stop()
	b.wait = 200 * time.Millisecond
	b.begin(server.URL, "b")
	b.awaitState(fleet.Connected)
	b.awaitBodies(fleet.Connected)
	bucket.Slow(time.Minute)
	before, began := bucket.Requests(http.MethodGet), time.Now()
	for i := range count {
		r, done := b.Ask(t.Context(), url(i), func(l []*store.Response) *store.Response { return l[0] })
		if r != nil {
			t.Errorf("request %d: %v", i, r)
		}
		done()
	}
	got, most := bucket.Requests(http.MethodGet)-before, mostAsked(time.Since(began))
	if st := b.Status(); got > most || st.Late == 0 || st.State != fleet.Connected {
		t.Errorf("the object store was asked %d times for %d requests, want at most %d; %+v", got, count, most, st)
	}
}

func TestLargeContentIsInItsRowWithoutAnObjectStore(t *testing.T) {
	t.Parallel()
	all := nodes(t, fleettest.Start(t).URL, "a", "b")
	a, b := all[0], all[1]
	a.keep("https://a.test/large", large("Large"), 1)
	eventually.True(t, "b gets it", func() bool {
		content, done := b.ask("https://a.test/large")
		done()
		return content == large("Large")
	})
}

// A content that the object store never takes holds up no other one, and comes by its row.
func TestContentThatTheObjectStoreRefusesStaysInItsRow(t *testing.T) {
	t.Parallel()
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	all := shared(t, server, bucket, "a", "b")
	a, b := all[0], all[1]
	since := a.Status().Since
	name := func(content string) string {
		sum := sha256.Sum256([]byte(content))
		return hex.EncodeToString(sum[:])
	}
	refused := map[string]bool{name(large("Page")): true, name(large("Response")): true, name(large("Lost")): true}
	bucket.Trouble(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || !refused[filepath.Base(r.URL.Path)] {
			return true
		}
		w.WriteHeader(http.StatusInternalServerError)
		return false
	})
	a.read("https://a.test/page", large("Page"), 0)
	a.read("https://a.test/other", large("Other"), 0)
	a.keep("https://a.test/response", large("Response"), 1)
	await(t, "https://a.test/page", large("Page"), b)
	await(t, "https://a.test/other", large("Other"), b)
	b.gets("https://a.test/response", large("Response"))
	if is := a.awaitAside("content", name(large("Page"))); !strings.Contains(is.Remedy, "log") {
		t.Errorf("%+v", is)
	}

	// Contents that nobody has, and one that cannot be put again, do not keep another one from that.
	a.keep("https://a.test/lost", large("Good"), 1)
	b.gets("https://a.test/lost", large("Good"))
	lost := a.put("https://a.test/refused", large("Lost"), 1)
	server.Exec(`INSERT INTO readthru.responses (uri, slot, url, host, tags, node, response_time, fresh_until,
			retain_until, form, record, body_hash, body_length)
		SELECT sha256(n::text::bytea), sha256('x'),
			CASE WHEN n = 0 THEN 'https://a.test/refused' ELSE 'https://x.test/' || n END,
			'x.test', '{}', 'x', now(), now(), now() + interval '1 hour', 1, '',
			CASE WHEN n = 0 THEN $1::bytea ELSE decode(lpad(to_hex(n), 64, '0'), 'hex') END, 1
		FROM generate_series(0, 2500) AS n`, lost.Body[:])
	server.Exec("INSERT INTO readthru.lost (hash) SELECT body_hash FROM readthru.responses WHERE body IS NULL")
	eventually.True(t, "a content was put again by a node that has it, which are both", func() bool {
		return a.Status().Bodies.Repaired+b.Status().Bodies.Repaired > 0
	})
	a.awaitAside("content", name(large("Lost")))
	for _, n := range all {
		if st := n.Status(); st.Bodies.State != fleet.Connected || st.State != fleet.Connected || st.Bodies.Held != 0 {
			t.Errorf("%+v", st)
		}
	}
	if !a.Status().Since.Equal(since) {
		t.Error("a was connected anew")
	}
}

// An object store that answers two of three requests with 503 is asked again. What it does not take then waits, and
// does not fill the database instead.
func TestABusyObjectStoreGetsEverythingInTheEnd(t *testing.T) {
	t.Parallel()
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	all := shared(t, server, bucket, "a", "b")
	var requests atomic.Int64
	bucket.Trouble(func(w http.ResponseWriter, _ *http.Request) bool {
		busy := requests.Add(1)%3 != 0
		if busy {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprint(w, "<Error><Code>SlowDown</Code></Error>")
		}
		return !busy
	})
	const pages = 40
	for i := range pages {
		all[0].read(fmt.Sprint("https://a.test/", i), large(fmt.Sprint("Page ", i)), 0)
	}
	for i := range pages {
		await(t, fmt.Sprint("https://a.test/", i), large(fmt.Sprint("Page ", i)), all[1])
	}
	if n := server.Count("pages WHERE body IS NOT NULL"); n != 0 {
		t.Errorf("%d pages have their content in the database", n)
	}
	for _, n := range all {
		if st := n.Status(); st.SetAside != 0 || st.Bodies.Lost != 0 {
			t.Errorf("%+v", st)
		}
	}
}
