package fleet_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// visit counts deliveries of a page on a node.
func (n *node) visit(url, user string, ago time.Duration, times int64) {
	v := store.Visit{
		URL: url, User: user, Session: "s", Agent: "agent/1", Source: page.Local, Tokens: 10, HTMLTokens: 100,
		Time: time.Now().Add(-ago), Count: times,
	}
	if times == 1 {
		v.Count = 0
	}
	n.store.AddVisit(page.KeyOf(url), v)
}

// visits returns how often each node delivered each page, by the fleet's account.
func (n *node) visits(q store.VisitQuery) map[string]int64 {
	n.t.Helper()
	sums := map[string]int64{}
	for pages := 0; ; pages++ {
		list, next, err := n.Visits(n.t.Context(), q)
		if err != nil || pages > 1000 {
			n.t.Fatalf("visits: %v, %d parts", err, pages)
		}
		for i, v := range list {
			sums[v.Node+" "+v.URL] += max(v.Count, 1)
			if i > 0 && v.Time.After(list[i-1].Time) {
				n.t.Errorf("visit %s of %s comes after that of %s", v.ID, v.Time, list[i-1].Time)
			}
		}
		if q.Cursor = next; next == "" {
			return sums
		}
	}
}

func TestVisitsOfAllNodesAddUp(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b", "c")
	want := map[string]int64{}
	add := func(n *node, name string, rounds int) {
		for i := range rounds {
			url := fmt.Sprintf("https://%c.test/%d", 'a'+i%5, i%7)
			n.visit(url, "", 0, int64(1+i%3))
			want[name+" "+url] += int64(1 + i%3)
		}
	}
	names := []string{"a", "b", "c"}
	for i, n := range all {
		add(n, names[i], 1000)
	}
	all[0].visit("http://127.0.0.1:8080/private", "", 0, 1)
	all[0].visit("https://a.test/?token=hunter2-hunter2", "", 0, 1)
	added := func() bool { return maps.Equal(all[2].visits(store.VisitQuery{Limit: 500}), want) }
	eventually.True(t, "all visits are told", added)

	// While the database is away they wait. One that comes late to disk is told all the same.
	server.Kill()
	all[1].awaitState(fleet.Disconnected)
	add(all[1], "b", 300)
	all[1].visit("https://late.test/", "", 3*time.Second, 1)
	want["b https://late.test/"]++
	if _, _, err := all[1].Visits(t.Context(), store.VisitQuery{}); err == nil {
		t.Error("the visits of all nodes are known without the database")
	}
	server.Begin()
	eventually.True(t, "all visits are told again", added)

	// A node that starts again tells none twice.
	all[1].stop()
	all[1].begin(server.URL, "b")
	all[1].awaitState(fleet.Connected)
	add(all[1], "b", 10)
	eventually.True(t, "visits after a new start are told", added)
}

func TestVisitsAreSelectedAndForgotten(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	const one, two = "https://a.test/one", "https://a.test/two"
	a.read(one, "# One", 0)
	await(t, one, "# One", a, b)
	a.visit(one, "ann", 0, 1)
	b.visit(one, "bob", 0, 2)
	b.visit(two, "ann", 0, 4)
	a.visit("https://a.test/eve", "eve\x00", 0, 8)
	for _, tt := range []struct {
		name string
		q    store.VisitQuery
		want int64
	}{
		{"all, in parts of one", store.VisitQuery{Limit: 1}, 15},
		{"of a page", store.VisitQuery{Page: new(page.KeyOf(one))}, 3},
		{"of a user", store.VisitQuery{User: "ann"}, 5},
		{"of a user and a page", store.VisitQuery{User: "ann", Page: new(page.KeyOf(one))}, 1},
		{"of a session", store.VisitQuery{Session: "s"}, 15},
		{"of another session", store.VisitQuery{Session: "x"}, 0},
	} {
		eventually.True(t, tt.name, func() bool {
			var sum int64
			for _, n := range a.visits(tt.q) {
				sum += n
			}
			return sum == tt.want
		})
	}
	for _, bad := range []string{"x", "%", strings.Repeat("a", 1000)} {
		if _, _, err := a.Visits(t.Context(), store.VisitQuery{Cursor: bad}); !errors.Is(err, store.ErrCursor) {
			t.Errorf("cursor %.10q: %v", bad, err)
		}
	}
	if err := b.store.DeletePage(page.KeyOf(one)); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the visits of a deleted page are gone", func() bool {
		return len(a.visits(store.VisitQuery{Page: new(page.KeyOf(one))})) == 0
	})
}
