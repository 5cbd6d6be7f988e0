package journal

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Outcomes are all outcomes of requests.
var Outcomes = []string{
	"hit", "revalidated", "stale", "miss", "bypass", Tunnelled, Refused, Failed, Local, Passed,
}

// Limits are the upper limits of the intervals by which durations are counted.
var Limits = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second,
	2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// Durations are those of the requests with one outcome.
type Durations struct {
	Count int64
	Sum   time.Duration
	Under []int64 // how many took no longer than the limit at the same place of [Limits], each counted once
}

// Sums are sums over all requests since the start, also those that are not kept anymore.
type Sums struct {
	Durations  map[string]Durations // by outcome; all outcomes are there
	BytesIn    int64                // from origins
	BytesOut   int64                // to clients
	BytesSaved int64                // of origins' content that came from the store
	Saved      time.Duration        // that origins took for what came from the store
	Tunnels    map[string]int64     // by the reason
	Doors      map[string]int64     // by the door; all doors are there
	Hidden     int64                // requests that are in none of the other sums
	Hiding     map[string]time.Time // the rules that hid them, as Entry.Rule names them, and when each last did
	Failed     int64                // requests that failed, as [Entry.Failed] says

	Tokens, HTMLTokens int64                 // of the pages that count as read, and of the HTML in their place
	Agents             map[string]AgentCount // by their names; what is missing was asked by no agent, or too many of them
}

// AgentCount is what an agent has asked since the start.
type AgentCount struct{ Requests, Tokens, HTMLTokens int64 }

// Requests returns how many requests there were: those of all outcomes, and those of all doors.
func (s Sums) Requests() (n int64) {
	for _, d := range s.Durations {
		n += d.Count
	}
	return n
}

// sums is what Sums are made of. A request adds to it under the journal's lock.
type sums struct {
	byOutcome        [10]durations
	byDoor           [9]int64
	hidden, failed   int64
	hiding           map[string]int64 // rules that hid requests, with when the last one began
	tokens, html     int64
	in, out, unasked int64
	savedMS          int64
	tunnels          map[string]int64
}

// durations counts requests of one outcome by what they took: under[i] are those that took at most Limits[i], and more
// than the limit before it.
type durations struct {
	n     int64
	sum   time.Duration
	under [14]int64
}

// add adds a request to the sums of its outcome and its door. An outcome that is not known counts as the last.
func (t *sums) add(s slot) {
	e := s.of
	at := slices.Index(Outcomes, e.Outcome)
	if at < 0 {
		at = len(Outcomes) - 1
	}
	door := slices.Index(Doors, e.Door)
	t.byDoor[max(0, door)]++
	d := &t.byOutcome[at]
	if e.Failed() {
		t.failed++
	}
	tokens, html := e.spared()
	t.tokens, t.html = t.tokens+tokens, t.html+html
	d.n++
	d.sum += s.took
	for i, limit := range Limits {
		if s.took <= limit {
			d.under[i]++
			break
		}
	}
	if !s.gone {
		t.out += e.BytesOut
	}
	switch {
	case e.Method == http.MethodConnect:
		if e.Tunnel != "" {
			if t.tunnels == nil {
				t.tunnels = map[string]int64{}
			}
			reason, _, _ := strings.Cut(e.Tunnel, ";") // without its details
			t.tunnels[reason]++
		}
		t.in += e.BytesOut // of a tunnel, what the origin sent
	case at < 3:
		t.unasked += e.BytesIn
		t.savedMS += e.SavedMS
	default:
		t.in += e.BytesIn
	}
}

// spared returns the tokens of the page that a reader got, and those of the HTML in whose place they are: where it did
// not come as HTML, or was shorter so, nothing was saved. What does not count as read has none.
func (e *Entry) spared() (tokens, html int64) {
	if !e.Visit {
		return 0, 0
	}
	return int64(e.Tokens), int64(max(e.Tokens, e.HTMLTokens))
}

// hide counts a request that is hidden. Rules are few: their names come from the operator.
func (t *sums) hide(s slot) {
	t.hidden++
	if t.hiding == nil {
		t.hiding = map[string]int64{}
	}
	t.hiding[s.of.Rule] = s.began
}

// Sums returns sums over all requests since the start.
func (j *Journal) Sums() Sums {
	j.mu.Lock()
	t := j.sums
	hiding := map[string]time.Time{}
	for rule, at := range t.hiding {
		hiding[rule] = time.Unix(0, at).UTC()
	}
	tunnels := maps.Clone(t.tunnels)
	agents := map[string]AgentCount{}
	for name, a := range j.agents.byName {
		agents[name] = AgentCount{a.all.requests, a.all.markdown, a.all.html}
	}
	j.mu.Unlock()
	s := Sums{
		Durations: map[string]Durations{}, BytesIn: t.in, BytesOut: t.out, BytesSaved: t.unasked,
		Saved: time.Duration(t.savedMS) * time.Millisecond, Tunnels: tunnels, Doors: map[string]int64{},
		Hidden: t.hidden, Hiding: hiding, Failed: t.failed, Tokens: t.tokens, HTMLTokens: t.html, Agents: agents,
	}
	for i, name := range Doors {
		s.Doors[name] = t.byDoor[i]
	}
	for i, name := range Outcomes {
		d := &t.byOutcome[i]
		s.Durations[name] = Durations{d.n, d.sum, slices.Clone(d.under[:])}
	}
	return s
}
