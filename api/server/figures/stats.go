package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// topHosts is how many hosts Stats lists.
const topHosts = 20

// GetStats returns the figures of the node: what was counted since the start, and what the store has.
func (s *Service) GetStats(ctx context.Context, _ api.None) (*api.Stats, error) {
	totals, fetched := s.o.Store.Totals(), s.o.Fetch.Stats()
	st := &api.Stats{
		UptimeS: int64(time.Since(s.started).Seconds()),
		Version: s.o.Version,
		Pages: api.PageStats{
			Total: totals.Pages, Visits: totals.Visits, BySource: totals.VisitsBySource,
			Versions: totals.Versions,
		},
		Tokens: api.TokenStats{
			HTML: totals.HTMLTokens, Markdown: totals.MarkdownTokens,
			Saved: max(0, totals.HTMLTokens-totals.MarkdownTokens),
		},
		Render: s.renderStats(),
		MarkdownNew: api.MarkdownNewStats{
			Mode: s.o.MarkdownNewMode, State: fetched.MarkdownNewState, Sent: fetched.MarkdownNewSent,
			Remaining: fetched.MarkdownNewLeft,
		},
		Hosts: []api.HostStats{}, Agents: []journal.AgentSeen{},
	}
	if users.May(ctx, users.Admin) { // they are those of all users
		agents, others := s.o.Journal.Agents(time.Now())
		st.Agents, st.OtherAgents = append(st.Agents, agents...), others
	}
	if st.Pages.BySource == nil {
		st.Pages.BySource = map[page.Source]int64{}
	}
	st.Faults, _ = fault.Caught()
	st.Index.Queued = s.o.Store.QueuedJobs(knowledge.Consumer)
	if s.o.Knowledge != nil {
		st.Index = s.o.Knowledge.Stats()
	}
	if s.o.Requests != nil {
		st.Requests = s.o.Requests()
	}
	told := s.o.Journal.Sums()
	countRequests(&st.Requests, told)
	st.Cache = cacheStatsOf(told)
	st.Cache.Entries, st.Cache.Bytes, st.Cache.HitRatio = totals.Responses, totals.ResponseBytes, hitRatio(st.Cache)
	st.Work = s.Work()
	if s.o.Fleet != nil {
		st.Fleet = new(s.o.Fleet.Status())
	}
	rejected, err := s.o.Sites.Facts(store.RejectsCA, maxRejected)
	if err != nil {
		return nil, err
	}
	st.RejectedCA = rejected.Facts
	hosts, err := s.o.Store.TopHosts(topHosts)
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	for _, h := range hosts {
		st.Hosts = append(st.Hosts, api.HostStats{Host: h.Host, Visits: h.Visits, Hits: h.Hits})
	}
	return st, nil
}

// countRequests sets the counts of requests that the journal has, which are those of all doors together.
func countRequests(r *api.RequestStats, told journal.Sums) {
	r.Total, r.Outcomes, r.Doors, r.Hidden = told.Requests(), map[string]int64{}, told.Doors, told.Hidden
	r.Failures = told.Failed
	for outcome, d := range told.Durations {
		r.Outcomes[outcome] = d.Count
	}
	r.Tunnelled = r.Outcomes[journal.Tunnelled]
}

// cacheStatsOf returns how many requests the cache answered, and how.
func cacheStatsOf(told journal.Sums) api.CacheStats {
	n := func(outcome string) int64 { return told.Durations[outcome].Count }
	return api.CacheStats{
		Hits: n("hit"), Misses: n("miss"), Revalidated: n("revalidated"), Stale: n("stale"), Bypass: n("bypass"),
	}
}

// Work returns what is in progress.
func (s *Service) Work() api.Work {
	w := api.Work{Renders: s.o.Fetch.Stats().Render.Open, Jobs: s.o.Jobs()}
	if s.o.Open != nil {
		w.Requests, w.Origins = s.o.Open()
	}
	return w
}

// renderStats returns the state of the browser; unavailable while the node is offline.
func (s *Service) renderStats() api.RenderStats {
	b := s.o.Fetch.Stats().Render
	st := api.RenderStats{
		State: b.Mode, Reason: b.Reason, Browser: b.Path, Sandboxed: b.Sandboxed, Running: b.Running,
		Pages: b.Pages, Failed: b.Failed, Deaths: b.Deaths,
	}
	if s.o.Switches().Offline {
		st.State, st.Reason = "unavailable", "offline: only stored responses are answered"
	}
	return st
}

// hitRatio returns the share of the answers of the cache for which no origin sent content, from 0 to 1; 0 without any.
func hitRatio(c api.CacheStats) float64 {
	reused := c.Hits + c.Revalidated + c.Stale
	if reused+c.Misses == 0 {
		return 0
	}
	return float64(reused) / float64(reused+c.Misses)
}
