package store

import (
	"maps"
	"slices"
	"strings"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/wire"
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
	s.kv.walk(scan{prefix: prefix, keys: true}, func(key string, _ []byte) bool {
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
	for _, class := range []string{"hp/", "h/", hostTallyKey("")} {
		s.kv.walk(scan{prefix: class + name, keys: true}, func(key string, _ []byte) bool {
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

// totals is what z/totals holds. The writer commits the changes of a batch in the batch's own transaction, so that
// counts and records never part. As a change it holds differences, and Seq the newest job.
type totals struct {
	Pages, Visits, Versions    int64
	BySource                   map[page.Source]int64
	Responses, Bytes           int64
	MarkdownTokens, HTMLTokens int64
	Jobs                       int64 // records of the change log
	Seq                        uint64

	// Uncertain says that writes were dropped, on which later ones may have built: to be counted again at the next
	// opening.
	Uncertain bool `json:",omitempty"`
}

// add applies a change, times sign.
func (t *totals) add(d totals, sign int64) {
	t.Pages += sign * d.Pages
	t.Visits += sign * d.Visits
	t.Versions += sign * d.Versions
	t.Responses += sign * d.Responses
	t.Bytes += sign * d.Bytes
	t.MarkdownTokens += sign * d.MarkdownTokens
	t.HTMLTokens += sign * d.HTMLTokens
	t.Jobs += sign * d.Jobs
	if len(d.BySource) > 0 && t.BySource == nil {
		t.BySource = make(map[page.Source]int64, len(d.BySource))
	}
	for source, n := range d.BySource {
		t.BySource[source] += sign * n
	}
	if sign > 0 {
		t.Seq = max(t.Seq, d.Seq)
	}
}

// clone returns a copy that shares nothing.
func (t totals) clone() totals {
	t.BySource = maps.Clone(t.BySource)
	if t.BySource == nil {
		t.BySource = map[page.Source]int64{}
	}
	return t
}

func (t totals) encode() []byte { return wire.JSON(t) }
