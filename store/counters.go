package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/body"
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

// TopHosts returns the hosts with the most visits, most first; at most limit. It reads the counters of all hosts.
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

// HostTotals yields the use of each host that was visited, in the order of their names. It writes the counts that wait
// in memory first, and then reads the disk.
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

// DeleteHostTotal forgets how often pages of a host were visited, when an operator removes a site with all that is
// known of it. Running totals stay.
func (s *Store) DeleteHostTotal(host string) error {
	s.countRepeated()
	if err := s.tallies.Delete(keys.HostTally(host)); err != nil {
		return fmt.Errorf("delete the count of %s: %w", host, err)
	}
	return nil
}

// insert puts v into a sorted list that keeps its first limit elements, for the listings of pages and hosts: so a
// listing of all holds no more than one page of its answer in memory.
func insert[V any](list []V, v V, limit int, order func(a, b V) int) []V {
	i, _ := slices.BinarySearchFunc(list, v, order)
	if i >= limit {
		return list
	}
	list = slices.Insert(list, i, v)
	return list[:min(len(list), limit)]
}

// Totals are running counts of the whole store, kept in a record that each write updates: to read them scans nothing.
type Totals struct {
	Pages, Visits, Versions    int64
	VisitsBySource             map[page.Source]int64
	Responses, ResponseBytes   int64 // stored responses, and the bytes of their bodies as received, equal ones once
	MarkdownTokens, HTMLTokens int64 // summed over visits
}

// Totals returns the counts now, with everything accepted so far.
func (s *Store) Totals() Totals {
	s.countRepeated()
	t := s.visits.totals(s.kv)
	return Totals{
		Pages: t.Pages, Visits: t.Visits, Versions: t.Versions, VisitsBySource: t.BySource,
		Responses: t.Responses, ResponseBytes: t.Bytes, MarkdownTokens: t.MarkdownTokens, HTMLTokens: t.HTMLTokens,
	}
}

// PagesByHost returns how many pages of each host are stored, by the host with its port unless that is the default. It
// reads the keys of all pages, not their records.
func (s *Store) PagesByHost() map[string]int {
	s.settle()
	hosts := map[string]int{}
	prefix := "hp/"
	s.kv.Walk(kv.Scan{Prefix: prefix, Keys: true}, func(key string, _ []byte) bool {
		if host, _, ok := strings.Cut(key[len(prefix):], "/"); ok {
			hosts[host]++
		}
		return true
	})
	return hosts
}

// HostsNamed returns the hosts with a name, in lower case, of which there are pages, stored responses or counts of
// visits: each with its port, unless that is the default. It is for commands whose user names a host without its port.
func (s *Store) HostsNamed(name string) []string {
	if strings.Contains(name, ":") {
		// an IPv6 address: keys have it as URLs do (RFC 3986 §3.2.2)
		name = "[" + name + "]"
	}
	s.flushCounts()
	s.settle()
	var hosts []string
	for _, class := range []string{"hp/", "h/", keys.HostTally("")} {
		s.kv.Walk(kv.Scan{Prefix: class + name, Keys: true}, func(key string, _ []byte) bool {
			host, _, _ := strings.Cut(key[len(class):], "/")
			if host == name || strings.HasPrefix(host, name+":") {
				hosts = append(hosts, host)
			}
			return true
		})
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// recount finds the store's totals by scanning all records, when the record of the totals is damaged or older than the
// rest; package kv calls it when it opens such a store. What no record tells any more (visits by source, tokens) is
// taken from before.
func recount(k *kv.DB, before kv.Totals) kv.Totals {
	t := before.Clone()
	t.Uncertain = false
	t.Pages, t.Versions, t.Responses, t.Bytes, t.Jobs = 0, 0, 0, 0, 0
	k.Walk(kv.Scan{Prefix: "p/", Keys: true}, func(string, []byte) bool { t.Pages++; return true })
	k.Walk(kv.Scan{Prefix: "pv/"}, func(_ string, value []byte) bool {
		var list []struct{}
		if json.Unmarshal(value, &list) == nil {
			t.Versions += int64(len(list))
		}
		return true
	})
	k.Walk(kv.Scan{Prefix: "u/"}, func(_ string, value []byte) bool {
		v, _ := decodeVariants(value)
		t.Responses += int64(len(v.IDs))
		return true
	})
	k.Walk(kv.Scan{Prefix: "d/"}, func(_ string, value []byte) bool {
		if m, ok := body.Decode(value); ok && m.Responses > 0 {
			t.Bytes += m.Length
		}
		return true
	})
	k.Walk(kv.Scan{Prefix: "j/", Keys: true}, func(string, []byte) bool { t.Jobs++; return true })
	// records of visits end after 180 days, the counters of pages stay
	if t.Visits == 0 {
		k.Walk(kv.Scan{Prefix: "c/p/"}, func(_ string, value []byte) bool {
			t.Visits += tally.Decode(value).N
			return true
		})
	}
	return t
}
