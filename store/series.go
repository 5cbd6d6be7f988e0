package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// Counts are what happened in a length of time. The requests of the proxy are counted by their outcome, each once.
type Counts struct {
	Hit         int64 `json:"hit,omitempty"`
	Revalidated int64 `json:"revalidated,omitempty"`
	Stale       int64 `json:"stale,omitempty"`
	Miss        int64 `json:"miss,omitempty"`
	Bypass      int64 `json:"bypass,omitempty"`
	Tunnel      int64 `json:"tunnel,omitempty"`
	Refused     int64 `json:"refused,omitempty"`
	Failed      int64 `json:"failed,omitempty"`
	Local       int64 `json:"local,omitempty"`
	Passed      int64 `json:"passed,omitempty"`

	Visits         int64 `json:"visits,omitempty"`          // deliveries of pages, by whatever way
	HTMLTokens     int64 `json:"html_tokens,omitempty"`     // of the HTML of these pages
	MarkdownTokens int64 `json:"markdown_tokens,omitempty"` // of the markdown delivered in its place
	BytesIn        int64 `json:"bytes_in,omitempty"`        // from origins
	BytesOut       int64 `json:"bytes_out,omitempty"`       // to clients
	BytesSaved     int64 `json:"bytes_saved,omitempty"`     // that origins were not asked for
	SavedMS        int64 `json:"saved_ms,omitempty"`        // that origins took for what was answered from the store
	Rendered       int64 `json:"rendered,omitempty"`        // pages, in the browser
	ThirdParties   int64 `json:"third_parties,omitempty"`   // requests to third parties
	Errors         int64 `json:"errors,omitempty"`          // of origins
	Failures       int64 `json:"failures,omitempty"`        // of the requests, those that failed, also by the origin's word
}

// AgentCounts are what one agent has asked in a length of time.
type AgentCounts struct {
	Requests       int64 `json:"requests"`
	HTMLTokens     int64 `json:"html_tokens,omitempty"`
	MarkdownTokens int64 `json:"markdown_tokens,omitempty"`
}

// maxAgents is how many agents a point tells apart.
const maxAgents = 64

// fields returns the counts as a list, those of requests first. A new count is added here, too.
func (c *Counts) fields() []*int64 {
	return []*int64{
		&c.Hit, &c.Revalidated, &c.Stale, &c.Miss, &c.Bypass, &c.Tunnel, &c.Refused, &c.Failed, &c.Local, &c.Passed,
		&c.Visits, &c.HTMLTokens, &c.MarkdownTokens, &c.BytesIn, &c.BytesOut, &c.BytesSaved, &c.SavedMS,
		&c.Rendered, &c.ThirdParties, &c.Errors, &c.Failures,
	}
}

// Add adds d.
func (c *Counts) Add(d Counts) {
	more := d.fields()
	for i, n := range c.fields() {
		*n += *more[i]
	}
}

// Sub subtracts d. What would be negative is zero: a counter began anew.
func (c *Counts) Sub(d Counts) {
	less := d.fields()
	for i, n := range c.fields() {
		*n = max(0, *n-*less[i])
	}
}

// Requests returns how many requests of the proxy are counted, whatever their outcome.
func (c *Counts) Requests() (sum int64) {
	for _, n := range c.fields()[:10] {
		sum += *n
	}
	return sum
}

// Reused returns how many requests were answered with a stored response.
func (c *Counts) Reused() int64 { return c.Hit + c.Revalidated + c.Stale }

// A Step is the length of time that a point of the series counts. Steps begin at whole minutes and hours, and at
// midnight, of UTC.
type Step int

// The steps.
const (
	Minute Step = iota // kept for 48 hours
	Hour               // kept for 60 days
	Day                // kept for ever
)

var steps = [...]struct {
	class  string
	length time.Duration
	kept   int64 // how many are kept: each takes the place of the one so many before it; 0: all
}{
	{"m", time.Minute, 48 * 60},
	{"h", time.Hour, 60 * 24},
	{"d", day, 0},
}

// Length returns the length of a step.
func (s Step) Length() time.Duration { return steps[s].length }

// slot returns the key of the point of the step with a number, counted from 1970. Of minutes and hours a slot is used
// again: so old points end without a sweep.
func (s Step) slot(n int64) string {
	if kept := steps[s].kept; kept > 0 {
		n %= kept
	}
	return keys.Series(steps[s].class) + keys.U32(uint32(n))
}

// Point is what was counted in a step of time.
type Point struct {
	Time time.Time `json:"time"` // when it began
	Counts
	Agents map[string]AgentCounts `json:"agents,omitempty"` // of the requests, those of agents, by their names
}

// Count adds what was counted to the point. Of more agents than it tells apart, it has the first.
func (p *Point) Count(c Counts, agents map[string]AgentCounts) {
	p.Add(c)
	for name, more := range agents {
		n, known := p.Agents[name]
		if !known && len(p.Agents) == maxAgents {
			continue
		}
		if p.Agents == nil {
			p.Agents = map[string]AgentCounts{}
		}
		p.Agents[name] = AgentCounts{
			n.Requests + more.Requests, n.HTMLTokens + more.HTMLTokens, n.MarkdownTokens + more.MarkdownTokens,
		}
	}
}

// AddCounts adds what happened, and what of it was agents' doing, to the minute, hour and day that now is in. If the
// store cannot take it, nothing is added.
func (s *Store) AddCounts(now time.Time, c Counts, agents map[string]AgentCounts) error {
	if c == (Counts{}) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{}
	for step := range Step(len(steps)) {
		p := s.point(step, number(now, step))
		p.Count(c, agents)
		b.Set(step.slot(number(now, step)), wire.JSON(p))
	}
	if err := s.kv.Apply(b); err != nil {
		return fmt.Errorf("store counts: %w", err)
	}
	return nil
}

// number returns which step of the series, counted from 1970, a time is in.
func number(t time.Time, step Step) int64 { return max(0, t.Unix()/int64(step.Length()/time.Second)) }

// point returns what was counted in the step with a number. It is empty if nothing was counted, or if the slot still
// holds an older step.
func (s *Store) point(step Step, n int64) Point {
	began := time.Unix(n*int64(step.Length()/time.Second), 0).UTC()
	var p Point
	if s.kv.GetJSON(&kv.Batch{}, step.slot(n), &p) != nil || !p.Time.Equal(began) {
		return Point{Time: began}
	}
	return p
}

// Series returns the points of the steps that end after since and begin before until, oldest first. Points without
// counts are left out.
func (s *Store) Series(step Step, since, until time.Time) (points []Point) {
	from, to := number(since, step), number(until, step)
	if kept := steps[step].kept; kept > 0 {
		for n := max(from, to-kept+1); n <= to; n++ {
			if p := s.point(step, n); p.Counts != (Counts{}) {
				points = append(points, p)
			}
		}
		return points
	}
	s.settle()
	prefix := keys.Series(steps[step].class)
	s.kv.Walk(kv.Scan{Prefix: prefix, From: step.slot(from)}, func(_ string, value []byte) bool {
		var p Point
		if json.Unmarshal(value, &p) == nil && !p.Time.After(until) {
			points = append(points, p)
		}
		return true
	})
	return slices.Clip(points)
}
