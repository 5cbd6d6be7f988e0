package segment

import "testing"

func TestBlocksInMemoryGrowWithTheIndex(t *testing.T) {
	c := NewBlocks(nil)
	for _, tt := range []struct{ index, most int64 }{
		{0, 12 << 20}, {40 << 20, 12 << 20}, {320 << 20, 80 << 20}, {4 << 30, 128 << 20},
	} {
		if c.Fit([]*Segment{{Bytes: tt.index}}); int64(c.max) != tt.most {
			t.Errorf("of an index of %d bytes %d may stay, want %d", tt.index, c.max, tt.most)
		}
	}
	for n := range uint32(80) {
		c.put(blockID{1, n}, make([]byte, 1<<20))
	}
	c.Fit(nil)
	_, old := c.get(blockID{1, 60})
	if _, last := c.get(blockID{1, 79}); old || !last || c.bytes > leastBlocks || len(c.byID) != 12 {
		t.Errorf("%d bytes in %d blocks stay after the index has shrunk", c.bytes, len(c.byID))
	}
}
