package index

import (
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/knowledge/index/segment"
)

// filter returns the documents that a query may find: those of allow (of a base, with some metadata; nil: any) that
// have its host and kind and are new enough. nil means all. The caller holds mu.
func (x *Index) filter(q *Query, allow *roaring.Bitmap) segment.Bitset {
	if allow == nil && q.Host == "" && q.Kind == "" && q.Since.IsZero() {
		return nil
	}
	docs := segment.NewBitset(len(x.docs.rows))
	host, knowsHost := x.docs.names.numbers[strings.ToLower(q.Host)]
	kind, knowsKind := x.docs.names.numbers[q.Kind]
	if q.Host != "" && !knowsHost || q.Kind != "" && !knowsKind {
		return docs
	}
	f := documentFilter{q: q, host: host, kind: kind}
	if allow != nil {
		for it := allow.Iterator(); it.HasNext(); {
			if n := it.Next(); int(n) < len(x.docs.rows) && f.accepts(&x.docs.rows[n]) {
				docs.Add(n)
			}
		}
		return docs
	}
	for n := range x.docs.rows {
		if f.accepts(&x.docs.rows[n]) {
			docs.Add(uint32(n))
		}
	}
	return docs
}

// documentFilter is what a query asks of a document beside membership.
type documentFilter struct {
	q          *Query
	host, kind uint32
}

// accepts reports whether the filter lets a document be a hit.
func (f *documentFilter) accepts(row *docRow) bool {
	return row.live && (f.q.Host == "" || row.host == f.host) && (f.q.Kind == "" || row.kind == f.kind) &&
		(f.q.Since.IsZero() || row.fetched >= f.q.Since.Unix())
}

// allowed returns for each segment the passages that a filter lets be hits, of among if that is not nil; nil: all. The
// caller holds mu.
func (x *Index) allowed(docs segment.Bitset, among *roaring.Bitmap) []segment.Bitset {
	sets := make([]segment.Bitset, len(x.segments))
	at := make(map[*segment.Segment]segment.Bitset, len(x.segments))
	for n, s := range x.segments {
		if docs == nil && among == nil && s.Live == s.Len() {
			continue
		}
		set := segment.NewBitset(s.Len())
		for i, number := range s.Numbers {
			ord := uint32(i)
			if (docs == nil || docs.Has(s.Owners[i]) && !s.Orphans.Has(ord)) && (among == nil || among.Contains(number)) {
				set.Add(ord)
			}
		}
		sets[n], at[s] = set, set
	}
	if docs != nil { // looking each passage's further owners up would cost more than all else
		for doc, numbers := range x.sharedBy {
			if !docs.Has(doc) {
				continue
			}
			for _, number := range numbers {
				if s := segment.Of(x.segments, number); s != nil && (among == nil || among.Contains(number)) {
					if ord, ok := s.Ordinal(number); ok {
						at[s].Add(ord)
					}
				}
			}
		}
	}
	for s, set := range at {
		for i, dead := range s.Dead {
			set[i] &^= dead
		}
	}
	return sets
}

// ownersIn returns those owners of a passage that a filter lets be hits, the first maxOwners. The caller holds mu.
func (x *Index) ownersIn(s *segment.Segment, ord uint32, docs segment.Bitset) []uint32 {
	owners := x.owners(s, ord)
	if docs != nil {
		owners = slices.DeleteFunc(owners, func(n uint32) bool { return !docs.Has(n) })
	}
	return owners[:min(len(owners), maxOwners)]
}

// passageFilter returns which passages may be hits, as of now; nil: all.
func (x *Index) passageFilter(q *Query, allow *roaring.Bitmap) func(passage uint32) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	docs := x.filter(q, allow)
	if docs == nil && q.among == nil {
		return nil
	}
	set := segment.NewBitset(int(x.next.passage))
	sets := x.allowed(docs, q.among)
	for n, s := range x.segments {
		for i, number := range s.Numbers {
			if sets[n].Has(uint32(i)) {
				set.Add(number)
			}
		}
	}
	return func(passage uint32) bool { return int(passage>>6) < len(set) && set.Has(passage) }
}

// allowedOwners is ownersIn for a single passage: it looks at the documents of that passage alone, where filter looks
// at all. The caller holds mu.
func (x *Index) allowedOwners(passage uint32, q *Query, allow *roaring.Bitmap) []uint32 {
	s := segment.Of(x.segments, passage)
	if s == nil {
		return nil
	}
	ord, ok := s.Ordinal(passage)
	if !ok {
		return nil
	}
	host, knowsHost := x.docs.names.numbers[strings.ToLower(q.Host)]
	kind, knowsKind := x.docs.names.numbers[q.Kind]
	if q.Host != "" && !knowsHost || q.Kind != "" && !knowsKind {
		return nil
	}
	f := documentFilter{q: q, host: host, kind: kind}
	owners := slices.DeleteFunc(x.owners(s, ord), func(n uint32) bool {
		return allow != nil && !allow.Contains(n) || !f.accepts(&x.docs.rows[n])
	})
	return owners[:min(len(owners), maxOwners)]
}
