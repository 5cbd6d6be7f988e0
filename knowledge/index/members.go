package index

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/page"
)

// NumbersOf returns the numbers of those of some documents that are indexed.
func (x *Index) NumbersOf(keys map[page.Key]struct{}) *roaring.Bitmap {
	numbers := roaring.New()
	if len(keys) == 0 {
		return numbers
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for n, row := range x.docs.rows {
		if _, ok := keys[row.key]; ok && row.live {
			numbers.Add(uint32(n))
		}
	}
	return numbers
}

// PassagesIn returns how many live passages some documents have; one that several have counts once, and
// nameplates do not.
func (x *Index) PassagesIn(docs *roaring.Bitmap) (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.segments {
		for i, number := range s.Numbers {
			switch i := uint32(i); {
			case s.Dead.Has(i), s.Lengths[i].Kind&segment.Nameplate != 0:
			case !s.Orphans.Has(i) && docs.Contains(s.Owners[i]), slices.ContainsFunc(x.shared[number], docs.Contains):
				n++
			}
		}
	}
	return n
}
