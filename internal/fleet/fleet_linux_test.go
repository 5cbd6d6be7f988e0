package fleet_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhatANodeReadsAllHave(t *testing.T) {
	t.Parallel()
	url := fleettest.Start(t).URL
	a, b := join(t, url, "a"), join(t, url, "b")
	a.awaitState(fleet.Connected)
	b.awaitState(fleet.Connected)
	a.read("https://a.test/one", "# One", 0)
	b.read("https://a.test/two", "# Two", 0)
	await(t, "https://a.test/one", "# One", b)
	await(t, "https://a.test/two", "# Two", a)
	p, err := b.store.Page(page.KeyOf("https://a.test/one"))
	if err != nil || p.Title != "Title of # One" || !p.FetchedAt.Equal(start) {
		t.Errorf("page %+v, %v", p, err)
	}
	a.read("https://a.test/one", "# One again", 1)
	await(t, "https://a.test/one", "# One again", b)
	if versions, err := b.store.Versions(page.KeyOf("https://a.test/one")); err != nil || len(versions) != 2 {
		t.Errorf("%d versions, %v", len(versions), err)
	}
	if err := b.store.DeletePage(page.KeyOf("https://a.test/one")); err != nil {
		t.Fatal(err)
	}
	await(t, "https://a.test/one", "nothing", a)

	// One that comes later gets all, and one that comes back what it missed.
	b.stop()
	a.read("https://a.test/three", "# Three", 2)
	c := join(t, url, "c")
	await(t, "https://a.test/two", "# Two", c)
	await(t, "https://a.test/three", "# Three", c)
	b.begin(url, "b")
	await(t, "https://a.test/three", "# Three", b)
	if got := a.has("https://a.test/one") + b.has("https://a.test/one") + c.has("https://a.test/one"); got !=
		"nothingnothingnothing" {
		t.Errorf("a page that is gone: %s", got)
	}
	eventually.True(t, "nothing waits", func() bool { return a.Status().Outbox+b.Status().Outbox+c.Status().Outbox == 0 })
	if r := a.Status().Refused + b.Status().Refused + c.Status().Refused; r != 0 {
		t.Errorf("%d rows are malformed", r)
	}
	nodes, err := a.Nodes(t.Context())
	if err != nil || len(nodes) != 3 || nodes[0].Name != "a" || nodes[2].Version != "test" || nodes[1].Away {
		t.Errorf("nodes %+v, %v", nodes, err)
	}
}

func TestWhatIsReadBeforeTheDatabaseAnswersIsToldLater(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	s.Kill()
	a := join(t, s.URL, "a")
	a.awaitState(fleet.Disconnected)
	a.read("https://a.test/", "# Read alone", 0)
	s.Begin()
	await(t, "https://a.test/", "# Read alone", join(t, s.URL, "b"))
}

func TestTheLaterReadingCounts(t *testing.T) {
	t.Parallel()
	url := fleettest.Start(t).URL
	late := join(t, url, "late")
	late.awaitState(fleet.Connected)
	late.stop()
	const kept, gone = "https://a.test/kept", "https://a.test/gone"
	late.read(kept, "# Early", 0)
	late.read(gone, "# Early", 0)
	a := join(t, url, "a")
	a.awaitState(fleet.Connected)
	a.read(kept, "# Later", 5)
	a.read(gone, "# Later", 5)
	if err := a.store.DeletePage(page.KeyOf(gone)); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "a has told", func() bool { return a.Status().Outbox == 0 })
	late.begin(url, "late")
	await(t, kept, "# Later", late, a)
	await(t, gone, "nothing", late, a)

	// What is read after it was deleted is there again.
	a.read(gone, "# Read again", 120)
	await(t, gone, "# Read again", late)
}

