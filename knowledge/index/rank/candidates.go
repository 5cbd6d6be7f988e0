package rank

import (
	"container/heap"
	"slices"
)

// candidate is a passage with its score.
type candidate struct {
	Seg   int // in the view
	Ord   uint32
	Score float32
	Lead  bool // Score has more because it begins its document, see LeadFactor
}

// top holds the best candidates. Of equal ones the one with the smaller number stays: segments and ordinals are in its
// order.
type top struct {
	list []candidate
	max  int
}

// Len implements [heap.Interface].
func (t *top) Len() int { return len(t.list) }

// Less implements [heap.Interface].
func (t *top) Less(i, j int) bool { return worse(t.list[i], t.list[j]) }

// Swap implements [heap.Interface].
func (t *top) Swap(i, j int) { t.list[i], t.list[j] = t.list[j], t.list[i] }

// Push implements [heap.Interface].
func (t *top) Push(c any) { t.list = append(t.list, c.(candidate)) }

// Pop implements [heap.Interface].
func (t *top) Pop() any {
	last := t.list[len(t.list)-1]
	t.list = t.list[:len(t.list)-1]
	return last
}

// worse reports whether a candidate comes after another one: by its score, and among equal ones by its place, so that a
// search always gives the same order.
func worse(a, b candidate) bool {
	if a.Score != b.Score {
		return a.Score < b.Score
	}
	if a.Seg != b.Seg {
		return a.Seg > b.Seg
	}
	return a.Ord > b.Ord
}

// full reports whether there are as many candidates as may be.
func (t *top) full() bool { return len(t.list) == t.max }

// least returns the score of the worst of the best candidates.
func (t *top) least() float32 { return t.list[0].Score }

// offer takes a candidate among the best if there is room or it is better than the worst of them.
func (t *top) offer(c candidate) {
	if !t.full() {
		heap.Push(t, c)
	} else if worse(t.list[0], c) {
		t.list[0] = c
		heap.Fix(t, 0)
	}
}

// ranked returns the best candidates of a search, best first.
func (t *top) ranked() []candidate {
	slices.SortFunc(t.list, func(a, b candidate) int {
		switch {
		case worse(b, a):
			return -1
		case worse(a, b):
			return 1
		}
		return 0
	})
	return t.list
}
