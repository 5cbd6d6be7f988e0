package store

import (
	"slices"
	"strings"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
)

// Totals are running counts, never found by scanning.
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

// PagesByHost returns how many pages of each host are stored. It reads the keys of all.
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

// HostsNamed returns the hosts with a name, in lower case, of which there are pages, stored responses or counts: each
// with its port, unless that is the default.
func (s *Store) HostsNamed(name string) []string {
	if strings.Contains(name, ":") {
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
