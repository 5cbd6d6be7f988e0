package rank

import (
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/index/segment"
)

// most returns, for pruning, the most that a posting of a list can be worth. It does not read a short list for that.
func (s *Scorer) most(seg *segment.Segment, l *segment.List) float64 {
	if l.Postings < s.from {
		return 1
	}
	bound, err := l.Bound()
	if err != nil {
		return 1
	}
	return loosened(bound, growth(seg.Averages, s.avg))
}

// WorthPruning is the number of postings from which it pays to check whether they are needed.
const WorthPruning = 4096

// mostLeft returns, for pruning, for each term the most that it and the terms after it can add to a passage of a
// segment.
func (s *Scorer) mostLeft(n int) []float32 {
	left := make([]float32, len(s.terms)+1)
	for i := len(s.terms) - 1; i >= 0; i-- {
		left[i] = left[i+1]
		if t := &s.terms[i]; t.lists[n].List != nil {
			left[i] += float32(t.idf * (k1 + 1) * (1 + query.ExactForm) * t.lists[n].most)
		}
	}
	return left
}

// leastOfBest returns a lower bound of the score that the last of the best will have: the score of the last so far, in
// earlier segments or in this one, or 0 while there are too few.
func (s *Scorer) leastOfBest() float32 {
	least := float32(0)
	if s.top.full() {
		least = s.top.least()
	}
	scores := s.sheet.scratch[:0]
	for _, some := range s.sheet.regions() {
		for _, score := range some {
			if score > least {
				scores = append(scores, score)
			}
		}
	}
	s.sheet.scratch = scores
	if len(scores) < s.top.max {
		return least
	}
	return nthLargest(scores, s.top.max)
}

// nthLargest returns, for pruning, the nth largest number of list, and reorders list. N is from 1 to len(list).
func nthLargest(list []float32, n int) float32 {
	for len(list) > 1 {
		pivot := list[len(list)/2]
		i, j := 0, len(list)-1
		for i <= j {
			for list[i] > pivot {
				i++
			}
			for list[j] < pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j+1:
			list = list[:j+1]
		case n > i:
			list, n = list[i:], n-i
		default:
			return pivot
		}
	}
	return list[0]
}

// above returns the passages that pruning leaves: those whose score is at least least, with a margin for rounding
// errors.
func (s *Scorer) above(least float32) []uint32 {
	least -= least * 1e-4
	open := []uint32{}
	for from, scores := range s.sheet.regions() {
		for i, score := range scores {
			if score >= least {
				open = append(open, from+uint32(i))
			}
		}
	}
	return open
}

// lookUp adds the worth of a term to the scores of the passages in ords, which pruning has left and which ascend.
func (s *Scorer) lookUp(ords []uint32, seg *segment.Segment, l *termList) error {
	c := segment.NewCursor(l.List)
	for _, ord := range ords {
		at, ok := c.Seek(ord)
		if !ok {
			break
		}
		if at == ord {
			chunk, i := c.Posting()
			s.sheet.scores[ord] += l.worth(chunk, i, s.norms, seg.Lengths[ord])
		}
	}
	return c.Err
}
