package store

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/tally"
)

// Count adds n to a durable counter (class, id) and returns the new value. It is on disk within a second.
func (s *Store) Count(class, id string, n int64) int64 {
	value := s.tallies.Increase(keys.NamedTally(class, id), n)
	s.wakeHousekeeper()
	return value
}

// HostTotal counts the use of a host.
type HostTotal struct {
	Host         string
	Visits, Hits int64
}

// TopHosts returns the hosts with the most visits, most first; at most limit.
func (s *Store) TopHosts(limit int) ([]HostTotal, error) {
	var top []HostTotal
	order := func(a, b HostTotal) int {
		return cmp.Or(cmp.Compare(b.Visits, a.Visits), strings.Compare(a.Host, b.Host))
	}
	for h := range s.HostTotals() {
		top = insert(top, h, limit, order)
	}
	return top, nil
}

// HostTotals yields the use of each host, by name.
func (s *Store) HostTotals() iter.Seq[HostTotal] {
	return func(yield func(HostTotal) bool) {
		s.flushCounts()
		s.settle()
		prefix := keys.HostTally("")
		s.kv.Walk(kv.Scan{Prefix: prefix}, func(key string, value []byte) bool {
			t := tally.Decode(value)
			return yield(HostTotal{key[len(prefix):], t.N, t.Hits})
		})
	}
}

// HostTotal counts the use of one host.
func (s *Store) HostTotal(host string) HostTotal {
	s.flushCounts()
	t := s.tallies.Read(keys.HostTally(host))
	return HostTotal{host, t.N, t.Hits}
}

// DeleteHostTotal forgets the use of a host.
func (s *Store) DeleteHostTotal(host string) error {
	s.countRepeated()
	if err := s.tallies.Delete(keys.HostTally(host)); err != nil {
		return fmt.Errorf("delete the count of %s: %w", host, err)
	}
	return nil
}

// insert puts v into a sorted list that keeps its first limit elements.
func insert[V any](list []V, v V, limit int, order func(a, b V) int) []V {
	i, _ := slices.BinarySearchFunc(list, v, order)
	if i >= limit {
		return list
	}
	list = slices.Insert(list, i, v)
	return list[:min(len(list), limit)]
}