func TestWhatIsNobodyElsesBusinessStays(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	url := s.URL
	a := join(t, url, "a")
	a.read("https://a.test/before", "# Before the fleet", 0)
	a.stop()
	a.begin(url, "a") // whether it had come so far or not
	a.awaitState(fleet.Connected)
	for _, secret := range []string{
		"http://127.0.0.1:8080/page", "http://localhost/page", "file:///etc/page",
		"https://a.test/?token=dGhpcyBpcyBhIHNlY3JldCB0b2tlbg", "https://a.test/s/6fa459ea-ee8a-3ca4-894e-db77e160355e",
	} {
		a.read(secret, "# Mine", 0)
	}
	a.read("https://a.test/public", "# Public", 0)
	b := join(t, url, "b")
	await(t, "https://a.test/public", "# Public", b)
	if n := b.store.Totals().Pages; n > 2 || b.has("https://a.test/s/6fa459ea-ee8a-3ca4-894e-db77e160355e") != "nothing" {
		t.Errorf("%d pages came", n)
	}
	var urls string
	db := s.Open()
	defer db.Close() //nolint:errcheck // it was read
	err := db.QueryRowContext(t.Context(), "SELECT string_agg(record, ' ') FROM readthru.pages").Scan(&urls)
	if err != nil || strings.Contains(urls, "Mine") || !strings.Contains(urls, "Public") {
		t.Errorf("the database has %s, %v", urls, err)
	}
}

// raw is a row as a stranger could write it.
type raw struct {
	key, body, sum []byte
	hash, record   string
	length         int
}

// insert writes a row.
func (r raw) insert(s *fleettest.Server) {
	s.Exec(`INSERT INTO readthru.pages (key, node, fetched_at, content_hash, record, body, body_hash, body_length)
		VALUES ($1, 'stranger', now(), $2, $3, $4, $5, $6)`, r.key, r.hash, r.record, r.body, r.sum, r.length)
}

func TestRowsAreNotTrusted(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	a := join(t, s.URL, "a")
	a.awaitState(fleet.Connected)
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close() //nolint:errcheck // nothing is written to it
	forge := func(url, content string, change func(*page.Record, *raw)) raw {
		rec := record(url, content, 0)
		key, sum := page.KeyOf(url), sha256.Sum256([]byte(content))
		r := raw{
			key: key[:], body: encoder.EncodeAll([]byte(content), nil), sum: sum[:], hash: rec.ContentHash,
			length: len(content),
		}
		if change != nil {
			change(rec, &r)
		}
		if r.record == "" {
			text, err := json.Marshal(rec)
			if err != nil {
				t.Fatal(err)
			}
			r.record = string(text)
		}
		return r
	}
	bad := map[string]raw{
		"no JSON": forge("https://a.test/1", "# x", func(_ *page.Record, r *raw) { r.record = "{" }),
		"another page's key": forge("https://a.test/2", "# x", func(p *page.Record, _ *raw) {
			p.NormalizedURL = "https://b.test/"
		}),
		"not normalised":      forge("https://a.test/3?b=1&a=2", "# x", nil),
		"a file":              forge("file:///etc/passwd", "# x", nil),
		"a loopback page":     forge("http://127.0.0.1/", "# x", nil),
		"not compressed":      forge("https://a.test/4", "# x", func(_ *page.Record, r *raw) { r.body = []byte("# x") }),
		"another body":        forge("https://a.test/5", "# x", func(_ *page.Record, r *raw) { r.sum = make32() }),
		"another length":      forge("https://a.test/6", "# x", func(_ *page.Record, r *raw) { r.length = 2 }),
		"another hash":        forge("https://a.test/7", "# x", func(_ *page.Record, r *raw) { r.hash = "00" }),
		"longer than allowed": forge("https://a.test/8", "# x", func(_ *page.Record, r *raw) { r.length = 1 << 30 }),
		"a bomb": forge("https://a.test/9", "# x", func(_ *page.Record, r *raw) {
			r.body = encoder.EncodeAll(make([]byte, 65<<20), nil)
		}),
	}
	for _, r := range bad {
		r.insert(s)
	}
	forge("https://a.test/good", "# Good", nil).insert(s)
	await(t, "https://a.test/good", "# Good", a)
	if got := a.Status().Refused; got != int64(len(bad)) || a.store.Totals().Pages != 1 {
		t.Errorf("%d of %d are refused, %d pages are stored", got, len(bad), a.store.Totals().Pages)
	}
}

