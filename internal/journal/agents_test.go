package journal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/journal"
)

func from(agent, session string, at time.Time) *journal.Entry {
	return &journal.Entry{
		Time: at, Method: "GET", URL: "https://a.test/", Status: 200, Outcome: "hit", Agent: agent, Session: session,
		Visit: true, Tokens: 100, HTMLTokens: 900,
	}
}

func TestAgentsSeenLatelyAreSummedUp(t *testing.T) {
	j := journal.New(journal.Options{})
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	j.Add(from("gone/1", "old", now.Add(-2*journal.AgentsTime)))
	j.Add(from("claude/2", "old", now.Add(-2*journal.AgentsTime)))
	for i := range 3 {
		j.Add(from("claude/2", fmt.Sprint("run-", i%2), now.Add(-time.Duration(3-i)*time.Minute)))
	}
	j.Again(from("claude/2", "run-0", now.Add(-time.Hour)), now.Add(-time.Second), time.Second, false)
	j.Add(from("", "", now.Add(-time.Minute)))
	plain := from("curl/8", "", now.Add(-time.Minute))
	plain.Tokens, plain.HTMLTokens = 70, 0
	j.Add(plain)
	want := []journal.AgentSeen{
		{Name: "claude/2", Seen: now, Sessions: 2, Requests: 4, TokensSaved: 3200},
		{Name: "", Seen: now.Add(-time.Minute), Requests: 1, TokensSaved: 800},
		{Name: "curl/8", Seen: now.Add(-time.Minute), Requests: 1},
	}
	got, others := j.Agents(now)
	if d := cmp.Diff(want, got); d != "" || others != nil {
		t.Errorf("agents (-want +got), others %v:\n%s", others, d)
	}
	if list, _ := j.Agents(now.Add(journal.AgentsTime - time.Minute)); len(list) != 3 {
		t.Errorf("%d agents within the time that is told, want 3", len(list))
	}
	if list, _ := j.Agents(now.Add(2 * journal.AgentsTime)); len(list) != 0 {
		t.Errorf("agents after the time that is told: %v", list)
	}
	if err := j.Clear(); err != nil {
		t.Fatal(err)
	}
	if list, _ := j.Agents(now); len(list) != 0 {
		t.Errorf("agents of requests that are forgotten: %v", list)
	}
}

func TestNamesOfAgentsAndSessionsAreBounded(t *testing.T) {
	j := journal.New(journal.Options{})
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	const flood = 20_000
	for i := range flood {
		at := now.Add(time.Duration(i) * time.Millisecond)
		j.Add(from(fmt.Sprint("flood/", i), "", at))
		if i%2000 == 0 {
			j.Add(from("claude/2", "run", at))
			j.Add(from("claude/2", "run", at))
		}
		j.Add(from("many/1", fmt.Sprint("session-", i), at))
	}
	list, others := j.Agents(now.Add(time.Minute))
	if len(list) != 64 {
		t.Errorf("%d agents are listed, want 64", len(list))
	}
	if list[0].Name != "many/1" || list[0].Requests != flood || list[0].Sessions != journal.MaxSessions {
		t.Errorf("an agent of many sessions is %+v", list[0])
	}
	if list[1].Name != "claude/2" || list[1].Requests != 20 {
		t.Errorf("after those that work comes %+v", list[1])
	}
	var requests int64
	for _, a := range list {
		requests += a.Requests
	}
	if others == nil || requests+others.Requests != 2*flood+20 {
		t.Errorf("%d requests are listed, and of others %+v", requests, others)
	}
	later := now.Add(2 * journal.AgentsTime)
	j.Add(from("many/1", "new", later))
	list, others = j.Agents(later)
	if len(list) != 1 || list[0].Sessions != 1 || others != nil {
		t.Errorf("later there are %+v, and others %+v", list, others)
	}
}

func TestAgentsOfTheProcessBeforeAreSummedUp(t *testing.T) {
	o := journal.Options{Dir: t.TempDir(), Last: 100}
	now := time.Now()
	kept(t, o, func(j *journal.Journal) {
		j.Add(from("gone/1", "old", now.Add(-2*journal.AgentsTime)))
		j.Add(from("claude/2", "run-1", now.Add(-20*time.Minute)))
		j.Add(from("claude/2", "run-2", now.Add(-10*time.Minute)))
	})
	kept(t, o, func(j *journal.Journal) {
		j.Add(from("claude/2", "run-2", now.Add(-time.Minute)))
		for range 2 { // once is enough
			got, _ := j.Agents(now)
			if len(got) != 1 || got[0].Requests != 3 || got[0].Sessions != 2 || got[0].TokensSaved != 2400 {
				t.Errorf("agents %+v", got)
			}
		}
		if err := j.Clear(); err != nil {
			t.Fatal(err)
		}
		if got, _ := j.Agents(now); len(got) != 0 {
			t.Errorf("forgotten agents %+v", got)
		}
	})
	cleared := journal.New(o)
	if err := cleared.Clear(); err != nil {
		t.Fatal(err)
	}
	if got, _ := cleared.Agents(now); len(got) != 0 {
		t.Errorf("agents of what was forgotten: %+v", got)
	}
}
