package sites

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// RemoveSite removes all that is kept of a host, at all its ports: pages, stored responses, counts of visits, what was
// learnt, and requests in the journal. Rules stay, and are counted. What is read of the host meanwhile may stay.
func (s *Service) RemoveSite(ctx context.Context, q api.SiteRemoval) (*api.RemovedSite, error) {
	name, err := learntHost(q.Host)
	if err != nil {
		return nil, err
	}
	found, err := s.pagesOf(ctx, name)
	if err != nil {
		return nil, err
	}
	gone := &api.RemovedSite{Host: name, Pages: len(found)}
	rules, err := s.ListRules(ctx, api.RuleQuery{})
	if err != nil {
		return nil, err
	}
	for _, r := range rules.Rules {
		if strings.EqualFold(r.Host, name) {
			gone.Rules++
		}
	}
	hosts := s.o.Store.HostsNamed(name)
	for _, host := range hosts {
		gone.Visits += s.o.Store.HostTotal(host).Visits
	}
	if q.DryRun {
		return gone, s.countKept(gone)
	}
	for key, p := range found {
		if err := s.o.Pages.RemovePage(key, p); err != nil && !errors.Is(err, store.ErrNotFound) { // another has deleted it
			return nil, err
		}
	}
	for _, host := range hosts {
		n, err := s.o.Store.DeleteHostResponses(host)
		if err != nil {
			return nil, fmt.Errorf("delete stored responses of %s: %w", host, err)
		}
		gone.Responses += n
		if err := s.o.Store.DeleteHostTotal(host); err != nil {
			return nil, err
		}
	}
	if gone.Facts, err = s.o.Store.Forget(name, time.Now(), func(store.Fact) bool { return true }); err != nil {
		return nil, fmt.Errorf("forget host %s: %w", name, err)
	}
	if gone.Requests, err = s.o.Journal.Remove(journal.Naming(name)); err != nil {
		return nil, fmt.Errorf("remove the requests for %s: %w", name, err)
	}
	return gone, nil
}

// countKept counts the facts and requests that removeSite would remove.
func (s *Service) countKept(of *api.RemovedSite) error {
	h, err := s.o.Store.Host(of.Host)
	if err != nil {
		return fmt.Errorf("read host %s: %w", of.Host, err)
	}
	of.Facts = len(h.Holding(time.Now()))
	for range s.o.Journal.All(journal.Naming(of.Host), func(string) {}) {
		of.Requests++
	}
	return nil
}

// pagesOf returns the pages of a host: those at its addresses, and those that were redirected there.
func (s *Service) pagesOf(ctx context.Context, name string) (map[page.Key]*page.Page, error) {
	found := map[page.Key]*page.Page{}
	at := func(raw string) bool {
		u, err := url.Parse(raw)
		return err == nil && strings.EqualFold(u.Hostname(), name)
	}
	const most = 1000
	for from := (page.Key{}); ; {
		keys := s.o.Store.PageKeys(from, most)
		for _, key := range keys {
			p, err := s.o.Store.PageAt(key)
			switch {
			case errors.Is(err, store.ErrNotFound): // it was deleted meanwhile
			case err != nil:
				return nil, fmt.Errorf("read page %s: %w", key.Doc(), err)
			case at(p.NormalizedURL) || at(p.FinalURL):
				found[key] = p
			}
		}
		if len(keys) < most || ctx.Err() != nil {
			return found, ctx.Err()
		}
		from = keys[most-1] // which is seen twice
	}
}
