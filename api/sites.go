package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/store"
)

// Site is what is known of a host, and what is done with requests for it.
type Site struct {
	Host   string `json:"host"`
	Visits int64  `json:"visits"` // deliveries of its pages
	Hits   int64  `json:"hits"`   // of these, from the cache

	// Treatment is intercept, tunnel or block, and Why the reason: rule, default, local, paused, "blocked domain", or the
	// preset with its category. Empty if no proxy runs. Single clients may be tunnelled because of a fact.
	Treatment string `json:"treatment,omitempty"`
	Why       string `json:"why,omitempty"`

	Rules []Rule       `json:"rules"` // that match it; the first without a path is the one that applies
	Facts []store.Fact `json:"facts"` // that hold
}

// SiteList lists the hosts with the most visits, and those about which something was learnt or a rule of the store is.
type SiteList struct {
	Sites []Site `json:"sites"`
	More  bool   `json:"more,omitempty"` // hosts with fewer visits are left out
}

// SiteQuery selects hosts.
type SiteQuery struct {
	Text  string `query:"q" doc:"only hosts with this text"`
	Limit int    `query:"limit" range:"1,500" doc:"how many at most, 1 to 500; default 100"`
}

// listSites lists hosts, those with the most visits first.
func (s *Server) listSites(ctx context.Context, q SiteQuery) (*SiteList, error) {
	limit, text := cmp.Or(q.Limit, 100), strings.ToLower(q.Text)
	top, err := s.o.Store.TopHosts(1 << 20)
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	list, seen := &SiteList{Sites: []Site{}}, map[string]bool{}
	add := func(host string, visits, hits int64) bool {
		if seen[host] || !strings.Contains(host, text) {
			return true
		}
		if len(list.Sites) == limit {
			list.More = true
			return false
		}
		seen[host] = true
		list.Sites = append(list.Sites, Site{Host: host, Visits: visits, Hits: hits})
		return true
	}
	for _, h := range top {
		if !add(h.Host, h.Visits, h.Hits) {
			break
		}
	}
	for _, r := range s.o.Store.Rules() {
		if !strings.Contains(r.Host, "*") {
			add(strings.ToLower(r.Host), 0, 0)
		}
	}
	now := time.Now()
	err = s.o.Store.Hosts(func(name string, h store.Host) bool { return len(h.Holding(now)) == 0 || add(name, 0, 0) })
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	for i := range list.Sites {
		if err := s.describe(ctx, &list.Sites[i], now); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// getSite returns what is known of a host.
func (s *Server) getSite(ctx context.Context, ref hostRef) (*Site, error) {
	name, err := learntHost(ref.Host)
	if err != nil {
		return nil, err
	}
	site := &Site{Host: name}
	top, err := s.o.Store.TopHosts(1 << 20)
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	if at := slices.IndexFunc(top, func(h store.HostTotal) bool { return h.Host == name }); at >= 0 {
		site.Visits, site.Hits = top[at].Visits, top[at].Hits
	}
	return site, s.describe(ctx, site, time.Now())
}

// describe adds what is done with requests for a host, and what was learnt about it.
func (s *Server) describe(ctx context.Context, site *Site, now time.Time) error {
	rules, err := s.listRules(ctx, RuleQuery{Host: site.Host})
	if err != nil {
		return err
	}
	site.Rules = rules.Rules
	if s.o.Treatment != nil {
		site.Treatment, site.Why = s.o.Treatment(site.Host)
	}
	h, err := s.o.Store.Host(site.Host)
	if err != nil {
		return fmt.Errorf("read host %s: %w", site.Host, err)
	}
	if site.Facts = h.Holding(now); site.Facts == nil {
		site.Facts = []store.Fact{}
	}
	return nil
}
