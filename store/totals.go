package store

import (
	"encoding/json"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/tally"
)

// Count adds n to a durable counter (class, id), which is no part of the totals, and returns the new value. It is on
// disk within a second.
func (s *Store) Count(class, id string, n int64) int64 {
	value := s.tallies.Increase(keys.NamedTally(class, id), n)
	s.wakeHousekeeper()
	return value
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
