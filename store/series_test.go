package store_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/store"
)

func TestCountsAreKeptByMinuteHourAndDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := openStore(t, store.Options{Dir: dir})
		add := func(c store.Counts) {
			t.Helper()
			agents := map[string]store.AgentCounts{}
			if c.Hit > 0 {
				agents["a"] = store.AgentCounts{Requests: c.Hit, HTMLTokens: c.HTMLTokens, MarkdownTokens: c.MarkdownTokens}
			}
			if err := s.AddCounts(time.Now(), c, agents); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now().UTC().Truncate(24 * time.Hour)
		add(store.Counts{Hit: 2, HTMLTokens: 100, MarkdownTokens: 10})
		time.Sleep(20 * time.Second)
		add(store.Counts{Hit: 1, Miss: 4, Errors: 1})
		add(store.Counts{}) // leaves nothing
		// An open store has work every few milliseconds of the time that passes here.
		closedFor := func(d time.Duration) {
			t.Helper()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
			s = openStore(t, store.Options{Dir: dir})
		}
		closedFor(time.Hour)
		add(store.Counts{Tunnel: 7})
		first := store.Counts{Hit: 3, Miss: 4, Errors: 1, HTMLTokens: 100, MarkdownTokens: 10}
		later, whole := store.Counts{Tunnel: 7}, first
		whole.Add(later)
		of := map[string]store.AgentCounts{"a": {Requests: 3, HTMLTokens: 100, MarkdownTokens: 10}}
		for _, tt := range []struct {
			step store.Step
			want []store.Point
		}{
			{store.Minute, []store.Point{{start, first, of}, {start.Add(time.Hour), later, nil}}},
			{store.Hour, []store.Point{{start, first, of}, {start.Add(time.Hour), later, nil}}},
			{store.Day, []store.Point{{start, whole, of}}},
		} {
			if diff := cmp.Diff(tt.want, s.Series(tt.step, start, time.Now())); diff != "" {
				t.Errorf("step %v (-want +got):\n%s", tt.step.Length(), diff)
			}
		}
		if got := s.Series(store.Minute, start.Add(2*time.Minute), time.Now()); len(got) != 1 {
			t.Errorf("%d points since later, want 1", len(got))
		}
		closedFor(49 * time.Hour)
		add(store.Counts{Passed: 1})
		if got := s.Series(store.Minute, start, time.Now()); len(got) != 1 || got[0].Passed != 1 {
			t.Errorf("after two days the minutes have %+v", got)
		}
		if got := s.Series(store.Day, start, time.Now()); len(got) != 2 || got[0].Counts != whole {
			t.Errorf("after two days the days have %+v", got)
		}
	})
}

func TestAPointTellsABoundedNumberOfAgentsApart(t *testing.T) {
	var p store.Point
	for i := range 100 {
		p.Count(store.Counts{Hit: 1}, map[string]store.AgentCounts{strconv.Itoa(i): {Requests: 1}, "0": {Requests: 1}})
	}
	if len(p.Agents) != 64 || p.Agents["0"].Requests < 99 || p.Hit != 100 {
		t.Errorf("%d agents, the first with %+v", len(p.Agents), p.Agents["0"])
	}
}
