package fleet_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// TestANodeThatReturnsLateLeavesItsCrawlToAnother cuts off a node that fills a base, until another one fills it.
func TestANodeThatReturnsLateLeavesItsCrawlToAnother(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	relay := server.Relay(t)
	a, b, alone := twoWithABase(t, relay.URL, server.URL, 3*time.Second, 3)
	relay.Cut()
	a.crawl(alone, "docs", 3, 6)
	b.awaitFilling("docs")
	build := b.build("docs")
	if got := steps(t, build); !build.Resumed() || !slices.Equal(got, []string{`{"step":0}`, `{"step":1}`, `{"step":2}`}) {
		t.Errorf("b goes on after %v", got)
	}
	b.crawl(build, "docs", 3, 5)
	relay.Heal()
	eventually.True(t, "a is told to leave the base", func() bool {
		_, stopped := a.told()
		return slices.Contains(stopped, "docs: node b of the fleet fills docs just now")
	})
	alone.Close()
	awaitBase(t, "docs", "5 documents, not filled, building", a, b)
	if _, err := build.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "docs", "5 documents", a, b)
	await(t, "https://a.test/docs/5", "# Page 5 of docs", a, b) // which is in no base
	if filled, _ := a.told(); len(filled) != 0 {
		t.Errorf("a was told to fill %v", filled)
	}
}

func TestABaseThatIsFilledWithoutTheDatabaseIsToldLater(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a, b, first := twoWithABase(t, server.URL, server.URL, time.Hour, 2)
	server.Kill()
	a.crawl(first, "docs", 2, 4)
	if _, err := first.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := a.startBase("second")
	a.crawl(second, "second", 0, 3)
	server.Begin()
	awaitBase(t, "docs", "4 documents", a, b)
	awaitBase(t, "second", "3 documents, not filled, building", a, b)

	// What is given up is given up everywhere, and what waits does.
	if err := second.Pause(); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "second", "3 documents, not filled, building, paused", a, b)
	again := b.build("docs")
	b.crawl(again, "docs", 7, 8)
	awaitBase(t, "docs", "4 documents, building", a)
	if err := again.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "docs", "4 documents", a, b)
	second = b.build("second")
	if len(steps(t, second)) != 3 || second.Len() != 3 {
		t.Errorf("b goes on with %d pages", second.Len())
	}
	if _, err := second.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "second", "3 documents", a, b)
}

// TestALeaseOutlastsABacklog has a node tell of pages for longer than a lease is valid.
func TestALeaseOutlastsABacklog(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	relay := server.Relay(t)
	const lease = 15 * time.Second // many times what a batch takes, for machines with other things to do
	a, b, build := twoWithABase(t, relay.URL, server.URL, lease, 2)
	relay.Slow(150 * time.Millisecond)
	began, read := time.Now(), 0
	eventually.True(t, "a has told of pages for longer than a lease", func() bool {
		if time.Since(began) > lease+3*time.Second {
			return a.Status().Outbox == 0
		}
		for a.Status().Outbox < 500 {
			a.read(fmt.Sprintf("https://b.test/%d", read), "# A page", 0)
			read++
		}
		return false
	})
	if filled, _ := b.told(); len(filled) != 0 {
		t.Fatalf("b was told to fill %v", filled)
	}
	relay.Heal()
	a.crawl(build, "docs", 2, 3)
	awaitBase(t, "docs", "3 documents, not filled, building", a, b)
	if _, stopped := a.told(); len(stopped) != 0 {
		t.Errorf("a was told to leave %v", stopped)
	}
}

func TestNoNodeGoesOnWithABaseWhileItIsOffline(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a, b, build := twoWithABase(t, server.URL, server.URL, 2*time.Second, 2)
	a.offline.Store(true)
	b.offline.Store(true)
	a.crawl(build, "docs", 2, 3)
	build.Close()
	awaitBase(t, "docs", "3 documents, not filled, building", b)
	eventually.True(t, "either has had a lease", func() bool { return a.held.Load() && b.held.Load() })
	for _, n := range []*node{a, b} {
		if filled, _ := n.told(); len(filled) != 0 {
			t.Errorf("%s was told to fill %v", n.Status().Node, filled)
		}
	}
	b.offline.Store(false)
	b.awaitFilling("docs")
	if got := steps(t, b.build("docs")); len(got) != 3 {
		t.Errorf("b goes on after %v", got)
	}
	if filled, _ := a.told(); len(filled) != 0 {
		t.Errorf("a was told to fill %v", filled)
	}
}

