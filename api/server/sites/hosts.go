package sites

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/store"
)

// ListHosts lists what was learnt about all hosts and holds now.
func (s *Service) ListHosts(_ context.Context, q api.HostQuery) (*api.HostFacts, error) {
	trait, err := traitOf(q.Trait)
	if err != nil {
		return nil, err
	}
	return s.Facts(trait, 0)
}

// GetHost lists what was learnt about a host and holds now.
func (s *Service) GetHost(_ context.Context, ref api.HostRef) (*api.HostFacts, error) {
	name, err := learntHost(ref.Host)
	if err != nil {
		return nil, err
	}
	h, err := s.o.Store.Host(name)
	if err != nil {
		return nil, fmt.Errorf("read host %s: %w", name, err)
	}
	list := &api.HostFacts{Facts: []api.HostFact{}}
	for _, f := range h.Holding(time.Now()) {
		list.Facts = append(list.Facts, api.HostFact{Host: name, Fact: f})
	}
	return list, nil
}

// ForgetHost forgets what was learnt about a host.
func (s *Service) ForgetHost(_ context.Context, ref api.HostRef) (*api.Removed, error) {
	name, err := learntHost(ref.Host)
	if err != nil {
		return nil, err
	}
	n, err := s.o.Store.Forget(name, time.Now(), func(store.Fact) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("forget host %s: %w", name, err)
	}
	return &api.Removed{Removed: n}, nil
}

// ForgetHosts forgets what was learnt about all hosts: of one trait, or everything.
func (s *Service) ForgetHosts(_ context.Context, q api.HostsQuery) (*api.Removed, error) {
	trait, err := traitOf(q.Trait)
	if err != nil {
		return nil, err
	}
	if q.All == (trait != "") {
		return nil, api.Problem(http.StatusBadRequest, "name a trait, or all")
	}
	n, err := s.o.Store.ForgetEverywhere(time.Now(), func(f store.Fact) bool { return q.All || f.Trait == trait })
	if err != nil {
		return nil, fmt.Errorf("forget hosts: %w", err)
	}
	return &api.Removed{Removed: n}, nil
}

// Facts lists what was learnt about hosts and holds now, of one trait unless it is empty, limit facts at most unless it
// is 0.
func (s *Service) Facts(trait store.Trait, limit int) (*api.HostFacts, error) {
	now := time.Now()
	list := &api.HostFacts{Facts: []api.HostFact{}}
	err := s.o.Store.Hosts(func(name string, h store.Host) bool {
		for _, f := range h.Holding(now) {
			if limit > 0 && len(list.Facts) == limit {
				return false
			}
			if trait == "" || f.Trait == trait {
				list.Facts = append(list.Facts, api.HostFact{Host: name, Fact: f})
			}
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	return list, nil
}

// traitOf returns the trait of a name; empty for no name. The error is a problem for the client.
func traitOf(name string) (store.Trait, error) {
	if t := store.Trait(name); t == "" || t.Means() != "" {
		return t, nil
	}
	return "", api.Problem(http.StatusBadRequest, "no such trait: %q", name)
}

// learntHost returns a host as it is learnt about: in lower case, without a port.
func learntHost(raw string) (string, error) {
	name := strings.ToLower(raw)
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	if name = strings.Trim(name, "[]"); name == "" || strings.ContainsAny(name, "/ ") {
		return "", api.Problem(http.StatusBadRequest, "%q is not a host like a.example", raw)
	}
	return name, nil
}
