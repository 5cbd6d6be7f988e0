//go:build unix

package symbols

import "testing"

func TestMemoryGrowsInPlace(t *testing.T) {
	for name, memory := range map[string]interface {
		Reallocate(size uint64) []byte
		Free()
	}{"reserved": reserve(0, 1<<20), "heap": &onHeap{}} {
		first := memory.Reallocate(64 << 10)
		first[len(first)-1] = 7
		grown := memory.Reallocate(1 << 20)
		if len(grown) != 1<<20 || grown[64<<10-1] != 7 || grown[1<<20-1] != 0 {
			t.Errorf("%s: %d bytes, want 1 MiB with what was written", name, len(grown))
		}
		if name == "reserved" && (&first[0] != &grown[0] || memory.Reallocate(1<<20+1) != nil) {
			t.Errorf("%s: it moved, or grew beyond its limit", name)
		}
		memory.Free()
	}
}
