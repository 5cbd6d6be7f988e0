package fleet_test

import (
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// awaitRow waits until there is one row of a table of the fleet for which a condition holds.
func awaitRow(t *testing.T, s *fleettest.Server, table, where string) {
	t.Helper()
	eventually.True(t, table+" has "+where, func() bool { return s.Count(table+" WHERE "+where) == 1 })
}

// A newer program has written a user. A node changes that user, and loses nothing of it; nor does a node that has
// nothing to say write it again in its own words.
func TestAUserOfANewerProgramLosesNothing(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	server.Exec(`INSERT INTO readthru.users (name, changed_at, record) VALUES ('ann', now(), $1)`, `{
		"teams": ["red"], "role": "read", "name": "ann", "id": "the id of ann", "limits": {"pages_per_hour": 5},
		"made": "2026-01-01T00:00:00Z", "changed": "2026-01-01T00:00:00Z", "tokens": [{"id": "0123456789ab",
			"hash": "`+hash+`", "scopes": ["proxy"], "made": "2026-01-01T00:00:00Z", "last_used": "2026-01-02"}]}`)
	const edition = "00000000-0000-4000-8000-000000000000"
	server.Exec("UPDATE readthru.users_edition SET edition = '" + edition + "'")
	eventually.True(t, "both know ann", func() bool { return a.user("ann").Name != "" && b.user("ann").Name != "" })
	a.read("https://a.test/after", "# After", 0)
	await(t, "https://a.test/after", "# After", b)
	awaitRow(t, server, "users_edition", "edition = '"+edition+"'")

	a.change("ann", func(u *users.User) { u.Role = users.Admin })
	eventually.True(t, "b knows ann's role", func() bool { return b.user("ann").Role == users.Admin })
	b.change("ann", func(u *users.User) { u.Limits.TokensPerDay = 7 })
	eventually.True(t, "a knows ann's limit", func() bool { return a.user("ann").Limits.TokensPerDay == 7 })
	awaitRow(t, server, "users", `record::jsonb @> '{"role": "admin", "teams": ["red"],
		"limits": {"tokens_per_day": 7, "pages_per_hour": 5}, "tokens": [{"last_used": "2026-01-02"}]}'`)
}

// A newer program gives a user a role that is none here. The node goes on with what it knew, and its revocations reach
// the newer program, whose record stays what it was.
func TestAUserWhoCannotBeTakenOverIsMergedAllTheSame(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	n := nodes(t, server.URL, "a")[0]
	n.change("ann", func(*users.User) {})
	awaitRow(t, server, "users", "name = 'ann'")
	server.Exec(`UPDATE readthru.users SET record = (record::jsonb ||
		'{"role": "auditor", "changed": "2100-01-01T00:00:00Z", "teams": ["red"]}')::text`)
	server.Exec("UPDATE readthru.users_edition SET edition = gen_random_uuid()")
	n.awaitAside("user", "ann")
	if u := n.user("ann"); u.Role != users.Read || len(u.Tokens) != 1 {
		t.Errorf("the node took over %+v", u)
	}
	n.change("ann", func(u *users.User) { u.Revoked, u.Tokens = []string{u.Tokens[0].ID}, nil })
	awaitRow(t, server, "users", `record::jsonb @> '{"role": "auditor", "teams": ["red"], "revoked": ["0123456789ab"]}'
		AND NOT record::jsonb ? 'tokens'`)
}

// A node took over a page and a base of a newer program. It tells of them when the database has lost them.
func TestWhatANewerProgramToldIsToldAgainWhole(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a, b := joinWithBases(t, server.URL, "a"), joinWithBases(t, server.URL, "b")
	const url = "https://a.test/page"
	b.stop()
	a.read(url, "# Page", 0)
	if _, err := a.CreateBase(knowledge.Base{
		Name: "docs", Source: knowledge.SourceCrawl, URL: "https://a.test/docs/", Service: "local",
	}); err != nil {
		t.Fatal(err)
	}
	awaitRow(t, server, "bases", "name = 'docs'")
	awaitRow(t, server, "pages", "true")
	a.stop()
	for _, table := range []string{"pages", "bases"} {
		server.Exec("UPDATE readthru." + table + ` SET record = (record::jsonb || '{"mood": ["good"]}')::text`)
	}
	b.begin(server.URL, "b")
	await(t, url, "# Page", b)
	awaitBase(t, "docs", "0 documents, not filled", b)
	for _, table := range []string{"pages", "bases", "nodes"} {
		server.Exec("DELETE FROM readthru." + table)
	}
	for _, table := range []string{"pages", "bases"} {
		awaitRow(t, server, table, `record::jsonb @> '{"mood": ["good"]}'`)
	}
}

// What a newer program learnt about a host, and this one cannot, is not this node's to end.
func TestATraitOfANewerProgramStays(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	n := nodes(t, server.URL, "a")[0]
	for _, row := range []string{"'a.test', 'likes-cats', now()", "'b.test', 'negotiates', now()"} {
		server.Exec("INSERT INTO readthru.hosts (host, trait, at, until, times, gone) VALUES (" + row +
			", now() + interval '1 day', 1, false)")
	}
	awaitTrait(t, "b.test", store.Negotiates, true, n)
	n.learns("c.test", store.Negotiates, time.Now())
	awaitRow(t, server, "hosts", "host = 'c.test'")
	awaitRow(t, server, "hosts", "host = 'a.test' AND NOT gone")
}
