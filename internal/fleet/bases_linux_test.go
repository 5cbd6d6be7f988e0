package fleet_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// library is a node's knowledge bases, and what the fleet has the node do with them.
type library struct {
	*knowledge.Knowledge
	offline atomic.Bool // it may not go on with bases
	held    atomic.Bool // it wanted to, and was told so
	mu      sync.Mutex
	filled  []string // bases that the node was told to fill
	stopped []string // and those that it was told to leave, with why
}

func (l *library) MayFill(knowledge.Base) bool {
	offline := l.offline.Load()
	l.held.Store(l.held.Load() || offline)
	return !offline
}

func (l *library) Fill(base string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.filled = append(l.filled, base)
	return nil
}

func (l *library) StopFilling(base string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = append(l.stopped, base+": "+why.Error())
}

// told returns what the node was told to fill and to leave.
func (l *library) told() (filled, stopped []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.filled), slices.Clone(l.stopped)
}

// joinWithBases is join with knowledge bases, and leases that outlast what a test does to the database.
func joinWithBases(t *testing.T, url, name string) *node {
	t.Helper()
	return joinFor(t, url, name, time.Hour)
}

// joinFor is joinWithBases with a time for leases. It returns when the node has joined.
func joinFor(t *testing.T, url, name string, lease time.Duration) *node {
	t.Helper()
	n := &node{t: t, store: opened(t), wait: 10 * time.Second, lease: lease}
	n.openBases(t)
	n.begin(url, name)
	n.awaitState("ok")
	return n
}

// openBases gives a node that does not take part yet knowledge bases.
func (n *node) openBases(t *testing.T) {
	t.Helper()
	k, err := knowledge.Open(knowledge.Options{Store: n.store})
	if err != nil {
		t.Fatal(err)
	}
	n.library = &library{Knowledge: k}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := k.Run(ctx); err != nil {
			t.Errorf("index: %v", err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
}

// twoWithABase has two nodes join a fleet, of which the first one fills the base docs and has told its first pages.
func twoWithABase(
	t *testing.T, urlA, urlB string, lease time.Duration, pages int,
) (a, b *node, build *knowledge.Build) {
	t.Helper()
	a, b = joinFor(t, urlA, "a", lease), joinFor(t, urlB, "b", lease)
	t.Cleanup(func() {
		if t.Failed() {
			told, stopped := a.told()
			t.Logf("a: %s, outbox %d, told %v, was told to leave %v", a.baseState("docs"), a.Status().Outbox, told, stopped)
		}
	})
	build = a.startBase("docs")
	a.crawl(build, "docs", 0, pages)
	awaitBase(t, "docs", fmt.Sprintf("%d documents, not filled, building", pages), b)
	eventually.True(t, "b has all steps, which are told after their documents", func() bool {
		base := slices.IndexFunc(b.SharedBases(), func(s knowledge.SharedBase) bool { return s.Name == "docs" })
		round, _, err := b.Progress(b.SharedBases()[base], nil, 0)
		return err == nil && len(round.Steps) == pages
	})
	return a, b, build
}

// startBase makes a base that is filled from a site, and begins to fill it.
func (n *node) startBase(name string) *knowledge.Build {
	n.t.Helper()
	eventually.True(n.t, "the node has joined", func() bool { return n.store.FleetPosition().VisitsFrom > 0 })
	_, err := n.CreateBase(knowledge.Base{
		Name: name, Description: "All of " + name, Source: knowledge.SourceCrawl, URL: "https://a.test/" + name + "/",
		Service: "local",
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return n.build(name)
}

// build begins to fill a base, if the node may do that.
func (n *node) build(name string) *knowledge.Build {
	n.t.Helper()
	if err := n.BeginFilling(n.t.Context(), name); err != nil {
		n.t.Fatal(err)
	}
	b, err := n.Build(name)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(b.Close)
	return b
}

// crawl adds pages to a base, with a step of the crawl for each.
func (n *node) crawl(b *knowledge.Build, name string, from, to int) {
	n.t.Helper()
	for i := from; i < to; i++ {
		url := fmt.Sprintf("https://a.test/%s/%d", name, i)
		n.read(url, fmt.Sprintf("# Page %d of %s", i, name), 0)
		if err := b.Add(n.t.Context(), knowledge.Document{Key: page.KeyOf(url)}); err != nil {
			n.t.Fatal(err)
		}
		if err := b.CrawlLog().Save([]byte(fmt.Sprintf(`{"step":%d}`, i))); err != nil {
			n.t.Fatal(err)
		}
	}
}

// baseState returns a base of a node as text: how many documents it has, and whether it was and is being filled.
// awaitFilling waits until the node was told to fill a base.
func (n *node) awaitFilling(name string) {
	n.t.Helper()
	eventually.True(n.t, n.Status().Node+" is told to fill "+name, func() bool {
		filled, _ := n.told()
		return slices.Contains(filled, name)
	})
}

func (n *node) baseState(name string) string {
	b, err := n.Base(name)
	if err != nil {
		return "none"
	}
	s := fmt.Sprintf("%d documents", b.Documents)
	if b.Generation == 0 {
		s += ", not filled"
	}
	if b.Building {
		s += ", building"
	}
	if b.Paused {
		s += ", paused"
	}
	return s
}

func awaitBase(t *testing.T, name, want string, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		got := ""
		defer func() {
			if t.Failed() {
				list, _, err := n.Documents(name, "", 0)
				t.Logf("%s: %s: %+v, %v", n.Status().Node, got, list, err)
				base, _ := n.SharedBase(name)
				t.Logf("%s: %+v, %+v", n.Status().Node, base, n.Status())
			}
		}()
		eventually.True(t, n.Status().Node+" has "+name+": "+want, func() bool {
			got = n.baseState(name)
			return got == want
		})
	}
}

func TestABaseOfOneNodeIsABaseOfAll(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a, b, build := twoWithABase(t, server.URL, server.URL, time.Hour, 3)
	if err := b.BeginFilling(t.Context(), "docs"); !errors.Is(err, knowledge.ErrBuilding) ||
		!strings.Contains(err.Error(), "node a") {
		t.Errorf("b begins to fill what a fills: %v", err)
	}
	crawling := func() (list []string) {
		nodes, err := b.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes {
			list = append(list, n.Name+": "+strings.Join(n.Crawls, " "))
		}
		return list
	}
	if got := crawling(); !slices.Equal(got, []string{"a: docs", "b: "}) {
		t.Errorf("the crawls of the nodes are %q", got)
	}
	a.crawl(build, "docs", 3, 5)
	if _, err := build.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "docs", "5 documents", a, b)
	if got := crawling(); !slices.Equal(got, []string{"a: ", "b: "}) {
		t.Errorf("after the crawl those of the nodes are %q", got)
	}
	got, err := b.Base("docs")
	if err != nil || got.Description != "All of docs" || got.URL != "https://a.test/docs/" || got.LastCrawl.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	eventually.True(t, "b finds a page in the base", func() bool {
		r, err := b.Search(t.Context(), knowledge.Query{Text: "page of docs", KB: "docs", Limit: 10})
		return err == nil && len(r.Hits) == 5
	})

	// Another node fills it again, with other pages. The old pages go where that is decided.
	again := b.build("docs")
	b.crawl(again, "docs", 4, 8)
	if _, err := again.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "docs", "4 documents", a, b)
	await(t, "https://a.test/docs/0", "nothing", a, b)
	await(t, "https://a.test/docs/5", "# Page 5 of docs", a, b)

	// One that comes later has it, and what one deletes is gone everywhere, whoever was away.
	c := joinWithBases(t, server.URL, "c")
	awaitBase(t, "docs", "4 documents", c)
	c.stop()
	if _, err := a.DeleteBase(t.Context(), "docs"); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "docs", "none", b)
	build = a.startBase("docs")
	a.crawl(build, "docs", 10, 12)
	awaitBase(t, "docs", "2 documents, not filled, building", b)
	c.begin(server.URL, "c")
	awaitBase(t, "docs", "2 documents, not filled, building", c)
	if filled, stopped := b.told(); len(filled)+len(stopped) != 0 {
		t.Errorf("b was told to fill %v and to leave %v", filled, stopped)
	}
}

