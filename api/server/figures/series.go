package figures

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/journal"
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
func (s *Service) GetSeries(_ context.Context, q api.SeriesQuery) (*api.Series, error) {
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
	for _, p := range list.Points {
		list.Sum.Add(p.Counts)
	}
	return list, nil
}

// sampleEvery is how often counters are read. A process that is killed loses what was counted since.
const sampleEvery = 10 * time.Second

// sampler writes into the store by how much the counters of all parts have grown. So a request costs the series
// nothing: whoever counts, counts once.
type sampler struct {
	mu     sync.Mutex
	before store.Counts // what the store has
}

// begin notes the counters as they are at the start. Some are kept in the store, and what they had counted before is in
// the time series already.
func (m *sampler) begin(s *Service) {
	if s.o.Store != nil {
		m.before = s.counted()
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
	all := s.counted()
	grown := all
	grown.Sub(m.before)
	if err := s.o.Store.AddCounts(now, grown); err != nil { // the next call tries again
		if !errors.Is(err, store.ErrFull) {
			s.o.Log.Warn("counts of the last seconds are not stored yet", "error", err)
		}
		return
	}
	m.before = all
}

// counted returns the counters of all parts (journal, store, fetcher, proxy) since they began.
func (s *Service) counted() store.Counts {
	told, totals := s.o.Journal.Sums(), s.o.Store.Totals()
	n := func(outcome string) int64 { return told.Durations[outcome].Count }
	c := store.Counts{
		Hit: n("hit"), Revalidated: n("revalidated"), Stale: n("stale"), Miss: n("miss"), Bypass: n("bypass"),
		Tunnel: n(journal.Tunnelled), Refused: n(journal.Refused), Failed: n(journal.Failed), Local: n(journal.Local),
		Passed: n(journal.Passed),
		Visits: totals.Visits, HTMLTokens: totals.HTMLTokens, MarkdownTokens: totals.MarkdownTokens,
		BytesIn: told.BytesIn, BytesOut: told.BytesOut, BytesSaved: told.BytesSaved, SavedMS: told.Saved.Milliseconds(),
		ThirdParties: s.o.Store.Disclosed(),
	}
	if s.o.Fetch != nil {
		c.Rendered = s.o.Fetch.Stats().Render.Pages
	}
	if s.o.Requests != nil {
		c.Errors = s.o.Requests().Errors
	}
	return c
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
