package segment

// Bitset is a set of small numbers.
type Bitset []uint64

// NewBitset returns a set for numbers below n.
func NewBitset(n int) Bitset { return make(Bitset, (n+63)/64) }

// Has reports whether i is in the set.
func (s Bitset) Has(i uint32) bool { return s[i>>6]>>(i&63)&1 != 0 }

// Add puts i in the set.
func (s Bitset) Add(i uint32) { s[i>>6] |= 1 << (i & 63) }

// remove takes i out of the set.
func (s Bitset) remove(i uint32) { s[i>>6] &^= 1 << (i & 63) }
