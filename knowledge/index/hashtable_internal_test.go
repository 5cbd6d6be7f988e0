package index

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// The table is a map, whatever is put in and taken out, also where the bits that it keeps of hashes are the same.
func TestHashTableIsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	hashes := make([][16]byte, 3000) // of passages by number: several numbers have the same
	for i := range hashes {
		hashes[i] = [16]byte{byte(r.IntN(3)), 0, byte(r.IntN(4)), byte(r.IntN(256)), byte(r.IntN(3))}
	}
	table := hashTable{hashOf: func(number uint32) ([16]byte, bool) { return hashes[number], true }}
	want := map[[16]byte]uint32{}
	for step := range 40_000 {
		number := uint32(r.IntN(len(hashes)))
		hash := hashes[number]
		if step%3 == 0 || step > 30_000 {
			table.remove(hash, number)
			if n, ok := want[hash]; ok && n == number {
				delete(want, hash)
			}
		} else {
			table.set(hash, number)
			want[hash] = number
		}
		number = uint32(r.IntN(len(hashes)))
		got, ok := table.get(hashes[number])
		if n, there := want[hashes[number]]; got != n || ok != there {
			t.Fatalf("step %d: get says %d, %v, want %d, %v", step, got, ok, n, there)
		}
		if table.live != len(want) {
			t.Fatalf("step %d: %d passages, want %d", step, table.live, len(want))
		}
	}
	got, all := slices.Sorted(table.numbers()), slices.Sorted(maps.Values(want))
	if !slices.Equal(got, all) {
		t.Errorf("the table holds %d passages, want %d: %v and %v", len(got), len(all), got, all)
	}
}