func make32() []byte { return make([]byte, 32) }

func TestWhatCommitsLateIsSeen(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	a := join(t, s.URL, "a")
	a.awaitState(fleet.Connected)
	slow := s.Open()
	defer slow.Close() //nolint:errcheck // it has committed
	tx, err := slow.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	key := page.KeyOf("https://a.test/slow")
	sum := sha256.Sum256([]byte("# Slow"))
	text, err := json.Marshal(record("https://a.test/slow", "# Slow", 0))
	if err != nil {
		t.Fatal(err)
	}
	encoder, _ := zstd.NewWriter(nil)
	defer encoder.Close() //nolint:errcheck // nothing is written to it
	if _, err := tx.ExecContext(t.Context(), `INSERT INTO readthru.pages
		(key, node, fetched_at, content_hash, record, body, body_hash, body_length)
		VALUES ($1, 'b', now(), $2, $3, $4, $5, 6)`,
		key[:], hex.EncodeToString(sum[:]), string(text), encoder.EncodeAll([]byte("# Slow"), nil), sum[:]); err != nil {
		t.Fatal(err)
	}
	b := join(t, s.URL, "b")
	b.awaitState(fleet.Connected)
	b.read("https://a.test/fast", "# Fast", 0)
	eventually.True(t, "b has told", func() bool { return b.Status().Published == 1 })
	eventually.True(t, "a is behind", func() bool { return a.Status().Behind == 1 })
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	await(t, "https://a.test/slow", "# Slow", a)
	await(t, "https://a.test/fast", "# Fast", a)
}

func TestNothingIsLostWhenTheDatabaseIs(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	a, b := join(t, s.URL, "a"), join(t, s.URL, "b")
	a.awaitState(fleet.Connected)
	b.awaitState(fleet.Connected)
	pages := 0
	read := func() {
		for range 10 {
			n := []*node{a, b}[pages%2]
			n.read(fmt.Sprintf("https://a.test/%d", pages), fmt.Sprintf("# Page %d", pages), pages)
			pages++
		}
	}
	for range 3 {
		read()
		s.Kill()
		read()
		a.awaitState(fleet.Disconnected)
		if st := a.Status(); st.Reason == "" || st.Remedy == "" || st.Outbox == 0 {
			t.Errorf("without a database: %+v", st)
		}
		s.Begin()
		a.awaitState(fleet.Connected)
		b.awaitState(fleet.Connected)
	}
	for i := range pages {
		await(t, fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("# Page %d", i), a, b)
	}

	// A copy that lacks the last minutes, or another database: what was told is told again.
	s.Exec("DROP SCHEMA readthru CASCADE")
	c := join(t, s.URL, "c")
	defer func() {
		if t.Failed() {
			t.Logf("a %+v, b %+v, c %+v", a.Status(), b.Status(), c.Status())
		}
	}()
	for i := range pages {
		await(t, fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("# Page %d", i), c)
	}
}

func TestAServerThatStallsIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	a := join(t, s.URL, "a")
	a.awaitState(fleet.Connected)
	s.Stall()
	defer s.Resume()
	a.read("https://a.test/one", "# One", 0)
	a.awaitState(fleet.Disconnected)
	if st := a.Status(); st.Reason == "" || st.Outbox != 1 {
		t.Errorf("while the server stalls: %+v", st)
	}
	s.Resume()
	eventually.True(t, "a has told", func() bool { return a.Status().Outbox == 0 })
}

