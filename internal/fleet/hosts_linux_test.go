package fleet_test

import (
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/store"
)

// learns has a node learn at a time that a trait is a host's, for everybody.
func (n *node) learns(host string, t store.Trait, at time.Time) {
	n.t.Helper()
	for _, page := range []string{"/1", "/2", "/3"} { // enough cases for each trait
		if _, _, err := n.store.Learn(host, t, "", page, at); err != nil {
			n.t.Fatal(err)
		}
	}
}

func (n *node) knows(host string, t store.Trait) bool {
	n.t.Helper()
	h, err := n.store.Host(host)
	if err != nil {
		n.t.Fatal(err)
	}
	return h.Knows(t, time.Now())
}

// awaitTrait waits until nodes know a trait of a host, or no longer.
func awaitTrait(t *testing.T, host string, trait store.Trait, is bool, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		eventually.True(t, n.Status().Node+" learns of "+host, func() bool { return n.knows(host, trait) == is })
	}
}

func TestWhatOneNodeLearnsAboutAHostAllKnow(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	before := &node{t: t, store: opened(t), wait: 10 * time.Second}
	before.learns("before.test", store.Negotiates, time.Now().Add(-time.Hour)) // it is in no fleet yet
	before.begin(server.URL, "a")
	all := append(nodes(t, server.URL, "b", "c"), before)
	b, c, a := all[0], all[1], all[2]
	a.awaitState(fleet.Connected)

	a.learns("docs.test", store.Negotiates, time.Now())
	a.learns("app.test:8443", store.NeedsBrowser, time.Now())
	a.learns("127.0.0.1", store.Negotiates, time.Now())
	if _, _, err := a.store.Learn("bank.test", store.RejectsCA, "curl", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	awaitTrait(t, "docs.test", store.Negotiates, true, b, c)
	awaitTrait(t, "app.test:8443", store.NeedsBrowser, true, b, c)

	// One that no longer holds ends everywhere, and what is learnt after that holds again.
	if _, err := b.store.Forget("docs.test", time.Now(), func(store.Fact) bool { return true }); err != nil {
		t.Fatal(err)
	}
	awaitTrait(t, "docs.test", store.Negotiates, false, a, c)
	c.learns("docs.test", store.Negotiates, time.Now())
	awaitTrait(t, "docs.test", store.Negotiates, true, a, b)

	// A node that comes later gets all, but for what stays where it was learnt.
	d := nodes(t, server.URL, "d")[0]
	awaitTrait(t, "docs.test", store.Negotiates, true, d)
	awaitTrait(t, "app.test:8443", store.NeedsBrowser, true, d)
	for _, host := range []string{"before.test", "127.0.0.1", "bank.test"} {
		if h, err := d.store.Host(host); err != nil || len(h.Facts) > 0 {
			t.Errorf("%s was shared: %+v, %v", host, h, err)
		}
	}
	if n := server.Count("hosts"); n != 2 {
		t.Errorf("%d things were told, want 2", n)
	}
}

func TestWhatHoldsNoLongerIsToldAfterTheDatabaseWasAway(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	a.learns("docs.test", store.Negotiates, time.Now())
	awaitTrait(t, "docs.test", store.Negotiates, true, b)
	server.Kill()
	a.awaitState(fleet.Disconnected)
	if _, err := a.store.Forget("docs.test", time.Now(), func(store.Fact) bool { return true }); err != nil {
		t.Fatal(err)
	}
	a.learns("new.test", store.Negotiates, time.Now())
	server.Begin()
	awaitTrait(t, "docs.test", store.Negotiates, false, b)
	awaitTrait(t, "new.test", store.Negotiates, true, b)
}

func TestANodeTakesNothingAboutHostsThatItCouldNotHaveLearnt(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	n := nodes(t, server.URL, "a")[0]
	for _, row := range []string{
		"'unknown.test', 'likes-cats', now(), now() + interval '1 day', 1, false",
		"'tunnel.test', 'rejects-ca', now(), now() + interval '1 hour', 1, false",
		"'ahead.test', 'negotiates', now() + interval '1 hour', now() + interval '2 hours', 1, false",
		"'ended.test', 'negotiates', now() - interval '2 days', now() - interval '1 day', 1, false",
		"'ever.test', 'negotiates', now(), now() + interval '400 days', 1, false",
		"'never.test', 'negotiates', now(), now() + interval '1 day', -1, false",
		"'no host', 'negotiates', now(), now() + interval '1 day', 1, false",
		"'UPPER.test', 'negotiates', now(), now() + interval '1 day', 1, false",
		"'localhost', 'negotiates', now(), now() + interval '1 day', 1, false",
		"'', 'negotiates', now(), now() + interval '1 day', 1, false",
		"'', 'markdown-off', now(), now() + interval '1 day', 1, true",
		"'last.test', 'negotiates', now(), now() + interval '1 day', 1, false",
	} {
		server.Exec("INSERT INTO readthru.hosts (host, trait, at, until, times, gone) VALUES (" +
			row + ")")
	}
	awaitTrait(t, "last.test", store.Negotiates, true, n)
	if err := n.store.Hosts(func(name string, h store.Host) bool {
		if name != "last.test" {
			t.Errorf("the node took over %s: %+v", name, h)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}