// TestATellingWhoseAnswerWasLostIsRead has the database know a round of a node that does not know that it told it.
func TestATellingWhoseAnswerWasLostIsRead(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a, b, build := twoWithABase(t, server.URL, server.URL, time.Hour, 2)
	server.Exec(`WITH base AS (UPDATE readthru.bases SET rounds = rounds + 1, xid = pg_current_xact_id() RETURNING *)
		INSERT INTO readthru.rounds (base, filling, n, content) SELECT id, filling, rounds - 1, '{}' FROM base`)
	a.crawl(build, "docs", 2, 4)
	awaitBase(t, "docs", "4 documents, not filled, building", b)
	if _, err := build.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "docs", "4 documents", a, b)
	if _, stopped := a.told(); len(stopped) != 0 {
		t.Errorf("a was told to leave %v", stopped)
	}
}

// TestRoundsThatAreMissingAreWaitedFor has the database lack the last one of many rounds.
func TestRoundsThatAreMissingAreWaitedFor(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a := joinWithBases(t, server.URL, "a")
	const rounds = 120
	add := func(n int) {
		server.Exec("INSERT INTO readthru.rounds (base, filling, n, content) VALUES ('0123456789abcdef', 1, $1, $2)", n,
			fmt.Sprintf(`{"members":[{"u":"https://a.test/%d","h":"00"}]}`, n))
	}
	for n := range rounds - 1 {
		add(n)
	}
	server.Exec(`INSERT INTO readthru.bases (name, id, record, filling, rounds, last)
		VALUES ('docs', '0123456789abcdef', $1, 1, $2, 1)`, recordOf("docs"), rounds)
	awaitBase(t, "docs", "119 documents, not filled, building", a)
	add(rounds - 1)
	awaitBase(t, "docs", "120 documents, not filled, building", a)
	if n := a.Status().Refused; n != 0 {
		t.Errorf("%d refused", n)
	}
}

// TestARoundThatIsNoneEndsTheTelling damages what a node has told of a base, and has it read that again.
func TestARoundThatIsNoneEndsTheTelling(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a := joinWithBases(t, server.URL, "a")
	build := a.startBase("docs")
	a.crawl(build, "docs", 0, 2)
	eventually.True(t, "the base is told", func() bool {
		b, _ := a.SharedBase("docs")
		return b.Filling.Rounds > 0 && a.Status().Outbox == 0
	})
	a.stop()
	server.Exec("UPDATE readthru.rounds SET content = '{' WHERE n = 0")
	before := server.Count("rounds")
	a.begin(server.URL, "a")
	eventually.True(t, "the base is refused", func() bool { return a.Status().Refused == 1 })
	eventually.True(t, "the lease is given back", func() bool {
		return server.Number("SELECT count(*) FROM readthru.leases WHERE until > clock_timestamp()") == 0
	})
	a.crawl(build, "docs", 2, 3)
	eventually.True(t, "the page is told", func() bool { return a.Status().Outbox == 0 })
	if n := server.Count("rounds"); n != before || a.Status().Refused != 1 {
		t.Errorf("%d rounds after %d, %d refused", n, before, a.Status().Refused)
	}
}

// TestABaseThatNoNodeCanFillWaits has a node take over a base that killed some, none of which told anything.
func TestABaseThatNoNodeCanFillWaits(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	relay := server.Relay(t)
	a, b, lost := twoWithABase(t, relay.URL, server.URL, 2*time.Second, 2)
	relay.Cut()
	server.Exec("UPDATE readthru.leases SET taken = 2")
	b.awaitFilling("docs")
	server.Exec("UPDATE readthru.leases SET taken = 3, node = 'c', epoch = epoch + 1")
	awaitBase(t, "docs", "2 documents, not filled, building, paused", b)
	if n := server.Count("leases WHERE until > now()"); n != 0 {
		t.Errorf("%d nodes fill a base that waits", n)
	}
	build := b.build("docs") // somebody asks for it
	b.crawl(build, "docs", 2, 3)
	awaitBase(t, "docs", "3 documents, not filled, building", b)
	if _, err := build.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	relay.Heal()
	eventually.True(t, "a is told to leave the base", func() bool { _, stopped := a.told(); return len(stopped) > 0 })
	lost.Close()
	awaitBase(t, "docs", "3 documents", a, b)
}
