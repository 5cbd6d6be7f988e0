package store

import (
	"encoding/json"
	"fmt"
	"time"
)

// Host is what was learnt about a host.
type Host struct {
	Negotiates   bool                 // answered text/markdown to a request that named it
	Twins        bool                 // a .md twin worked
	RejectsCA    map[string]time.Time // clients (by address or user) that rejected our CA here, and when
	PreferHTML   bool                 // its negotiated markdown was rejected
	RenderHelped time.Time            // when a page of its that was rendered had far more text than without
}

// Host returns what was learnt about a host; the zero value for an unknown host. RejectsCA is shared: never change it.
func (s *Store) Host(name string) (Host, error) {
	if name = cleanHost(name); name == "" {
		return Host{}, nil
	}
	h, err := decode[Host](s.kv, learntKey(name))
	if err != nil {
		return Host{}, nil //nolint:nilerr // nothing learnt yet, or forgotten: both are nothing
	}
	return *h, nil
}

// UpdateHost lets f change what was learnt about a host. F must be quick: other writes wait. The error is ErrFull, or
// says that name is no host.
func (s *Store) UpdateHost(name string, f func(*Host)) error {
	clean := cleanHost(name)
	if clean == "" {
		return fmt.Errorf("update host: %q is not a host", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &batch{}
	var h Host
	_ = s.kv.getJSON(b, learntKey(clean), &h) // nothing learnt yet, or forgotten
	f(&h)
	b.set(learntKey(clean), encodeJSON(h))
	return s.kv.apply(b)
}

// Hosts calls f for each known host, in the order of their names, until f returns false.
func (s *Store) Hosts(f func(name string, h Host) bool) error {
	s.settle()
	prefix := "n/"
	s.kv.walk(scan{prefix: prefix}, func(key string, value []byte) bool {
		var h Host
		if json.Unmarshal(value, &h) != nil {
			return true
		}
		return f(key[len(prefix):len(key)-1], h)
	})
	return nil
}
