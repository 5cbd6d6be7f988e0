package machine

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/store"
)

const (
	leavingDays  = 30     // that Leaving covers
	leavingMost  = 20_000 // disclosures that it reads
	leavingHosts = 100
)

// ListDisclosures lists what was sent to third parties, newest first.
func (s *Service) ListDisclosures(_ context.Context, q api.ListQuery) (*api.DisclosureList, error) {
	list, next, err := s.o.Store.Disclosures(q.Cursor, q.Limit)
	if err != nil {
		return nil, fmt.Errorf("read the ledger of disclosures: %w", err)
	}
	return &api.DisclosureList{Disclosures: api.OrEmpty(list), Next: next}, nil
}

// GetLeaving sums what was sent to third parties in the last days, by service, day and host, and says which services
// are configured or off. What went to a service on this machine has not left it, and is in no day or host.
func (s *Service) GetLeaving(context.Context, api.None) (*api.Leaving, error) {
	since := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-leavingDays)
	totals, more := s.o.Store.DisclosureTotals(since, leavingMost)
	known := map[string]bool{} // whether it runs here
	if s.o.Services != nil {
		known = s.o.Services()
	}
	services, days, hosts := map[string]*api.Disclosed{}, map[string]*api.Disclosed{}, map[string]*api.Disclosed{}
	for _, t := range totals {
		count(services, api.Disclosed{Service: t.Service}, t)
		if known[t.Service] {
			continue // nothing has left
		}
		count(days, api.Disclosed{Day: t.Day, Service: t.Service}, t)
		if t.Host != "" {
			count(hosts, api.Disclosed{Host: t.Host, Service: t.Service}, t)
		}
	}
	l := &api.Leaving{Since: since, Services: []api.Service{}, Days: sums(days), Hosts: sums(hosts), More: more}
	slices.SortFunc(l.Days, func(a, b api.Disclosed) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Service, b.Service))
	})
	if len(l.Hosts) > leavingHosts {
		l.Hosts, l.More = l.Hosts[:leavingHosts], true
	}
	off := s.o.Store.ServicesOff()
	for name := range known {
		count(services, api.Disclosed{Service: name}, store.DisclosureTotal{})
	}
	for _, name := range off {
		count(services, api.Disclosed{Service: name}, store.DisclosureTotal{})
	}
	for _, d := range sums(services) {
		here, configured := known[d.Service]
		v := api.Service{Disclosed: d, Configured: configured, Here: here, Off: slices.Contains(off, d.Service)}
		if d.Service == fetch.MarkdownNewService && configured {
			n := s.o.Fetch.Stats()
			v.Limit = &api.Limit{Sent: n.MarkdownNewSent, Remaining: n.MarkdownNewLeft}
		}
		l.Services = append(l.Services, v)
	}
	return l, nil
}

// count adds what a total of the ledger says to the sums of a day, a host or a service.
func count(sums map[string]*api.Disclosed, key api.Disclosed, t store.DisclosureTotal) {
	name := strings.Join([]string{key.Day, key.Host, key.Service}, "\x00")
	d := sums[name]
	if d == nil {
		d = &key
		sums[name] = d
	}
	d.Sent += t.Sent
	d.Bytes += t.Bytes
	if t.Last.After(d.Last) {
		d.Last = t.Last
	}
}

// sums returns what was sent to third parties, the most first.
func sums(of map[string]*api.Disclosed) []api.Disclosed {
	list := make([]api.Disclosed, 0, len(of))
	for _, d := range of {
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b api.Disclosed) int {
		return cmp.Or(cmp.Compare(b.Sent, a.Sent), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Service, b.Service))
	})
	return list
}

// SwitchService switches a service off, or on again.
func (s *Service) SwitchService(ctx context.Context, c api.ServiceSwitch) (*api.Leaving, error) {
	now, err := s.GetLeaving(ctx, api.None{})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(now.Services, func(v api.Service) bool { return v.Service == c.Service }) {
		return nil, api.Problem(http.StatusNotFound, "no service %.80q is configured, is off, or was sent something lately",
			c.Service)
	}
	if err := s.o.Store.SwitchService(c.Service, c.Off); err != nil {
		return nil, err
	}
	s.o.Log.Info("switched", "service", c.Service, "off", c.Off)
	return s.GetLeaving(ctx, api.None{})
}
