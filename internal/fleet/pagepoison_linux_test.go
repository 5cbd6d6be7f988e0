package fleet_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
)

// stranger writes rows and objects as others could.
type stranger struct {
	t      *testing.T
	server *fleettest.Server
	bucket *fleettest.Bucket
	pack   func([]byte) []byte
}

func newStranger(t *testing.T, server *fleettest.Server, bucket *fleettest.Bucket) *stranger {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() }) // nothing is written to it
	return &stranger{t, server, bucket, func(b []byte) []byte { return e.EncodeAll(b, nil) }}
}

// page writes the row of a page, which is read at a time of SQL. Without a body, that is in the object store.
func (s *stranger) page(url, content, at string, body []byte, change func(*page.Record)) {
	s.t.Helper()
	rec := record(url, content, 0)
	if change != nil {
		change(rec)
	}
	text, err := json.Marshal(rec)
	if err != nil {
		s.t.Fatal(err)
	}
	key, sum := page.KeyOf(url), sha256.Sum256([]byte(content))
	s.server.Exec(`INSERT INTO readthru.pages (key, node, fetched_at, content_hash, record, body, body_hash, body_length)
		VALUES ($1, 'stranger', `+at+`, $2, $3, $4, $5, $6)`, key[:], rec.ContentHash, string(text), body,
		sum[:], len(content))
}

