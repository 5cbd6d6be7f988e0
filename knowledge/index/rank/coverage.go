package rank

import (
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/index/segment"
)

// Coverage returns how much of a query the best of the ranked passages have, from 0 to 1, weighed by how rare its words
// are.
func (s *Scorer) Coverage(ranked []candidate) (most float64) {
	const looked = 3
	for _, c := range ranked[:min(len(ranked), looked)] {
		var has, all float64
		at := map[int]bool{} // places of the query whose words the passage has
		for i := range s.terms {
			if l := s.terms[i].lists[c.Seg].List; l != nil {
				cursor := segment.NewCursor(l)
				if ord, ok := cursor.Seek(c.Ord); ok && ord == c.Ord {
					at[s.terms[i].Pos] = true
				}
			}
		}
		for i := range s.query.Terms {
			t := &s.query.Terms[i]
			if t.Part || query.SaysLittle(t.Form) {
				continue
			}
			worth := rarity(s.total, s.DF[i])
			all += worth
			if at[t.Pos] {
				has += worth
			}
		}
		if all > 0 {
			most = max(most, has/all)
		}
	}
	return most
}
