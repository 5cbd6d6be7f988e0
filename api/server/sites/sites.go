// Package sites does the operations on hosts: what is known and was learnt of them, what rules and recipes say about
// them, and the removal of all that is kept of one.
package sites

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/memory"
	"github.com/readthru/readthru/api/server/pages"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/store"
)

// Options configures a Service. All but the functions are required.
type Options struct {
	Store   *store.Store
	Fetch   *fetch.Fetcher
	Journal *journal.Journal
	Pages   *pages.Service
	Memory  *memory.Service

	// Treatment returns what is done with connections to a host, and why; see [api.Site]. If nil, no proxy runs.
	Treatment func(host string) (treatment, why string)
	FileRules func() hostrule.Rules // the configured rules; if nil, there are none
	Changed   func() error          // takes over changed rules of the store; if nil, nobody uses them yet
}

// Service does the operations.
type Service struct{ o Options }

// New returns a Service.
func New(o Options) *Service { return &Service{o} }

// maxExceptions is how many hosts that something sets apart a list has at most.
const maxExceptions = 5000

// ListSites lists hosts, those that something sets apart first.
func (s *Service) ListSites(ctx context.Context, q api.SiteQuery) (*api.SiteList, error) {
	now := time.Now()
	rules, err := s.ListRules(ctx, api.RuleQuery{})
	if err != nil {
		return nil, err
	}
	known, err := s.knownSites(ctx, rules.Rules, now)
	if err != nil {
		return nil, err
	}
	var apart, others []*api.Site
	text := strings.ToLower(q.Text)
	for host, site := range known {
		if !strings.Contains(host, text) {
			continue
		}
		s.judgeSite(site, rules.Rules)
		if site.Exception != "" {
			apart = append(apart, site)
		} else {
			others = append(others, site)
		}
	}
	list := &api.SiteList{Sites: []api.Site{}}
	for _, part := range []struct {
		sites []*api.Site
		limit int
	}{{apart, maxExceptions}, {others, cmp.Or(q.Limit, 100)}} {
		slices.SortFunc(part.sites, compareSites)
		list.More = list.More || len(part.sites) > part.limit
		for _, site := range part.sites[:min(len(part.sites), part.limit)] {
			list.Sites = append(list.Sites, *site)
		}
	}
	return list, nil
}

// compareSites orders hosts for a list: by what sets them apart, then by visits, the most first, then by name.
func compareSites(s, o *api.Site) int {
	return cmp.Or(cmp.Compare(slices.Index(api.Exceptions, s.Exception), slices.Index(api.Exceptions, o.Exception)),
		cmp.Compare(o.Visits, s.Visits), strings.Compare(s.Host, o.Host))
}

// knownSites returns the hosts with visits, rules, facts, or recent requests that were tunnelled, refused or failed.
func (s *Service) knownSites(ctx context.Context, rules []api.Rule, now time.Time) (map[string]*api.Site, error) {
	known := map[string]*api.Site{}
	site := func(host string) *api.Site {
		if known[host] == nil {
			known[host] = &api.Site{Host: host, Rules: []api.Rule{}, Facts: []store.Fact{}}
		}
		return known[host]
	}
	for h := range s.o.Store.HostTotals() {
		of := site(h.Host)
		of.Visits, of.Hits = h.Visits, h.Hits
	}
	for _, r := range rules {
		if r.Host != "" && !strings.Contains(r.Host, "*") {
			site(strings.ToLower(r.Host))
		}
	}
	err := s.o.Store.Hosts(func(name string, h store.Host) bool {
		if facts := h.Holding(now); len(facts) > 0 {
			site(name).Facts = facts
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	for host, told := range s.recentTrouble(ctx) {
		told.tell(site(host))
	}
	return known, nil
}

// trouble is what the last requests tell of a host: how many were tunnelled or failed.
type trouble struct {
	tunnels, failed int
	failing         bool // the origin did not answer the last one
}

// tell adds the trouble of a host to what the API says of it. judgeSite may find another reason why it is apart.
func (t *trouble) tell(site *api.Site) {
	site.Tunnels, site.Failed = t.tunnels, t.failed
	if t.failing {
		site.Exception = api.SiteFailing // unless something else is found
	}
}

// recentTrouble returns the hosts that were tunnelled, refused or failed, by the requests in memory that the reader may
// see.
func (s *Service) recentTrouble(ctx context.Context) map[string]*trouble {
	found := map[string]*trouble{}
	for e := range s.recentRequests(ctx) {
		host := e.Host()
		t := found[host]
		bad := e.Tunnel != "" || e.Failed()
		switch {
		case host == "" || t == nil && !bad:
			continue
		case t == nil:
			t = &trouble{}
			found[host] = t
		}
		t.failing = e.Outcome == journal.Failed
		if e.Failed() {
			t.failed++
		}
		if e.Tunnel != "" {
			t.tunnels++
		}
	}
	return found
}

// judgeSite adds to a host what is done with requests for it, and what sets it apart from others: the first of blocked,
// tunnelled, ruled and learnt that holds.
func (s *Service) judgeSite(site *api.Site, rules []api.Rule) {
	site.Rules = rulesFor(rules, site.Host)
	if s.o.Treatment != nil {
		site.Treatment, site.Why = s.o.Treatment(site.Host)
	}
	ruled := slices.ContainsFunc(site.Rules, func(r api.Rule) bool { return strings.Trim(r.Host, "*.") != "" })
	rejected := slices.ContainsFunc(site.Facts, func(f store.Fact) bool { return f.Trait == store.RejectsCA })
	if rejected && site.Treatment == "intercept" && site.Why != "rule" {
		site.Treatment, site.Why = "tunnel", "clients reject our certificate"
	}
	switch {
	case site.Treatment == "block":
		site.Exception = api.SiteBlocked
	case site.Treatment == "tunnel" && site.Why != "paused", site.Why != "rule" && (site.Tunnels > 0 || rejected):
		site.Exception = api.SiteTunnelled
	case ruled:
		site.Exception = api.SiteRuled
	case len(site.Facts) > 0:
		site.Exception = api.SiteLearnt
	}
}

// GetSite returns what is known of a host.
func (s *Service) GetSite(ctx context.Context, ref api.HostRef) (*api.Site, error) {
	name, err := learntHost(ref.Host)
	if err != nil {
		return nil, err
	}
	total := s.o.Store.HostTotal(name)
	site := &api.Site{
		Host: name, Visits: total.Visits, Hits: total.Hits, Facts: []store.Fact{}, Preferences: s.o.Fetch.StatedBy(name),
	}
	if told := s.recentTrouble(ctx)[name]; told != nil {
		told.tell(site)
	}
	h, err := s.o.Store.Host(name)
	if err != nil {
		return nil, fmt.Errorf("read host %s: %w", name, err)
	}
	if facts := h.Holding(time.Now()); facts != nil {
		site.Facts = facts
	}
	rules, err := s.ListRules(ctx, api.RuleQuery{})
	if err != nil {
		return nil, err
	}
	s.judgeSite(site, rules.Rules)
	return site, nil
}