func TestRowsOfAnotherServerAreSeen(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	a := join(t, s.URL, "a")
	a.awaitState(fleet.Connected)
	a.read("https://a.test/one", "# One", 0)
	eventually.True(t, "a has told", func() bool { return a.Status().Published == 1 })
	a.stop()
	s.Exec("UPDATE readthru.pages SET xid = '99999999'") // as a dump of a server with more transactions
	b := join(t, s.URL, "b")
	await(t, "https://a.test/one", "# One", b)
	a.begin(s.URL, "a")
	b.read("https://a.test/two", "# Two", 0)
	await(t, "https://a.test/two", "# Two", a)
}

// with returns the server's URL for another user, database or password.
func with(s *fleettest.Server, pairs string) string {
	return strings.Replace(s.URL, "postgres:///postgres?user=postgres", "postgres:///"+pairs, 1)
}

func TestADatabaseThatCannotBeUsedSaysWhy(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	s.Exec("CREATE ROLE guest LOGIN")
	s.Exec("CREATE DATABASE standby TEMPLATE postgres")
	s.Exec("ALTER DATABASE standby SET default_transaction_read_only = on")
	for _, name := range []string{"newer", "other", "owned"} {
		s.Exec("CREATE DATABASE " + name + " TEMPLATE postgres")
	}
	s.Exec("ALTER DATABASE owned OWNER TO guest")
	do := func(db, sql string) {
		t.Helper()
		other := *s
		other.URL = with(s, db+"?user=postgres")
		other.Exec(sql)
	}
	do("other", "CREATE SCHEMA readthru")
	do("other", "CREATE TABLE readthru.fleet (a int)")
	first := join(t, with(s, "newer?user=postgres"), "first")
	first.awaitState(fleet.Connected)
	first.stop()
	do("newer", "INSERT INTO readthru.goose_db_version (version_id, is_applied) VALUES (99, true)")

	for _, c := range []struct{ name, url, reason, remedy string }{
		{"no such user", with(s, "postgres?user=nobody"), `role "nobody" does not exist`, "correct user and password"},
		{"no such database", with(s, "nothing?user=postgres"), `database "nothing" does not exist`, "create the database"},
		{"no rights", with(s, "postgres?user=guest"), "permission denied", "CREATE SCHEMA readthru AUTHORIZATION"},
		{"read-only", with(s, "standby?user=postgres"), "takes no writes", "name the primary"},
		{"newer tables", with(s, "newer?user=postgres"), "a newer readthru", "upgrade readthru"},
		{"tables of others", with(s, "other?user=postgres"), "already exists", "another fleet.name"},
		{"nobody there", "postgres://127.0.0.1:1/postgres?sslmode=disable", "connection refused", "start it"},
		{"no such host", "postgres://no.such.host.invalid/postgres", "no.such.host.invalid", "correct fleet.database"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := join(t, c.url, "a")
			n.awaitState(fleet.Disconnected)
			st := n.Status()
			if !strings.Contains(st.Reason, c.reason) || !strings.Contains(st.Remedy, c.remedy) {
				t.Errorf("reason %q, remedy %q; want %q and %q", st.Reason, st.Remedy, c.reason, c.remedy)
			}
		})
	}
	t.Run("a database of one's own", func(t *testing.T) { // no superuser is needed
		join(t, with(s, "owned?user=guest"), "a").awaitState(fleet.Connected)
	})
}

func TestTwoNodesOfOneNameAreTold(t *testing.T) {
	t.Parallel()
	url := fleettest.Start(t).URL
	a, b := join(t, url, "same"), join(t, url, "same")
	eventually.True(t, "one of them says so", func() bool {
		return strings.Contains(a.Status().Reason+b.Status().Reason, "another node calls itself same")
	})
}

