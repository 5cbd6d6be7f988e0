package figures

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// seriesSteps are the steps by their names, and how far back each goes unless the query says.
var seriesSteps = map[string]struct {
	step store.Step
	back time.Duration
}{
	"minute": {store.Minute, time.Hour}, "hour": {store.Hour, 48 * time.Hour}, "day": {store.Day, 30 * 24 * time.Hour},
}

// GetSeries returns what was counted in each step.
func (s *Service) GetSeries(ctx context.Context, q api.SeriesQuery) (*api.Series, error) {
	now := time.Now()
	switch back := now.Sub(q.Since); {
	case q.Step != "":
	case q.Since.IsZero(), back > 2*time.Hour && back <= 60*time.Hour:
		q.Step = "hour"
	case back > 60*time.Hour:
		q.Step = "day"
	default:
		q.Step = "minute"
	}
	of, ok := seriesSteps[q.Step]
	if !ok {
		return nil, api.Problem(http.StatusBadRequest, "step is minute, hour or day, not %.40q", q.Step)
	}
	if q.Since.IsZero() {
		q.Since = now.Add(-of.back)
	}
	s.sampler.take(s, now)
	points := s.o.Store.Series(of.step, q.Since, now)
	list := &api.Series{Step: q.Step, Since: q.Since.UTC(), Points: api.OrEmpty(points)}
	var sum store.Point
	for i := range list.Points {
		p := &list.Points[i]
		sum.Count(p.Counts, p.Agents)
		p.Agents = nil
	}
	if list.Sum = sum.Counts; users.May(ctx, users.Admin) { // they are those of all users
		list.Agents, list.OtherAgents = agentSums(sum)
	}
	return list, nil
}

// agentSums returns what each agent has asked, the most requests first, and what is missing there of the sum; nil if
// nothing is.
func agentSums(sum store.Point) (list []api.AgentSum, others *api.AgentSum) {
	o := api.AgentSum{
		Requests: sum.Requests(), Tokens: sum.MarkdownTokens, TokensSaved: sum.HTMLTokens - sum.MarkdownTokens,
	}
	for name, n := range sum.Agents {
		a := api.AgentSum{
			Name: name, Requests: n.Requests, Tokens: n.MarkdownTokens, TokensSaved: n.HTMLTokens - n.MarkdownTokens,
		}
		list = append(list, a)
		o.Requests, o.Tokens, o.TokensSaved = o.Requests-a.Requests, o.Tokens-a.Tokens, o.TokensSaved-a.TokensSaved
	}
	slices.SortFunc(list, func(a, b api.AgentSum) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	if o != (api.AgentSum{}) {
		others = &o
	}
	return list, others
}

// sampleEvery is how often counters are read. A process that is killed loses what was counted since.
const sampleEvery = 10 * time.Second

// sampler writes into the store by how much the counters of all parts have grown. So a request costs the series
// nothing: whoever counts, counts once.
type sampler struct {
	mu     sync.Mutex
	before store.Counts // what the store has
	agents map[string]journal.AgentCount
}

// begin notes the counters as they are at the start. Some are kept in the store, and what they had counted before is in
// the time series already.
func (m *sampler) begin(s *Service) {
	if s.o.Store != nil {
		m.before, m.agents = s.counted()
	}
}

// take writes into the time series what was counted since the last call. What the store does not take now is in the
// next call's difference.
func (m *sampler) take(s *Service, now time.Time) {
	if s.o.Store == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := s.o.People.CountUses(now); err != nil && !errors.Is(err, store.ErrFull) { // the next call tries again
		s.o.Log.Warn("what users used is not stored yet", "error", err)
	}
	all, agents := s.counted()
	grown := all
	grown.Sub(m.before)
	if err := s.o.Store.AddCounts(now, grown, grownOf(agents, m.agents)); err != nil { // the next call tries again
		if !errors.Is(err, store.ErrFull) {
			s.o.Log.Warn("counts of the last seconds are not stored yet", "error", err)
		}
		return
	}
	m.before, m.agents = all, agents
}

// grownOf returns by how much the counts of agents have grown. One that has less was forgotten meanwhile, and began
// anew.
func grownOf(all, before map[string]journal.AgentCount) map[string]store.AgentCounts {
	grown := map[string]store.AgentCounts{}
	for name, n := range all {
		was := before[name]
		if n.Requests < was.Requests {
			was = journal.AgentCount{}
		}
		if n.Requests > was.Requests {
			grown[name] = store.AgentCounts{
				Requests: n.Requests - was.Requests, HTMLTokens: max(0, n.HTMLTokens-was.HTMLTokens),
				MarkdownTokens: max(0, n.Tokens-was.Tokens),
			}
		}
	}
	return grown
}

// counted returns the counters of all parts (journal, store, fetcher, proxy) since they began, and those of agents.
// Tokens are the journal's, which has them at one time with those of agents.
func (s *Service) counted() (store.Counts, map[string]journal.AgentCount) {
	told, totals := s.o.Journal.Sums(), s.o.Store.Totals()
	n := func(outcome string) int64 { return told.Durations[outcome].Count }
	c := store.Counts{
		Hit: n("hit"), Revalidated: n("revalidated"), Stale: n("stale"), Miss: n("miss"), Bypass: n("bypass"),
		Tunnel: n(journal.Tunnelled), Refused: n(journal.Refused), Failed: n(journal.Failed), Local: n(journal.Local),
		Passed: n(journal.Passed),
		Visits: totals.Visits, HTMLTokens: told.HTMLTokens, MarkdownTokens: told.Tokens, Failures: told.Failed,
		BytesIn: told.BytesIn, BytesOut: told.BytesOut, BytesSaved: told.BytesSaved, SavedMS: told.Saved.Milliseconds(),
		ThirdParties: s.o.Store.Disclosed(),
	}
	if s.o.Fetch != nil {
		c.Rendered = s.o.Fetch.Stats().Render.Pages
	}
	if s.o.Requests != nil {
		c.Errors = s.o.Requests().Errors
	}
	return c, told.Agents
}

// Sample writes what is counted into the time series, until ctx ends. Close does so a last time.
func (s *Service) Sample(ctx context.Context) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.sampler.take(s, time.Now())
		}
	}
}