// object writes what the object store has under the hash of a content.
func (s *stranger) object(content string, object []byte) {
	s.t.Helper()
	sum := sha256.Sum256([]byte(content))
	name := hex.EncodeToString(sum[:])
	file := filepath.Join(s.bucket.Dir, "fleet", name[:2], name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, object, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// asideOf returns what a node says of a row that is set aside; nil if it is not.
func asideOf(n *node, kind, id string) *fleet.Aside {
	for _, a := range n.Status().Aside {
		if a.Kind == kind && a.ID == id {
			return &a
		}
	}
	return nil
}

func (n *node) awaitAside(kind, id string) *fleet.Aside {
	n.t.Helper()
	eventually.True(n.t, fmt.Sprintf("%s sets %s %s aside", n.Status().Node, kind, id),
		func() bool { return asideOf(n, kind, id) != nil })
	return asideOf(n, kind, id)
}

// Pages that cannot be taken over, and objects of each kind that is none, come among good ones. Each is set aside by
// its id and is not asked for again at once; nodes stay connected to both engines, and take over what comes after.
func TestPagesAndObjectsThatPoisonAreSetAside(t *testing.T) {
	t.Parallel()
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	a := shared(t, server, bucket, "a")[0]
	a.stop() // so that nobody takes a row before the database has lost a part of it
	s := newStranger(t, server, bucket)
	s.page("https://bad.test/damaged", large("Damaged"), "now()", s.pack([]byte(large("Damaged"))), nil)
	server.Exec(`CREATE EXTENSION pg_surgery; DO $$ DECLARE toast regclass := (SELECT reltoastrelid FROM pg_class
		WHERE oid = 'readthru.pages'::regclass); BEGIN EXECUTE 'SELECT heap_force_kill(' || quote_literal(toast) ||
		'::regclass, array_agg(ctid)) FROM ' || toast; END $$`)
	a.begin(server.URL, "a")
	a.awaitState(fleet.Connected)
	a.awaitBodies(fleet.Connected)
	b := shared(t, server, bucket, "b")[0]
	all := []*node{a, b}
	random := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random) // it never fails
	since := a.Status().Since

	// Rows.
	s.page("https://bad.test/record", "# x", "now()", s.pack([]byte("# x")), func(r *page.Record) {
		r.Title = hex.EncodeToString(random)
	})
	s.page("https://bad.test/future", "# x", "now() + interval '2 days'", s.pack([]byte("# x")), nil)
	gone := page.KeyOf("https://bad.test/gone")
	server.Exec(`INSERT INTO readthru.pages (key, node, fetched_at, gone_at)
		VALUES ($1, 'stranger', now(), 'infinity')`, gone[:])

	// Objects.
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(large("gzip")))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := s.pack([]byte(large("cut")))
	objects := map[string][]byte{
		"cut": whole[:len(whole)/2], "other": s.pack([]byte(large("another"))), "gzip": zipped.Bytes(),
		"random": random, "gigantic": bytes.Repeat(random, 20), "bomb": s.pack(make([]byte, 200<<20)), "empty": {},
		"plain": []byte(large("plain")), "broken": nil, "500": nil, "lost": nil, "stops": nil,
	}
	names := map[string]string{} // of objects that are trouble, by the end of their path
	for what, object := range objects {
		if object != nil {
			s.object(large(what), object)
		} else if what != "lost" {
			s.object(large(what), s.pack([]byte(large(what))))
		}
		sum := sha256.Sum256([]byte(large(what)))
		names[hex.EncodeToString(sum[:])] = what
	}
	var mu sync.Mutex
	asked := map[string]int{}
	bucket.Trouble(func(w http.ResponseWriter, r *http.Request) bool {
		what := names[filepath.Base(r.URL.Path)]
		if what == "" || r.Method != http.MethodGet {
			return true
		}
		mu.Lock()
		asked[what]++
		mu.Unlock()
		switch what {
		case "500":
			w.WriteHeader(http.StatusInternalServerError)
			return false
		case "broken": // the connection ends
			panic(http.ErrAbortHandler)
		case "stops": // before its end
			w.Header().Set("Content-Length", "5000")
			_, _ = w.Write(whole[:1000])
			panic(http.ErrAbortHandler)
		}
		return true
	})
	for what := range objects {
		s.page("https://bad.test/object/"+what, large(what), "now()", nil, nil)
	}
	a.read("https://good.test/large", large("Good"), 1)
	a.read("https://good.test/small", "# Good", 1)
	await(t, "https://good.test/large", large("Good"), b)
	await(t, "https://good.test/small", "# Good", b)
	for _, n := range all {
		for _, what := range []string{"record", "future", "damaged", "gone"} {
			is := n.awaitAside("page", page.KeyOf("https://bad.test/"+what).Doc())
			if is.Remedy == "" || (is.Again == nil) != (what == "record") {
				t.Errorf("%s: %+v", what, is)
			}
		}
		for what := range objects {
			is := n.awaitAside("page", page.KeyOf("https://bad.test/object/"+what).Doc())
			if is.Again == nil || is.Remedy == "" {
				t.Errorf("%s: %+v", what, is)
			}
		}
		st := n.Status()
		if st.State != fleet.Connected || st.Bodies.State != fleet.Connected || st.SetAside != int64(len(objects)+4) {
			t.Errorf("%+v", st)
		}
	}
	if got := a.Status().Since; !got.Equal(since) {
		t.Errorf("a was connected anew at %v", got)
	}
	mu.Lock()
	for what, n := range asked {
		// Each node tries at first, after 5 s, 10 s and so on, and a try has a few requests: even an hour has less than
		// this, and a node that does not pause has more in a second.
		if n > 150 {
			t.Errorf("the object %s was asked for %d times", what, n)
		}
	}
	mu.Unlock()
	if n := server.Count("pages WHERE node = 'stranger'"); n != len(objects)+4 {
		t.Errorf("%d rows are as the stranger wrote them", n)
	}

	// What was in the way of a reading or of a deletion is replaced by the next reading.
	for _, what := range []string{"future", "gone", "record"} {
		a.read("https://bad.test/"+what, "# Read", 120)
		await(t, "https://bad.test/"+what, "# Read", b)
	}
	// A passing fault passes: by itself, or by the next start.
	bucket.Recover()
	await(t, "https://bad.test/object/500", large("500"), a, b)
	await(t, "https://bad.test/object/stops", large("stops"), a, b)
	eventually.True(t, "what was taken is aside no longer", func() bool {
		return !isAside(b, "page", page.KeyOf("https://bad.test/object/500").Doc()) &&
			!isAside(b, "page", page.KeyOf("https://bad.test/future").Doc())
	})
	for what := range objects {
		s.object(large(what), s.pack([]byte(large(what))))
	}
	b.stop()
	b.begin(server.URL, "b")
	for what := range objects {
		await(t, "https://bad.test/object/"+what, large(what), b)
	}
	is := asideOf(b, "page", page.KeyOf("https://bad.test/damaged").Doc())
	if is == nil || !strings.Contains(is.Reason, "toast") {
		t.Errorf("after a start, of the row that the database lost: %+v", is)
	}
}
