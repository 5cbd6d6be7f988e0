package fleet_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Rows of every table and objects are changed at random while three nodes read, keep, make and fill. After each round
// what is new on any node is on all, no work has panicked, no node was without the fleet, and every page anywhere is
// one that a node read. READTHRU_POISON_FOR=20m goes on for so long, READTHRU_POISON_FROM=7 begins with another seed.
func TestRandomPoisonStaysWhereItFell(t *testing.T) { // alone: it counts the faults of the process
	first, err := strconv.ParseUint(cmp.Or(os.Getenv("READTHRU_POISON_FROM"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	limit, err := time.ParseDuration(cmp.Or(os.Getenv("READTHRU_POISON_FOR"), "0"))
	if err != nil {
		t.Fatal(err)
	}
	if limit == 0 {
		newSeries(t, first).run(2)
		return
	}
	for seed, end := first, time.Now().Add(limit); time.Now().Before(end) && !t.Failed(); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { newSeries(t, seed).run(40) })
	}
}

// series is a random series of what may befall the database and the object store of three nodes.
type series struct {
	t       *testing.T
	random  *rand.Rand
	bytes   *rand.ChaCha8
	server  *fleettest.Server
	bucket  *fleettest.Bucket
	db      *sql.DB
	nodes   []*node
	columns []column
	known   map[string]bool // contents that a node read
	faults  int64
	away    awayLog
}

// column is a column of a table of the fleet.
type column struct{ table, name, kind string }

func newSeries(t *testing.T, seed uint64) *series {
	t.Helper()
	s := &series{
		t: t, random: rand.New(rand.NewPCG(seed, seed)), bytes: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}),
		server: fleettest.Start(t), bucket: fleettest.StartBucket(t), known: map[string]bool{},
	}
	s.faults, _ = fault.Caught()
	for _, name := range []string{"a", "b", "c"} {
		n := &node{
			t: t, store: opened(t), wait: 10 * time.Second, lease: time.Minute, log: &s.away, bodies: s.bucket.URL,
		}
		n.openBases(t)
		n.begin(s.server.URL, name)
		s.nodes = append(s.nodes, n)
	}
	for _, n := range s.nodes {
		n.awaitState(fleet.Connected)
		n.awaitBodies(fleet.Connected)
	}
	s.db = s.server.Open()
	t.Cleanup(func() { _ = s.db.Close() })
	rows, err := s.db.QueryContext(t.Context(), `SELECT table_name, column_name, data_type FROM information_schema.columns
		WHERE table_schema = 'readthru' AND table_name NOT IN ('fleet', 'goose_db_version') AND column_name <> 'xid'
			AND (table_name, column_name) NOT IN (('nodes', 'seen_at'), ('nodes', 'name'))
		ORDER BY 1, 2`) // a node whose own mark goes looks at everything again
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err tells what went wrong
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.table, &c.name, &c.kind); err != nil {
			t.Fatal(err)
		}
		s.columns = append(s.columns, c)
	}
	if err := rows.Err(); err != nil || len(s.columns) < 50 {
		t.Fatalf("%d columns, %v", len(s.columns), err)
	}
	return s
}

func (s *series) run(rounds int) {
	for round := range rounds {
		s.work(round)
		for range 25 {
			if s.random.IntN(5) == 0 {
				s.changeObject()
			} else {
				s.changeRow()
			}
		}
		s.check(round)
		if s.t.Failed() {
			return
		}
	}
	if rounds > 2 && s.nodes[0].Status().SetAside+s.nodes[1].Status().SetAside+s.nodes[2].Status().SetAside == 0 {
		s.t.Error("nothing was set aside")
	}
}

// read has a node read a page.
func (s *series) read(n *node, url, content string) {
	s.known[content] = true
	n.read(url, content, 0)
}

