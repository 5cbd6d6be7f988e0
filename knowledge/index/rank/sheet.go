package rank

import (
	"iter"
	"sync"
)

// sheet holds the scores of the passages of a segment, by ordinal. It knows which regions have any, so that a query of
// rare words does not pay for all passages.
type sheet struct {
	scores  []float32
	touched []bool    // by region: a score in it is not 0
	scratch []float32 // of leastOfBest
}

// A region is so many passages, as a power of two.
const regionBits = 6

// sheets are those that no query uses. All their scores are 0.
var sheets = sync.Pool{New: func() any { return new(sheet) }}

// begin makes room for the scores of n passages.
func (s *sheet) begin(n int) {
	if cap(s.scores) < n {
		s.scores, s.touched = make([]float32, n), make([]bool, n>>regionBits+1)
	}
	s.scores, s.touched = s.scores[:n], s.touched[:n>>regionBits+1]
}

// end sets all scores to 0.
func (s *sheet) end() {
	for from, scores := range s.regions() {
		clear(scores)
		s.touched[from>>regionBits] = false
	}
}

// regions returns the scores of those regions of a segment in which a passage was scored, each with the ordinal of its
// first passage, in order.
func (s *sheet) regions() iter.Seq2[uint32, []float32] {
	return func(yield func(uint32, []float32) bool) {
		for r, touched := range s.touched {
			if !touched {
				continue
			}
			from := r << regionBits
			if !yield(uint32(from), s.scores[from:min(from+1<<regionBits, len(s.scores))]) {
				return
			}
		}
	}
}
