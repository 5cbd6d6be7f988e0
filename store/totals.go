package store

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/tally"
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

// recount finds the totals by scanning, when their record is damaged or older than the rest. What no record tells any
// more (visits by source, tokens) is taken from before.
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
	if t.Visits == 0 {
		k.Walk(kv.Scan{Prefix: "c/p/"}, func(_ string, value []byte) bool {
			t.Visits += tally.Decode(value).N
			return true
		})
	}
	return t
}
