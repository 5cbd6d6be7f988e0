package rank

import (
	"slices"
	"testing"
)

func TestASheetGoesOverWhatIsTouchedAndIsEmptyAfterwards(t *testing.T) {
	var s sheet
	for _, n := range []int{1000, 64, 65, 1, 1000} {
		s.begin(n)
		var want []uint32
		for _, ord := range []uint32{0, 63, 64, 700, 999} {
			if int(ord) < n {
				s.scores[ord] = 1
				s.touched[ord>>regionBits] = true
				want = append(want, ord)
			}
		}
		var got []uint32
		passed := 0
		for from, scores := range s.regions() {
			passed += len(scores)
			for i, score := range scores {
				if score > 0 {
					got = append(got, from+uint32(i))
				}
			}
		}
		if !slices.Equal(got, want) || n == 1000 && passed != 64*3+1000-960 {
			t.Errorf("of %d passages %v have scores, want %v; %d were looked at", n, got, want, passed)
		}
		s.end()
		all := s.scores[:cap(s.scores)]
		if slices.ContainsFunc(all, func(score float32) bool { return score != 0 }) || slices.Contains(s.touched, true) {
			t.Errorf("after %d passages scores stay", n)
		}
	}
}