// work has each node do something of every kind.
func (s *series) work(round int) {
	for i, n := range s.nodes {
		url := fmt.Sprintf("https://work.test/%d/%d", round, i)
		s.read(n, url, "# Small "+url)
		s.read(n, url+"/large", large(url))
		n.keep(url, large("response "+url), 1, func(r *store.Response) { r.Tags = []string{"tag"} })
		made := rendition("r/1", "# "+url, func(r *store.Rendition) { r.FinalURL = url })
		n.TellRendition(page.KeyOf(url), url, time.Now(), made)
		if _, err := n.store.DeleteResponses(url + "/purged"); err != nil {
			s.t.Fatal(err)
		}
		host := fmt.Sprintf("host%d-%d.test", round, i)
		if _, _, err := n.store.Learn(host, store.Negotiates, "", "", time.Now()); err != nil {
			s.t.Fatal(err)
		}
		if round%8 == i {
			name := fmt.Sprintf("base%d", round)
			b := n.startBase(name)
			for p := range 3 {
				s.known[fmt.Sprintf("# Page %d of %s", p, name)] = true
			}
			n.crawl(b, name, 0, 3)
		}
	}
}

// changeRow changes a column of a row, or removes the row. What the database refuses is none.
func (s *series) changeRow() {
	c := s.columns[s.random.IntN(len(s.columns))]
	var at string
	err := s.db.QueryRowContext(s.t.Context(), `SELECT ctid::text FROM readthru.`+c.table+`
		OFFSET floor($1::float8 * (SELECT count(*) FROM readthru.`+c.table+`))::bigint LIMIT 1`, s.random.Float64()).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if s.random.IntN(30) == 0 {
		_, _ = s.db.ExecContext(s.t.Context(), "DELETE FROM readthru."+c.table+" WHERE ctid = $1::tid", at)
		return
	}
	set := c.name + " = " + s.value(c)
	for _, other := range s.columns { // sometimes several
		if other.table == c.table && other != c && s.random.IntN(12) == 0 {
			set += ", " + other.name + " = " + s.value(other)
		}
	}
	switch c.table {
	case "pages", "purges", "bases", "hosts":
		set += ", xid = pg_current_xact_id()"
	case "users":
		_, _ = s.db.ExecContext(s.t.Context(), "UPDATE readthru.users_edition SET edition = gen_random_uuid()")
	}
	_, _ = s.db.ExecContext(s.t.Context(), "UPDATE readthru."+c.table+" SET "+set+" WHERE ctid = $1::tid", at)
}

// value returns an expression of SQL for a value of a column.
func (s *series) value(c column) string {
	pick := func(list ...string) string { return list[s.random.IntN(len(list))] }
	switch c.kind {
	case "bytea":
		return pick("''", `'\x`+fmt.Sprintf("%x", s.some(1+s.random.IntN(200)))+"'",
			fmt.Sprintf("set_byte(%s, %d %% greatest(length(%[1]s), 1), %d)", c.name, s.random.IntN(5000), s.random.IntN(256)),
			fmt.Sprintf("substr(%s, 1, length(%[1]s) / %d)", c.name, 2+s.random.IntN(3)), c.name+" || "+c.name,
			"decode(repeat('00', 3000000), 'hex')", "sha256('"+strconv.Itoa(s.random.IntN(9))+"')",
			"(SELECT o."+c.name+" FROM readthru."+c.table+" AS o LIMIT 1)", "NULL")
	case "text":
		return pick("''", pq.QuoteLiteral(s.text(c)), pq.QuoteLiteral(s.text(c)),
			fmt.Sprintf("overlay(%s PLACING %s FROM %d)", c.name, pq.QuoteLiteral(pick("{", "}", `"`, "[", "9e999", "-1",
				`\u0000`, "null", "true", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "https://127.0.0.1/",
				"é\u202e")), 1+s.random.IntN(300)),
			fmt.Sprintf("left(%s, %d)", c.name, s.random.IntN(300)), "repeat('x', 3000000)", "repeat("+c.name+", 300)",
			`regexp_replace(`+c.name+`, '\d+', '`+pick("-1", "99999999999999999999", "1e400", "4294967296", "0")+`')`, "NULL")
	case "timestamp with time zone":
		return pick("'infinity'", "'-infinity'", "'200000-01-01'", "'0100-01-01 BC'", "'1970-01-01'",
			"now() - interval '1 hour'", "now() + interval '2 days'", "NULL")
	case "date":
		return pick("'infinity'", "'-infinity'", "current_date", "'5000000-01-01'")
	case "integer":
		return pick("0", "-1", "1", "2147483647", "-2147483648", "2")
	case "bigint":
		return pick("0", "-1", "1", "9223372036854775807", "-9223372036854775808", "2")
	case "boolean":
		return pick("true", "false")
	case "uuid":
		return "gen_random_uuid()"
	case "ARRAY":
		return pick("'{}'", "ARRAY['tag', NULL, '']", "array_fill('x'::text, ARRAY[1000])")
	}
	s.t.Fatalf("column %+v", c)
	return ""
}

