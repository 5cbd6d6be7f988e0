package fleet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// response writes the row of a stored response as a stranger could.
func (s *stranger) response(uri, slot string, record, body []byte, at string) {
	s.t.Helper()
	key, selects, sum := sha256.Sum256([]byte(uri)), sha256.Sum256([]byte(slot)), sha256.Sum256(body)
	s.server.Exec(`INSERT INTO readthru.responses (uri, slot, url, host, tags, node, response_time, fresh_until,
			retain_until, form, record, body, body_hash, body_length)
		VALUES ($1, $2, $3, 'bad.test', '{}', 'stranger', `+at+`, 'infinity', 'infinity', $4, $5, $6, $7, $8)`,
		key[:], selects[:], uri, store.ResponseForm, record, body, sum[:], len(body))
}

// Rows of responses, renditions, flights and purges that are none come before anybody asks. Who asks gets nothing of
// them and does not wait, the next answer of an origin takes their place, and a person sees what was set aside.
func TestAnswersThatPoisonAreReplaced(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	s := newStranger(t, server, nil)
	whole := a.put("https://bad.test/whole", "# Whole", 1)
	other := a.put("https://bad.test/other", "# Other", 1)
	encoded := func(r *store.Response, uri string) []byte {
		copied := *r
		copied.URL, copied.ID = uri, store.EntryID{}
		return copied.Encode()
	}
	const u = "https://bad.test/response/"
	s.response(u+"random", "x", []byte("no record"), []byte("body"), "now()")
	s.response(u+"cut", "x", encoded(whole, u+"cut")[:40], []byte("body"), "now()")
	s.response(u+"another", "x", encoded(other, "https://bad.test/elsewhere"), []byte("body"), "now()")
	s.response(u+"slot", "x", encoded(whole, u+"slot"), []byte("no content"), "now()")
	s.response(u+"body", `["",null]`, encoded(whole, u+"body"), []byte("no content"), "now()")
	s.response(u+"future", "x", []byte("no record"), []byte("body"), "'infinity'")
	s.response(u+"huge", "x", make([]byte, 20<<20), []byte("body"), "now()")
	for _, what := range []string{"random", "cut", "another", "slot", "body", "future", "huge"} {
		// The first that asks may find the row; when it is removed, one at a time asks the origin.
		eventually.True(t, "a may ask the origin of "+what, func() bool {
			content, done := a.ask(u + what)
			if content != "" {
				t.Fatalf("%s: a got %q", what, content)
			}
			defer done()
			return server.Count("flights WHERE node = 'a' AND NOT alone AND uri = sha256('"+u+what+"')") == 1 ||
				what == "huge" || what == "future"
		})
		a.keep(u+what, "# Of the origin", 2)
		b.gets(u+what, "# Of the origin")
	}
	for _, what := range []string{"random", "cut", "another", "slot", "body"} {
		if is := a.awaitAside("response", u+what); is.Remedy == "" {
			t.Errorf("%+v", is)
		}
	}

	// A flight that never ends keeps nobody waiting.
	server.Exec(`INSERT INTO readthru.flights (uri, node, until)
		VALUES (sha256('https://bad.test/flight'), 'x', 'infinity')`)
	before, began := b.Status().Waited, time.Now()
	if content, done := b.ask("https://bad.test/flight"); content != "" {
		t.Errorf("b got %q", content)
	} else {
		done()
	}
	if b.Status().Waited != before {
		t.Errorf("b waited %v for a flight", time.Since(began))
	}

	// Renditions.
	insert := func(recipe, record, at, expires string, body []byte) {
		id := fleet.RenditionID(page.KeyOf(renderedURL), recipe)
		sum, key := sha256.Sum256(body), page.KeyOf(renderedURL)
		server.Exec(`INSERT INTO readthru.renditions (id, page, url, host, node, made_at, expires, record, body, body_hash,
				body_length)
			VALUES ($1, $2, $3, 'a.test', 'stranger', `+at+`, `+expires+`, $4, $5, $6, $7)`,
			id[:], key[:], renderedURL, []byte(record), body, sum[:], len(body))
	}
	good, err := json.Marshal(rendition("r/body", "# x"))
	if err != nil {
		t.Fatal(err)
	}
	insert("r/random", "no record", "now()", "now() + interval '1 day'", []byte("body"))
	insert("r/null", "null", "now()", "'infinity'", []byte("body"))
	insert("r/future", "{}", "'infinity'", "'infinity'", []byte("body"))
	insert("r/body", string(good), "now()", "now() + interval '1 day'", []byte("no content"))
	insert("r/huge", strings.Repeat(" ", 20<<20), "now()", "'infinity'", []byte("body"))
	for _, recipe := range []string{"r/random", "r/null", "r/future", "r/body", "r/huge"} {
		eventually.True(t, "b is to make "+recipe, func() bool {
			got, done := b.rendered(recipe, true)
			defer done()
			if got != "" {
				t.Fatalf("%s: %q", recipe, got)
			}
			id := fleet.RenditionID(page.KeyOf(renderedURL), recipe)
			return server.Count(`flights WHERE node = 'b' AND uri = '\x`+hex.EncodeToString(id[:])+"'") == 1
		})
		b.tell(rendition(recipe, "# Made again"))
		a.getsRendition(recipe, "# Made again")
	}
	if n := b.Status().Refused; n < 3 {
		t.Errorf("b refused %d", n)
	}
	for _, n := range all {
		if st := n.Status(); st.State != fleet.Connected || st.Reused+st.Renditions == 0 {
			t.Errorf("%+v", st)
		}
	}
}

