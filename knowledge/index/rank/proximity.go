package rank

import (
	"cmp"
	"slices"

	"github.com/readthru/readthru/knowledge/index/segment"
)

// nearWords is the largest distance at which two words count as near each other.
const nearWords = 8

// pair is two neighbouring words of a query.
type pair struct {
	a, b int // in scorer.terms
	idf  float64
}

// pairs returns the neighbours among the words of the query, whose proximity counts. A pair is as rare as the more
// frequent of its words.
func (s *Scorer) pairs() []pair {
	order := make([]int, 0, len(s.terms))
	for i := range s.terms {
		if t := &s.terms[i]; !t.Prefix && !t.Part {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.terms[a].Pos, s.terms[b].Pos) })
	var pairs []pair
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		if s.terms[a].Stem != s.terms[b].Stem {
			pairs = append(pairs, pair{a, b, min(s.terms[a].idf, s.terms[b].idf)})
		}
	}
	return pairs
}

// scoreNeighbours raises the scores of the best passages in which neighbours of the query stand near each other.
func (s *Scorer) scoreNeighbours() {
	pairs := s.pairs()
	if len(pairs) == 0 {
		return
	}
	list := s.top.list
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.Seg, b.Seg), cmp.Compare(a.Ord, b.Ord)) })
	var cursors []*segment.Cursor
	seg := -1
	for i := range list {
		c := &list[i]
		if c.Seg != seg {
			seg = c.Seg
			cursors = s.cursors(seg)
		}
		places := segment.PlacesIn(cursors, c.Ord)
		for _, p := range pairs {
			c.Score += s.pairWorth(p, places, s.view.Segments[seg].Lengths[c.Ord])
		}
	}
}

// cursors returns, to judge the proximity of terms, a cursor for each of them in a segment, nil for a term that the
// segment does not have.
func (s *Scorer) cursors(seg int) []*segment.Cursor {
	cursors := make([]*segment.Cursor, len(s.terms))
	for t := range s.terms {
		if l := s.terms[t].lists[seg].List; l != nil {
			cursors[t] = segment.NewCursor(l)
		}
	}
	return cursors
}

// pairWorth returns what a passage gains by the proximity of a pair.
func (s *Scorer) pairWorth(p pair, places []segment.Places, l segment.Lengths) float32 {
	a, b := places[p.a], places[p.b]
	w := closeness(a.Text, b.Text)*s.norms.text[l.Text] + closeness(a.Title, b.Title)*s.norms.title[l.Title]
	return float32(pairWeight*p.idf) * float32(k1+1) * saturated(w)
}

// closeness counts how often two words stand near each other. Adjacent words in order count 1, others less.
func closeness(a, b []uint32) float32 {
	sum := float32(0)
	j := 0
	for _, p := range a {
		for j < len(b) && int(b[j]) < int(p)-nearWords {
			j++
		}
		best := float32(0)
		for k := j; k < len(b) && b[k] <= p+nearWords; k++ {
			d := float32(int(b[k]) - int(p))
			if d < 0 {
				d = 1 - d // the other way round
			}
			if d > 0 {
				best = max(best, 1/d)
			}
		}
		sum += best
	}
	return sum
}
