package index

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/readthru/readthru/knowledge/index/segment"
)

// hashTable finds live passages by the hash of their text. It keeps 8 bytes for each, with some room, and not the hash,
// which their segment has: a map took five times that.
type hashTable struct {
	// slots hold 32 bits of the hash and the passage's number plus 1; 0 is empty. Their number is a power of two. A
	// passage lies where its bits say or, if others do, in one of the slots that follow without a gap.
	slots []uint64
	live  int

	// hashOf returns the hash of a passage that is in the table.
	hashOf func(number uint32) (hash [16]byte, ok bool)
}

// slotOf returns the slot of a hash table that a number with some bits of its hash fills.
func slotOf(hash [16]byte, number uint32) uint64 {
	return uint64(binary.BigEndian.Uint32(hash[:]))<<32 | uint64(number+1)
}

// numberIn returns the number of the passage that a slot of a hash table has.
func numberIn(slot uint64) uint32 { return uint32(slot) - 1 }

// home returns where a slot's passage lies if no other does.
func (t *hashTable) home(slot uint64) int { return int(slot>>32) & (len(t.slots) - 1) }

// find returns where the hash of a passage lies in the table, or else where it would be put. A slot holds 32 of the 128
// bits of the hash; all of them are compared in the segments.
func (t *hashTable) find(hash [16]byte) (at int, found bool) {
	wanted := slotOf(hash, 0) >> 32
	for at = t.home(wanted << 32); t.slots[at] != 0; at = (at + 1) & (len(t.slots) - 1) {
		if t.slots[at]>>32 != wanted {
			continue
		}
		if h, ok := t.hashOf(numberIn(t.slots[at])); ok && h == hash {
			return at, true
		}
	}
	return at, false
}

// get returns the number of the passage with a hash.
func (t *hashTable) get(hash [16]byte) (number uint32, ok bool) {
	if t.live == 0 {
		return 0, false
	}
	at, ok := t.find(hash)
	if !ok {
		return 0, false
	}
	return numberIn(t.slots[at]), true
}

// set puts a passage in, in place of another one with the same hash.
func (t *hashTable) set(hash [16]byte, number uint32) {
	if 4*(t.live+1) > 3*len(t.slots) {
		t.grow(max(2*len(t.slots), 16))
	}
	at, found := t.find(hash)
	t.slots[at] = slotOf(hash, number)
	if !found {
		t.live++
	}
}

// makeRoom lets n passages be in the table before it grows.
func (t *hashTable) makeRoom(n int) {
	if size := 1 << bits.Len(uint(n+n/3)); size > len(t.slots) {
		t.grow(size)
	}
}

// grow makes the table of hashes larger, and puts all passages in again. Size is a power of two.
func (t *hashTable) grow(size int) {
	old := t.slots
	t.slots = make([]uint64, size)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := t.home(slot)
		for t.slots[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		t.slots[at] = slot
	}
}

// remove takes a passage out of the table of hashes, unless another one has its hash by now. What follows moves up, so
// that no gap ends a search for it.
func (t *hashTable) remove(hash [16]byte, number uint32) {
	if n, ok := t.get(hash); !ok || n != number {
		return
	}
	gap, _ := t.find(hash)
	t.live--
	mask := len(t.slots) - 1
	for at := (gap + 1) & mask; t.slots[at] != 0; at = (at + 1) & mask {
		// What is as far from its home as from the gap, or farther, may lie in the gap.
		if (at-t.home(t.slots[at]))&mask >= (at-gap)&mask {
			t.slots[gap] = t.slots[at]
			gap = at
		}
	}
	t.slots[gap] = 0
}

// numbers returns the numbers of all passages in the table of hashes, in no order.
func (t *hashTable) numbers() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, slot := range t.slots {
			if slot != 0 && !yield(numberIn(slot)) {
				return
			}
		}
	}
}

// table returns the table of hashes of the live passages of a kind.
func (x *Index) table(kind segment.Kind) *hashTable {
	if kind&segment.BarePassage != 0 {
		return &x.bare
	}
	return &x.byHash
}