// Numbers and times at their limits, in every table that nodes read, end no session: what comes after arrives, and what
// people ask for is told.
func TestNumbersAtTheirLimitsEndNothing(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	since := b.Status().Since
	server.Exec(`INSERT INTO readthru.usage (day, name, node, requests, bytes, pages, tokens, html_tokens, tokens_saved)
		SELECT current_date, 'ann', 'x' || n, m, m, m, m, m, m
		FROM generate_series(1, 3) AS n, (VALUES (9223372036854775807), (-9223372036854775808)) AS v (m)
		WHERE n % 2 = 1 OR m > 0 ON CONFLICT DO NOTHING`)
	server.Exec(`INSERT INTO readthru.turns VALUES ('bad.test', 'infinity'), ('worse.test', '-infinity')`)
	server.Exec(`INSERT INTO readthru.spent VALUES ('s', current_date, 9223372036854775807)`)
	server.Exec(`INSERT INTO readthru.nodes VALUES
		(repeat('n', 3000), repeat('v', 300000), 'infinity', 'infinity', -1, -1, -1),
		('old', '', '-infinity', '-infinity', 9223372036854775807, 0, 0)`)
	server.Exec(`INSERT INTO readthru.visits SELECT gen_random_uuid(), 'x', at, 'd', 'u', 'a', 's', 'r', 'x', true,
		2147483647, -2147483648, 9223372036854775807
		FROM (VALUES ('infinity'::timestamptz), ('-infinity'), (now())) AS v (at)`)
	server.Exec(`INSERT INTO readthru.leases (what, node, epoch, until, taken)
		VALUES ('fill/x', 'x', 9223372036854775807, 'infinity', 2147483647)`)
	server.Exec(`INSERT INTO readthru.lost VALUES (sha256('x'), 'infinity', 2147483647, 'infinity')`)
	server.Exec(`INSERT INTO readthru.purges (id, kind, value, at) VALUES (sha256('all\000'), 'all', '', 'infinity')`)
	server.Exec("INSERT INTO readthru.users (name, changed_at, record) VALUES ('eve', 'infinity', $1)",
		`{"name":"eve","id":"x","role":"read","made":"0000-01-01T00:00:00+23:59","changed":"9999-12-31T23:59:59-23:59"}`)
	server.Exec("UPDATE readthru.users_edition SET edition = gen_random_uuid()")
	if wait, err := a.Turn(t.Context(), "bad.test", time.Second); err != nil || wait > 10*time.Minute {
		t.Errorf("the turn at a host: %v, %v", wait, err)
	}
	if ok, err := a.Spend(t.Context(), "s", time.Now().UTC().Format(time.DateOnly), 10); ok || err != nil {
		t.Errorf("spent: %v, %v", ok, err)
	}
	list, _, err := a.Visits(t.Context(), store.VisitQuery{})
	if err != nil || len(list) != 1 {
		t.Errorf("%d visits, %v", len(list), err)
	}
	list2, err := a.Nodes(t.Context())
	if text, err2 := json.Marshal(list2); err != nil || err2 != nil || len(list2) != 4 || len(text) > 3000 {
		t.Errorf("%d nodes, %v, %v", len(list2), err, err2)
	}
	if uses, err := a.UsesElsewhere(t.Context(), 0, 30_000); err != nil || len(uses) != 1 || uses[0].Tokens <= 0 {
		t.Errorf("%+v, %v", uses, err)
	}
	id := sha256.Sum256([]byte("all\x00"))
	for i, n := range all {
		url := fmt.Sprintf("https://good.test/%d", i)
		n.read(url, "# Good", 0)
		await(t, url, "# Good", all...)
	}
	eventually.True(t, "the purge of all times is removed by who met it", func() bool {
		purge := hex.EncodeToString(id[:])
		return server.Count("purges") == 0 && (isAside(a, "purge", purge) || isAside(b, "purge", purge))
	})
	a.keep("https://good.test/response", "# Response", 1)
	b.gets("https://good.test/response", "# Response")
	eventually.True(t, "b has told of itself again", func() bool {
		return server.Count("nodes WHERE name = 'b' AND seen_at > started_at + interval '5 s'") == 1
	})
	if st := b.Status(); st.State != fleet.Connected || !st.Since.Equal(since) {
		t.Errorf("%+v", st)
	}
}