// steps returns what the crawl of a build has noted.
func steps(t *testing.T, b *knowledge.Build) (list []string) {
	t.Helper()
	if err := b.CrawlLog().Load(func(step []byte) error { list = append(list, string(step)); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestABaseIsDeletedEverywhereAfterAFailover has nodes meet their database as another one, as after a failover. One of
// them has joined after the base was made.
func TestABaseIsDeletedEverywhereAfterAFailover(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a := joinWithBases(t, server.URL, "a")
	build := a.startBase("docs")
	a.crawl(build, "docs", 0, 2)
	if _, err := build.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := joinWithBases(t, server.URL, "b")
	awaitBase(t, "docs", "2 documents", b)
	nodes := []*node{a, b}
	var before []string
	for _, n := range nodes {
		before = append(before, n.store.FleetPosition().Database)
	}
	server.Exec("UPDATE readthru.fleet SET id = gen_random_uuid()")
	for i, n := range nodes {
		eventually.True(t, n.Status().Node+" knows again that its base is told", func() bool {
			base, ok := n.SharedBase("docs")
			return n.store.FleetPosition().Database != before[i] && ok && base.Told
		})
	}
	if _, err := b.DeleteBase(t.Context(), "docs"); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "docs", "none", a)
	if got := b.baseState("docs"); got != "none" {
		t.Errorf("b has %s again", got)
	}
}

// recordOf returns the record of a base as another node tells it.
func recordOf(name string) string {
	return fmt.Sprintf(`{"id":"0123456789abcdef","name":%q,"source_type":"crawl","url":"https://a.test/",`+
		`"service":"local","limit":10}`, name)
}

// TestRecordsThatAreNoBasesStayAway writes into the database what no node would.
func TestRecordsThatAreNoBasesStayAway(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a := joinWithBases(t, server.URL, "a")
	records := map[string]string{
		"json":   "{",
		"other":  recordOf("another"),
		"file":   strings.Replace(recordOf("file"), `"crawl"`, `"file"`, 1),
		"secret": strings.Replace(recordOf("secret"), "https://a.test/", "https://ann:word@a.test/", 1),
		"near":   strings.Replace(recordOf("near"), "https://a.test/", "http://127.0.0.1:7888/", 1),
		"away":   strings.Replace(recordOf("away"), "local", "firecrawl", 1),
		"long":   strings.Replace(recordOf("long"), "https://a.test/", "https://a.test/"+strings.Repeat("x", 100_000), 1),
		"../up":  recordOf("../up"),
		"good":   recordOf("good"),
		"zero":   recordOf("zero"),
		"noid":   recordOf("noid"),
		"local":  recordOf("local"),
	}
	own, err := a.CreateBase(knowledge.Base{Name: "own"})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{
		"good": "0123456789abcdef", "zero": "0000000000000000", "noid": "0123456789ABCDEF", "local": own.ID,
	}
	for i, name := range slices.Sorted(maps.Keys(records)) {
		id := cmp.Or(ids[name], fmt.Sprintf("%016x", i+1))
		record := strings.Replace(records[name], "0123456789abcdef", id, 1)
		server.Exec(`INSERT INTO readthru.bases (name, id, record, filled, filled_rounds, last)
			VALUES ($1, $2, $3, 1, 1, 1)`, name, id, record)
	}
	server.Exec(`INSERT INTO readthru.rounds (base, filling, n, content) VALUES ('0123456789abcdef', 1, 0, $1)`,
		`{"members":[{"u":"https://a.test/one","h":"00"},{"u":"http://127.0.0.1/","h":"00"},{"u":"nothing"}]}`)
	awaitBase(t, "good", "1 documents", a)
	eventually.True(t, "the others are refused", func() bool { return a.Status().Refused == 13 })
	if list := a.Bases(); len(list) != 2 {
		t.Errorf("%+v", list)
	}
}

// TestABaseWhoseIDIsTakenStaysHere has the database know an id before the node tells of its base.
func TestABaseWhoseIDIsTakenStaysHere(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a := joinWithBases(t, server.URL, "a")
	a.stop()
	a.crawl(a.startBase("own"), "own", 0, 1)
	own, err := a.Base("own")
	if err != nil {
		t.Fatal(err)
	}
	server.Exec("INSERT INTO readthru.bases (name, id, record) VALUES ('other', $1, '{}')", own.ID)
	a.begin(server.URL, "a")
	a.crawl(a.startBase("next"), "next", 0, 1)
	awaitBase(t, "next", "1 documents, not filled, building", joinWithBases(t, server.URL, "b"))
	if base, ok := a.SharedBase("own"); !ok || base.Told || a.Status().State != "ok" {
		t.Errorf("%+v, %+v", base, a.Status())
	}
}

// TestAQuestionAboutABaseIsAnsweredAtOnce asks for bases that the node cannot have the lease of.
func TestAQuestionAboutABaseIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a := joinWithBases(t, server.URL, "a")
	a.stop()
	if _, err := a.CreateBase(knowledge.Base{
		Name: "taken", Source: knowledge.SourceCrawl, URL: "https://a.test/", Service: "local",
	}); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"taken", "lacking", "damaged"} {
		id := fmt.Sprintf("%016x", i+1)
		server.Exec("INSERT INTO readthru.bases (name, id, record, filling, rounds, last) VALUES ($1, $2, $3, 1, 2, 1)", name,
			id, strings.Replace(recordOf(name), "0123456789abcdef", id, 1))
		server.Exec("INSERT INTO readthru.rounds (base, filling, n, content) VALUES ($1, 1, 0, $2)", id,
			map[bool]string{true: "{", false: "{}"}[name == "damaged"])
	}
	a.begin(server.URL, "a")
	a.awaitState("ok")
	awaitBase(t, "lacking", "0 documents, not filled, building", a)
	eventually.True(t, "a base is refused", func() bool { return a.Status().Refused == 1 })
	for name, want := range map[string]error{"taken": nil, "lacking": knowledge.ErrBuilding, "damaged": nil} {
		// A question that nobody answers ends after two seconds, without an error.
		eventually.True(t, name+" is answered before that", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			err := a.BeginFilling(ctx, name)
			if ctx.Err() != nil {
				return false // a busy machine is late without being wrong
			}
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
			return true
		})
	}
	eventually.True(t, "a has no leases", func() bool {
		return server.Number("SELECT count(*) FROM readthru.leases WHERE until > clock_timestamp()") == 0
	})
}
