package fleet_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// hash is one of a token that nobody knows.
const hash = "pbkdf2-sha256$600000$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// member returns a user with a token.
func member(name, token string) users.User {
	return users.User{
		Name: name, ID: "the id of " + name, Made: start, Changed: start, Role: users.Read,
		Tokens: []users.Token{{ID: token, Hash: hash, Scopes: []string{users.ScopeProxy}, Made: start}},
	}
}

// change changes a user of a node, or makes one.
func (n *node) change(name string, change func(*users.User)) {
	n.t.Helper()
	err := n.store.ChangeUsers(time.Now(), func(all *store.Users) error {
		all.Closed = true
		for i := range all.List {
			if u := &all.List[i]; u.Name == name {
				u.Changed = u.Changed.Add(time.Second)
				change(u)
				return nil
			}
		}
		u := member(name, "0123456789ab")
		change(&u)
		all.List = append(all.List, u)
		return nil
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

// user returns a user of a node; zero if there is none.
func (n *node) user(name string) users.User {
	for _, u := range n.store.Users().List {
		if u.Name == name {
			return u
		}
	}
	return users.User{}
}

func TestUsersOfOneNodeAreUsersOfAll(t *testing.T) {
	server := fleettest.Start(t)
	a, b := join(t, server.URL, "a"), join(t, server.URL, "b")
	a.awaitState("ok")
	b.awaitState("ok")
	if b.store.Users().Closed {
		t.Error("without users a node is closed")
	}
	a.change("ann", func(*users.User) {})
	eventually.True(t, "b knows ann", func() bool { return b.user("ann").Role == users.Read && b.store.Users().Closed })
	b.change("ann", func(u *users.User) { u.Role = users.Admin })
	eventually.True(t, "a knows ann's role", func() bool { return a.user("ann").Role == users.Admin })
	a.change("ann", func(u *users.User) { u.Revoked, u.Tokens = []string{u.Tokens[0].ID}, nil })
	eventually.True(t, "b knows that the token is revoked", func() bool { return len(b.user("ann").Tokens) == 0 })
	b.change("ann", func(u *users.User) { u.Gone = true })
	eventually.True(t, "a knows that ann is gone", func() bool { return a.user("ann").Gone })

	// One that comes later learns all, and one that was away tells what it did meanwhile.
	a.change("bob", func(*users.User) {})
	eventually.True(t, "b knows bob", func() bool { return b.user("bob").Name != "" })
	b.stop()
	b.change("bob", func(u *users.User) { u.Gone = true })
	c := join(t, server.URL, "c")
	eventually.True(t, "c knows bob, and that ann is gone", func() bool {
		return c.user("bob").Name != "" && c.user("ann").Gone
	})
	b.begin(server.URL, "b")
	eventually.True(t, "bob is gone everywhere", func() bool { return a.user("bob").Gone && c.user("bob").Gone })
}

// TestARevocationOutlastsWhoeverWritesLast has two nodes that cannot see each other change the same user.
func TestARevocationOutlastsWhoeverWritesLast(t *testing.T) {
	server := fleettest.Start(t)
	a, b := join(t, server.URL, "a"), join(t, server.URL, "b")
	a.change("ann", func(u *users.User) {
		second := u.Tokens[0]
		second.ID = "ba9876543210"
		u.Tokens = append(u.Tokens, second)
	})
	eventually.True(t, "b knows ann", func() bool { return len(b.user("ann").Tokens) == 2 })
	a.stop()
	b.stop()
	a.change("ann", func(u *users.User) { u.Revoked, u.Tokens = []string{u.Tokens[0].ID}, u.Tokens[1:] })
	b.change("ann", func(u *users.User) {
		u.Changed = u.Changed.Add(time.Hour)
		u.Role, u.Limits.TokensPerDay = users.Write, 7
	})
	a.begin(server.URL, "a")
	b.begin(server.URL, "b")
	for _, n := range []*node{a, b} {
		eventually.True(t, "both agree", func() bool {
			u := n.user("ann")
			return u.Role == users.Write && u.Limits.TokensPerDay == 7 && len(u.Tokens) == 1 && len(u.Revoked) == 1
		})
	}
}

// TestRecordsThatAreNoUsersStayAway writes into the database what no node would.
func TestRecordsThatAreNoUsersStayAway(t *testing.T) {
	server := fleettest.Start(t)
	a := join(t, server.URL, "a")
	a.awaitState("ok")
	records := map[string]string{
		"json": "{", "other": `{"name":"another","id":"0123456789","changed":"2026-03-02T00:00:00Z"}`,
	}
	for name, spoil := range map[string]func(*users.User){
		"role": func(u *users.User) { u.Role = "root" },
		"dear": func(u *users.User) { u.Tokens[0].Hash = strings.Replace(hash, "600000", "9999999", 1) },
		"id":   func(u *users.User) { u.ID = "" },
		"long": func(u *users.User) { u.Mode = strings.Repeat("x", 100_000) },
		"gone": func(u *users.User) { u.Gone = true },
		"good": func(*users.User) {},
	} {
		u := member(name, "0123456789ab")
		spoil(&u)
		b, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		records[name] = string(b)
	}
	for name, record := range records {
		server.Exec("INSERT INTO readthru.users (name, changed_at, record) VALUES ($1, now(), $2)", name, record)
	}
	server.Exec("UPDATE readthru.users_edition SET edition = gen_random_uuid()")
	eventually.True(t, "a knows the good one", func() bool { return a.user("good").Name != "" })
	if list := a.store.Users().List; len(list) != 1 {
		t.Errorf("%d users were taken over, want 1: %+v", len(list), list)
	}
	eventually.True(t, "a counts what it refused", func() bool {
		return a.Status().Refused == int64(len(records)-2) // one is too long to be looked at
	})
}

func TestUsageOfAllNodesAddsUp(t *testing.T) {
	server := fleettest.Start(t)
	nodes := []*node{join(t, server.URL, "a"), join(t, server.URL, "b"), join(t, server.URL, "c")}
	now := time.Now()
	today := users.DayOf(now)
	var using sync.WaitGroup
	for i, n := range nodes {
		using.Go(func() {
			for range 50 {
				use := users.PageUse(10, 100)
				use.Requests, use.Bytes = 2, int64(i)
				if err := n.store.AddUse(now, map[string]users.Use{"ann": use, fmt.Sprint("only ", i): use}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	using.Wait()
	for i, n := range nodes {
		eventually.True(t, "all usage is told", func() bool {
			others, err := n.UsesElsewhere(t.Context(), today, today)
			sums := map[string]users.Use{}
			for _, use := range append(others, n.store.Uses(today, today)...) {
				sum := sums[use.User]
				sum.Add(use.Use)
				sums[use.User] = sum
			}
			want := map[string]users.Use{
				"ann": {Requests: 300, Bytes: 150, Pages: 150, Tokens: 1500, HTMLTokens: 15_000, Saved: 13_500},
			}
			for j := range nodes {
				want[fmt.Sprint("only ", j)] = users.Use{
					Requests: 100, Bytes: int64(50 * j), Pages: 50, Tokens: 500, HTMLTokens: 5000, Saved: 4500,
				}
			}
			return err == nil && maps.Equal(sums, want)
		})
		if others, err := n.UsesElsewhere(t.Context(), today-9, today-1); err != nil || len(others) != 0 {
			t.Errorf("node %d, the days before: %v, %+v", i, err, others)
		}
	}
	server.Kill()
	if _, err := nodes[0].UsesElsewhere(t.Context(), today, today); err == nil {
		t.Error("without the database, the usage of others is known")
	}
}

// The row that says which edition the users have is gone: it is made again, and nodes go on.
func TestALostEditionOfTheUsersIsMadeAgain(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	server.Exec("DELETE FROM readthru.users_edition")
	all[0].read("https://a.test/after", "# After", 0)
	await(t, "https://a.test/after", "# After", all...)
	eventually.True(t, "there is an edition", func() bool { return server.Count("users_edition") == 1 })
	for _, n := range all {
		if st := n.Status(); st.State != fleet.Connected {
			t.Errorf("%+v", st)
		}
	}
}

// There are more users than a node keeps. What is too much is set aside, and what comes after arrives.
func TestTooManyUsersHoldUpNothing(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	n := join(t, server.URL, "a")
	n.awaitState(fleet.Connected)
	since := n.Status().Since
	server.Exec(`INSERT INTO readthru.users (name, changed_at, record) SELECT name, now(), json_build_object('name', name,
			'id', name, 'role', 'read', 'made', '2026-01-01T00:00:00Z', 'changed', '2026-01-01T00:00:00Z')
		FROM (SELECT 'user' || i AS name FROM generate_series(10000, 12999) AS i) AS names`)
	server.Exec("UPDATE readthru.users_edition SET edition = gen_random_uuid()")
	n.awaitAside("user", "user12999")
	n.read("https://a.test/after", "# After", 0)
	await(t, "https://a.test/after", "# After", join(t, server.URL, "b"))
	eventually.True(t, "a has told of itself", func() bool { return n.Status().Outbox == 0 })
	if st := n.Status(); st.State != fleet.Connected || !st.Since.Equal(since) || len(n.store.Users().List) != 2000 {
		t.Errorf("%d users; %+v", len(n.store.Users().List), st.SetAside)
	}
}