// text returns a text that such a column might have.
func (s *series) text(c column) string {
	switch c.name {
	case "kind":
		return []string{"url", "prefix", "host", "tag", "all", "none"}[s.random.IntN(6)]
	case "trait":
		return []string{"negotiates", "render", "rejects", "none"}[s.random.IntN(4)]
	case "url", "value":
		urls := []string{"https://a.test/", "http://localhost/", "x", "https://work.test/0/1", "file:///etc/passwd"}
		return urls[s.random.IntN(len(urls))]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(s.some(1+s.random.IntN(300))), "\x00", ""), "?")
}

func (s *series) some(n int) []byte {
	b := make([]byte, n)
	_, _ = s.bytes.Read(b) // it never fails
	return b
}

// changeObject changes an object, or removes it.
func (s *series) changeObject() {
	files := s.bucket.Objects()
	if len(files) == 0 {
		return
	}
	file := files[s.random.IntN(len(files))]
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	switch s.random.IntN(7) {
	case 0:
		if err := os.Remove(file); err != nil {
			s.t.Fatal(err)
		}
		return
	case 1:
		text = text[:len(text)/2]
	case 2:
		text = append(text, text...)
	case 3:
		text = s.some(1 + s.random.IntN(100_000))
	case 4:
		if len(text) > 0 {
			text[s.random.IntN(len(text))] ^= byte(1 + s.random.IntN(255))
		}
	case 5:
		text = make([]byte, 2<<20)
	case 6:
		other, err := os.ReadFile(files[s.random.IntN(len(files))])
		if err != nil {
			s.t.Fatal(err)
		}
		text = other
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// check has something new on each node come to all.
func (s *series) check(round int) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Logf("round %d; away: %v", round, s.away.all())
			for _, n := range s.nodes {
				s.t.Logf("%+v", n.Status())
			}
		}
	}()
	for i, n := range s.nodes {
		url := fmt.Sprintf("https://check.test/%d/%d", round, i)
		s.read(n, url, "# New "+url)
		s.read(n, url+"/large", large("new "+url))
		n.keep(url, "# Response "+url, 1)
		await(s.t, url, "# New "+url, s.nodes...)
		await(s.t, url+"/large", large("new "+url), s.nodes...)
		s.nodes[(i+1)%3].gets(url, "# Response "+url)
	}
	for _, n := range s.nodes {
		n.awaitState(fleet.Connected)
		list, _, err := n.store.Pages(store.PageQuery{Limit: 10_000})
		if err != nil {
			s.t.Fatal(err)
		}
		for i := range list {
			if md := n.has(list[i].NormalizedURL); !s.known[md] {
				s.t.Errorf("%s has %.100q of %s, which nobody read", n.Status().Node, md, list[i].NormalizedURL)
			}
		}
	}
	if now, list := fault.Caught(); now != s.faults {
		s.t.Errorf("%d panics, the last: %+v", now-s.faults, list[len(list)-1])
	}
	if away := s.away.all(); len(away) > 0 {
		s.t.Errorf("nodes were without the fleet: %v", away)
	}
}

// awayLog notes why nodes were without the fleet.
type awayLog struct {
	mu   sync.Mutex
	list []string
}

// Enabled implements [slog.Handler].
func (*awayLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (l *awayLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += fmt.Sprintf(" %s", a); return true })
	if !strings.Contains(text, "is away") || strings.Contains(text, "older copy of it") {
		return nil // a row that a node wrote last is gone: to the node, this is another database
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, text)
	return nil
}

// WithAttrs implements [slog.Handler].
func (l *awayLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements [slog.Handler].
func (l *awayLog) WithGroup(string) slog.Handler { return l }

func (l *awayLog) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list
}
