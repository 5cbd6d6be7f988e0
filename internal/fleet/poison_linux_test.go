package fleet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Rows of every kind that no node can take over come among good ones: they are set aside by each node, and the good
// ones arrive. Then taking over a row of every kind panics.
func TestRowsThatPoisonAreSetAside(t *testing.T) { // alone: it injects panics
	s := fleettest.Start(t)
	all := []*node{joinWithBases(t, s.URL, "a"), joinWithBases(t, s.URL, "b"), joinWithBases(t, s.URL, "c")}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close() //nolint:errcheck // nothing is written to it
	const insertPage = `INSERT INTO readthru.pages (key, node, fetched_at, content_hash, record, body, body_hash, body_length)
		VALUES ($1, 'stranger', $2, $3, $4, $5, $6, $7)`
	insert := func(url, at string, change func(record string, body []byte) (string, []byte, int)) {
		rec := record(url, "# Of a stranger", 0)
		text, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		content := []byte("# Of a stranger")
		key, sum := page.KeyOf(url), sha256.Sum256(content)
		r, body, length := change(string(text), encoder.EncodeAll(content, nil))
		s.Exec(insertPage, key[:], at, rec.ContentHash, r, body, sum[:], length+len(content))
	}
	as := func(r string, b []byte) (string, []byte, int) { return r, b, 0 }
	random := rand.New(rand.NewPCG(1, 2))
	garble := func(text string) string {
		b := []byte(text)
		for range 1 + random.IntN(4) {
			b[random.IntN(len(b))] = byte(1 + random.IntN(126))
		}
		return string(b)
	}
	const user = `{"name":"eve","id":"x","role":"read","made":"2026-01-01T00:00:00Z","changed":"2026-01-01T00:00:00Z"}`
	const base = `{"name":"k","id":"k","source":"crawl","service":"local","url":"https://a.test/","limit":3}`
	for n := range 15 {
		all[n%3].read(fmt.Sprintf("https://good.test/%d", n), "# Good", n)
		insert(fmt.Sprintf("https://bad.test/%d", n), "2026-01-01", func(r string, b []byte) (string, []byte, int) {
			return garble(r), []byte(garble(string(b))), random.IntN(3) - 1<<random.IntN(30)
		})
		id := sha256.Sum256([]byte{byte(n)})
		kind := []string{store.PurgeURL, store.PurgePrefix, store.PurgeHost, store.PurgeTag, "of the future"}[n%5]
		s.Exec("INSERT INTO readthru.purges (id, kind, value, at) VALUES ($1, $2, $3, $4)", id[:], kind,
			garble("https://bad.test/path?q#f"), []string{"infinity", "-infinity", "200000-01-01", "0100-01-01 BC"}[n%4])
		s.Exec("INSERT INTO readthru.users (name, changed_at, record) VALUES ($1, 'infinity', $2)", fmt.Sprint("eve", n),
			garble(user))
		s.Exec(`INSERT INTO readthru.hosts (host, trait, at, until, times, gone)
			VALUES ($1, $2, '-infinity', 'infinity', $3, $4)`, garble("bad.test"), fmt.Sprint("trait", n), -n, n%2 == 0)
		s.Exec(`INSERT INTO readthru.bases (name, id, record, filled_at, filled, filling, rounds)
			VALUES ($1, $2, $3, 'infinity', $4, $5, -1)`, fmt.Sprint("k", n), fmt.Sprint("k", n), garble(base), -n, n)
	}
	insert("https://bad.test/infinity", "infinity", as)
	insert("https://bad.test/past", "-infinity", as)
	insert("https://bad.test/future", "200000-01-01", as)
	insert("https://bad.test/large", "2026-01-01", func(r string, b []byte) (string, []byte, int) {
		return r + strings.Repeat(" ", 17<<20), b, 0
	})
	s.Exec("UPDATE readthru.users_edition SET edition = gen_random_uuid()")
	for n := range 15 {
		await(t, fmt.Sprintf("https://good.test/%d", n), "# Good", all...)
	}
	for _, n := range all {
		for _, last := range []string{"infinity", "past", "future", "large"} {
			id := page.KeyOf("https://bad.test/" + last).Doc()
			eventually.True(t, n.Status().Node+" sets aside "+last, func() bool { return isAside(n, "page", id) })
		}
		if got := n.Status(); got.State != fleet.Connected || got.Refused < 30 || len(got.Aside) > 100 {
			t.Errorf("%+v", got)
		}
	}

	panicked := map[string]bool{}
	var mu sync.Mutex
	fault.Inject(func(work string) {
		if strings.HasPrefix(work, "fleet: take a ") {
			mu.Lock()
			panicked[work] = true
			mu.Unlock()
			panic("injected")
		}
	})
	defer fault.Inject(nil)
	insert("https://panic.test/", "2026-01-01", as)
	purge := (&store.Purge{Kind: store.PurgeHost, Value: "panic.test"}).ID()
	s.Exec(`INSERT INTO readthru.purges (id, kind, value, at) VALUES ($1, 'host', 'panic.test', now())`, purge[:])
	s.Exec("INSERT INTO readthru.users (name, changed_at, record) VALUES ('panic', now(), '{}')")
	s.Exec("UPDATE readthru.users_edition SET edition = gen_random_uuid()")
	s.Exec(`INSERT INTO readthru.hosts (host, trait, at, until, times, gone)
		VALUES ('panic.test', 'negotiates', now(), now(), 1, false)`)
	s.Exec("INSERT INTO readthru.bases (name, id, record) VALUES ('panic', 'panic', '{}')")
	panicID := map[string]string{
		"page": page.KeyOf("https://panic.test/").Doc(), "user": "panic", "host": "panic.test", "base": "panic",
		"purge": hex.EncodeToString(purge[:]),
	}
	for _, n := range all {
		for kind, id := range panicID {
			eventually.True(t, n.Status().Node+" sets aside a "+kind, func() bool { return isAside(n, kind, id) })
		}
	}
	fault.Inject(nil)
	if len(panicked) != len(panicID) {
		t.Errorf("panicked: %v", panicked)
	}
	began := time.Now()
	all[0].read("https://good.test/after", "# After", 0)
	await(t, "https://good.test/after", "# After", all...)
	t.Logf("a page came %v after rows of every kind had panicked", time.Since(began).Round(time.Millisecond))
}

// isAside reports whether a node names a row as set aside.
func isAside(n *node, kind, id string) bool {
	for _, a := range n.Status().Aside {
		if a.Kind == kind && a.ID == id {
			return true
		}
	}
	return false
}
