package knowledge

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

func TestBlocksInMemoryGrowWithTheIndex(t *testing.T) {
	c := newBlockCache(leastBlocks)
	for _, tt := range []struct{ index, most int64 }{
		{0, 12 << 20}, {40 << 20, 12 << 20}, {320 << 20, 80 << 20}, {4 << 30, 128 << 20},
	} {
		if c.fit(tt.index); int64(c.max) != tt.most {
			t.Errorf("of an index of %d bytes %d may stay, want %d", tt.index, c.max, tt.most)
		}
	}
	for n := range uint32(80) {
		c.put(blockID{1, n}, make([]byte, 1<<20))
	}
	c.fit(0)
	_, old := c.get(blockID{1, 60})
	if _, last := c.get(blockID{1, 79}); old || !last || c.bytes > leastBlocks || len(c.byID) != 12 {
		t.Errorf("%d bytes in %d blocks stay after the index has shrunk", c.bytes, len(c.byID))
	}
}
