package fleet_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/knowledge"
)

// base writes the row of a knowledge base that somebody fills, with its rounds as the text of their content.
func (s *stranger) base(name, id string, rounds int, content ...string) {
	s.t.Helper()
	text, err := json.Marshal(knowledge.Base{
		Name: name, ID: id, Source: knowledge.SourceCrawl, Service: "local", URL: "https://bad.test/", Limit: 3,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for n, round := range content {
		s.server.Exec("INSERT INTO readthru.rounds (base, filling, n, content) VALUES ($1, 1, $2, $3)", id, n, round)
	}
	s.server.Exec(`INSERT INTO readthru.bases (name, id, record, filling, last, rounds)
		VALUES ($1, $2, $3, 1, 1, $4)`, name, id, string(text), rounds)
}

// Fillings whose rounds are none come among one that is good. Each base is set aside by its name and tried again after
// growing pauses; the good one is filled, pages arrive, and a base is taken over when somebody fills it anew.
func TestRoundsThatPoisonAreSetAside(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a, b := joinWithBases(t, server.URL, "a"), joinWithBases(t, server.URL, "b")
	s := newStranger(t, server, nil)
	since := b.Status().Since
	many := strings.Repeat(`{"u":"https://bad.test/"},`, 1001)
	bad := map[string][]string{
		"random":   {"\x01\x02{{"},
		"object":   {`{"members":{"u":1}}`},
		"members":  {`{"members":[` + strings.TrimSuffix(many, ",") + `]}`},
		"step":     {`{"steps":["` + strings.Repeat("x", 600<<10) + `"]}`},
		"steps":    {`{"steps":[` + strings.Repeat(`"`+strings.Repeat("x", 500<<10)+`",`, 3) + `0]}`},
		"gigantic": {`{}`, strings.Repeat(" ", 9<<20)},
		"missing":  {`{}`, `{}`},
	}
	i := 0
	for name, rounds := range bad {
		i++
		s.base("bad-"+name, fmt.Sprintf("%016x", i), len(rounds)+2*btoi(name == "missing"), rounds...)
	}
	s.base("bad-least", "00000000000000f0", -1<<31)
	s.base("bad-most", "00000000000000f1", 1<<31-1, `{}`)
	build := a.startBase("docs")
	a.crawl(build, "docs", 0, 3)
	awaitBase(t, "docs", "3 documents, not filled, building", b)
	for _, n := range []*node{a, b} {
		for name := range bad {
			if is := n.awaitAside("base", "bad-"+name); is.Again == nil || is.Remedy == "" {
				t.Errorf("%s: %+v", name, is)
			}
		}
		n.awaitAside("base", "bad-most")
	}
	a.crawl(build, "docs", 3, 5)
	awaitBase(t, "docs", "5 documents, not filled, building", b)
	if st := b.Status(); st.State != fleet.Connected || !st.Since.Equal(since) {
		t.Errorf("%+v", st)
	}
	first := asideOf(b, "base", "bad-random")
	eventually.True(t, "it is tried again after a longer pause", func() bool {
		now := asideOf(b, "base", "bad-random")
		return now != nil && now.Again != nil && now.Again.Sub(now.Time) > first.Again.Sub(first.Time)
	})
	server.Exec("INSERT INTO readthru.rounds SELECT id, 2, 0, '{}' FROM readthru.bases WHERE name = 'bad-random'")
	server.Exec(`UPDATE readthru.bases SET filling = 0, rounds = 0, filled = 2, filled_rounds = 1, filled_at = now(),
		xid = pg_current_xact_id() WHERE name = 'bad-random'`)
	awaitBase(t, "bad-random", "0 documents", a, b)
	eventually.True(t, "it is aside no longer", func() bool { return !isAside(b, "base", "bad-random") })
	began := time.Now()
	if _, err := b.DeleteBase(t.Context(), "bad-random"); err != nil {
		t.Fatal(err)
	}
	awaitBase(t, "bad-random", "none", a)
	t.Logf("its deletion arrived after %v", time.Since(began).Round(time.Millisecond))
}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}