func TestFleetsOfOneDatabaseAreApart(t *testing.T) {
	t.Parallel()
	url := fleettest.Start(t).URL
	a := join(t, url, "a")
	a.awaitState(fleet.Connected)
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a test's
	f, err := fleet.New(fleet.Options{
		Database: url, Name: "other", Node: "b", Store: s, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &node{t: t, store: s, Fleet: f}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = f.Run(ctx) }()
	defer f.Close()
	defer func() { cancel(); <-ended }()
	b.awaitState(fleet.Connected)
	a.read("https://a.test/", "# A", 0)
	eventually.True(t, "a has told", func() bool { return a.Status().Published == 1 })
	nodes, err := b.Nodes(t.Context())
	if err != nil || len(nodes) != 1 || b.Status().Behind != 0 || b.has("https://a.test/") != "nothing" {
		t.Errorf("nodes %+v, %v; %s", nodes, err, b.has("https://a.test/"))
	}
	if err := fleet.Leave(s); err != nil || len(s.FleetPosition().Database) != 0 {
		t.Errorf("Leave: %v", err)
	}
}

// TestADatabaseThatIsSetBackIsToldAgain restores an older copy of the server's files, which has the same identity and
// the same line of history.
func TestADatabaseThatIsSetBackIsToldAgain(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	a, b := join(t, s.URL, "a"), join(t, s.URL, "b")
	a.read("https://a.test/before", "# Before", 0)
	await(t, "https://a.test/before", "# Before", b)
	back := s.Save()
	a.awaitState(fleet.Connected)
	b.awaitState(fleet.Connected)
	a.read("https://a.test/after", "# After", 1)
	await(t, "https://a.test/after", "# After", b)
	eventually.True(t, "nobody has more to tell", func() bool { return a.Status().Outbox+b.Status().Outbox == 0 })
	back()
	late := join(t, s.URL, "late")
	await(t, "https://a.test/before", "# Before", late)
	await(t, "https://a.test/after", "# After", late)
	late.read("https://a.test/new", "# New", 2)
	await(t, "https://a.test/new", "# New", a, b)
}

// TestClocksThatAreApart has nodes whose clocks are five minutes ahead and behind read the same pages: all agree, and
// what is read later by the clock of its reader counts.
func TestClocksThatAreApart(t *testing.T) {
	t.Parallel()
	all := nodes(t, fleettest.Start(t).URL, "ahead", "right", "behind")
	const url = "https://a.test/clock"
	off := map[string]int{"ahead": 5, "right": 0, "behind": -5}
	minute := 0
	want, latest := "", -1000
	for round := range 5 {
		for _, n := range all {
			content := fmt.Sprintf("# By %s in round %d", n.Status().Node, round)
			at := minute + off[n.Status().Node]
			if n.has(url) == "nothing" || at > latest { // a reading that is older than what the node has is none
				n.read(url, content, at)
				want, latest = content, at
			}
			await(t, url, want, all...)
			minute++
		}
	}
	ahead := all[0]
	ahead.keep("https://a.test/response", "ahead", 60, func(r *store.Response) {
		r.RequestTime, r.ResponseTime = time.Now().Add(5*time.Minute-time.Second), time.Now().Add(5*time.Minute)
	})
	all[2].gets("https://a.test/response", "ahead")
	list, err := all[2].store.Responses("https://a.test/response")
	if err != nil || len(list) != 1 || list[0].ResponseTime.After(time.Now()) {
		t.Errorf("received in the future: %+v, %v", list, err)
	}
}

// Of two readings at one moment, all nodes keep the same.
func TestOfTwoReadingsAtOneMomentAllKeepTheSame(t *testing.T) {
	t.Parallel()
	url := fleettest.Start(t).URL
	a, b := join(t, url, "a"), join(t, url, "b")
	a.awaitState(fleet.Connected)
	b.awaitState(fleet.Connected)
	b.stop()
	contents := []string{"# One of them", "# Another of them"}
	for i, raw := range []string{"https://a.test/one", "https://a.test/two"} {
		a.read(raw, contents[i], 0)
		b.read(raw, contents[1-i], 0) // before it hears of the other one
	}
	b.begin(url, "b")
	for _, raw := range []string{"https://a.test/one", "https://a.test/two"} {
		eventually.True(t, "both have the same of "+raw, func() bool { return a.has(raw) == b.has(raw) })
		for _, content := range contents { // one of which b has heard is overruled
			b.read(raw, content, 0)
			eventually.True(t, "both have the same of "+raw+" again", func() bool {
				return b.Status().Outbox == 0 && a.has(raw) == b.has(raw)
			})
		}
	}
}

// A page that is deleted and read again is there again on all nodes: in the same moment, too, with the same content,
// and also if its origin's clock is late, or a cache nearer to it answers. That an origin calls a page gone is known
// on all nodes, too.
func TestAPageThatIsReadAfterItsDeletionIsThereAgain(t *testing.T) {
	t.Parallel()
	url := fleettest.Start(t).URL
	a, b := join(t, url, "a"), join(t, url, "b")
	a.awaitState(fleet.Connected)
	b.awaitState(fleet.Connected)
	const raw = "https://a.test/again"
	k := page.KeyOf(raw)
	readNow := func(n *node, content string) {
		t.Helper()
		r := record(raw, content, 0) // by the origin's clock
		r.ReadAt = time.Time{}
		if _, err := n.store.PutPage(r, []byte(content), store.Sum{}); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(n *node) bool {
		p, err := n.store.Page(k)
		return err == nil && p.Error.Gone()
	}
	readNow(a, "# One")
	await(t, raw, "# One", b)
	for i, again := range []*node{a, b, b, a} {
		if err := a.store.DeletePage(k); err != nil {
			t.Fatal(err)
		}
		await(t, raw, "nothing", a, b)
		content := []string{"# One", "# Two"}[i%2]
		readNow(again, content)
		await(t, raw, content, a, b)
		eventually.True(t, "all is told", func() bool { return a.Status().Outbox+b.Status().Outbox == 0 })
		await(t, raw, content, a, b)
	}
	for _, n := range []*node{a, b} {
		if err := n.store.PageFailed(k, page.Error{Kind: "http", Status: 410}); err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "it is gone everywhere", func() bool { return gone(a) && gone(b) })
		readNow(n, "# Two")
		eventually.True(t, "it is nowhere gone", func() bool { return !gone(a) && !gone(b) })
	}

	// What a cache had from before the deletion does not bring the page back, but a reader who asks for it again does.
	if err := a.store.DeletePage(k); err != nil {
		t.Fatal(err)
	}
	await(t, raw, "nothing", a, b)
	b.read(raw, "# Of a cache", 5)
	await(t, raw, "# Of a cache", a, b)
	b.stop()
	if err := a.store.DeletePage(k); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "a has told", func() bool { return a.Status().Outbox == 0 })
	b.read(raw, "# Of a cache, changed", 6)
	b.begin(url, "b")
	await(t, raw, "nothing", a, b)
}

// A row that says which fleet this is, or which node, may be removed by a person: the fleet goes on.
func TestAFleetOutlivesTheRowsThatNameIt(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a, b := join(t, server.URL, "a"), join(t, server.URL, "b")
	a.awaitState(fleet.Connected)
	b.awaitState(fleet.Connected)
	a.read("https://a.test/before", "# Before", 0)
	await(t, "https://a.test/before", "# Before", b)
	for _, table := range []string{"fleet", "nodes"} {
		server.Exec("DELETE FROM readthru." + table)
		for _, n := range []*node{a, b} {
			url := "https://a.test/" + table + "/" + n.Status().Node
			n.read(url, "# After", 0)
			await(t, url, "# After", a, b)
		}
		a.awaitState(fleet.Connected)
		b.awaitState(fleet.Connected)
		eventually.True(t, "both are known", func() bool {
			nodes, err := a.Nodes(t.Context())
			return err == nil && len(nodes) == 2
		})
	}
	c := join(t, server.URL, "c")
	await(t, "https://a.test/before", "# Before", c)
}
