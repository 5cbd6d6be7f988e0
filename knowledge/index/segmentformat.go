package index

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
)

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) has(i uint32) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s bitset) add(i uint32)      { s[i>>6] |= 1 << (i & 63) }
func (s bitset) remove(i uint32)   { s[i>>6] &^= 1 << (i & 63) }

// segment is the part of a segment that is kept in memory: the table of its passages and the places of its terms.
// Terms, numbers, hashes, lengths and the owners that the table names never change; the two sets do.
type segment struct {
	id      uint32
	refs    []blockRef
	avg     averages // used to compute the bounds of its chunks
	bytes   int64    // of its blocks
	numbers []uint32 // of its passages, ascending
	hashes  [][16]byte
	owners  []uint32 // the document that each passage was indexed for
	lengths []lengths

	dead    bitset // passages that no document owns any more
	orphans bitset // passages that the document in owners no longer owns
	live    int
}

func (s *segment) len() int { return len(s.numbers) }

// last returns the number of the segment's last passage.
func (s *segment) last() uint32 { return s.numbers[s.len()-1] }

// ordinal returns the position of a passage in the segment.
func (s *segment) ordinal(number uint32) (uint32, bool) {
	n := len(s.numbers)
	if n == 0 || number < s.numbers[0] || number > s.numbers[n-1] {
		return 0, false
	}
	if i := int(number - s.numbers[0]); i < n && s.numbers[i] == number { // nothing before it was ever deleted
		return uint32(i), true
	}
	i, ok := slices.BinarySearch(s.numbers, number)
	return uint32(i), ok
}

// largestSegment is how many passages a segment has at most.
const largestSegment = 1 << 20

// own records the owners of a passage.
func (s *segment) own(ord uint32, owners []uint32) {
	s.dead.remove(ord)
	s.orphans.remove(ord)
	if len(owners) == 0 {
		s.dead.add(ord)
	} else if _, has := slices.BinarySearch(owners, s.owners[ord]); !has {
		s.orphans.add(ord)
	}
}

// bounds says what a posting in a passage of these lengths is worth at most, as a number of 255ths that a chunk keeps.
type bounds func(p *posting, l lengths) uint8

// writer returns a writer for the terms of the segment, whose table is complete.
func (s *segment) writer(bound bounds, out func([]byte) error) *segmentWriter {
	return &segmentWriter{out: out, bound: func(p *posting) uint8 { return bound(p, s.lengths[p.ord]) }}
}

// changeable returns a copy of the segment whose owners can be changed without its own.
func (s *segment) changeable() *segment {
	return &segment{
		id: s.id, numbers: s.numbers, owners: s.owners, dead: slices.Clone(s.dead), orphans: slices.Clone(s.orphans),
	}
}

// The table of a segment is stored in parts of tablePart passages, the sets that change in parts of changesPart.
const (
	tablePart   = 1 << 13
	changesPart = 1 << 16
)

// encodeTable returns a part of the table.
func (s *segment) encodeTable(part int) []byte {
	from := part * tablePart
	to := min(from+tablePart, s.len())
	b := binary.AppendUvarint(nil, uint64(to-from))
	prev := uint32(0)
	for i := from; i < to; i++ {
		b = binary.AppendUvarint(b, uint64(s.numbers[i]-prev))
		prev = s.numbers[i]
		b = append(b, s.hashes[i][:]...)
		b = binary.AppendUvarint(b, uint64(s.owners[i]))
		b = binary.AppendUvarint(b, uint64(s.lengths[i].text))
		b = append(b, s.lengths[i].title, s.lengths[i].path, byte(s.lengths[i].kind))
	}
	return b
}

func (s *segment) parts() int { return (s.len() + tablePart - 1) / tablePart }

// decodeTable adds a part of the table.
func (s *segment) decodeTable(b []byte) error {
	n, b := uvarint(b)
	number := uint64(0)
	for range n {
		var d, owner, text uint64
		d, b = uvarint(b)
		if len(b) < 16 {
			return errSegment
		}
		hash := [16]byte(b)
		owner, b = uvarint(b[16:])
		text, b = uvarint(b)
		if len(b) < 3 || text > maxTextLen {
			return errSegment
		}
		number += d
		s.numbers = append(s.numbers, uint32(number))
		s.hashes = append(s.hashes, hash)
		s.owners = append(s.owners, uint32(owner))
		s.lengths = append(s.lengths, lengths{text: uint16(text), title: b[0], path: b[1], kind: passageKind(b[2])})
		b = b[3:]
	}
	return nil
}

// makeRoom lets n passages be added without growing. More passages than a segment has may be claimed by damage.
func (s *segment) makeRoom(n int) {
	n = min(n, largestSegment)
	s.numbers, s.owners = make([]uint32, 0, n), make([]uint32, 0, n)
	s.hashes, s.lengths = make([][16]byte, 0, n), make([]lengths, 0, n)
}

// ready allocates the sets that change, once the table is complete.
func (s *segment) ready() {
	s.dead, s.orphans, s.live = newBitset(s.len()), newBitset(s.len()), s.len()
}

// encodeMeta returns the record of the segment without its table.
func (s *segment) encodeMeta() []byte {
	b := binary.AppendUvarint(nil, uint64(s.len()))
	for _, v := range []float64{s.avg.text, s.avg.title, s.avg.path} {
		b = binary.AppendUvarint(b, uint64(v*1000))
	}
	b = binary.AppendUvarint(b, uint64(s.bytes))
	b = binary.AppendUvarint(b, uint64(len(s.refs)))
	before := ""
	for _, r := range s.refs {
		goes := byte(0)
		if r.goes {
			goes = 1
		}
		b = appendShared(append(b, goes), r.first, before)
		before = r.first
	}
	return b
}

// decodeMeta reads the record that encodeMeta wrote and returns how many passages the table has.
func (s *segment) decodeMeta(b []byte) (passages int, err error) {
	n, b := uvarint(b)
	for _, v := range []*float64{&s.avg.text, &s.avg.title, &s.avg.path} {
		var milli uint64
		milli, b = uvarint(b)
		*v = float64(milli) / 1000
	}
	bytes, b := uvarint(b)
	s.bytes = int64(bytes)
	refs, b := uvarint(b)
	before := ""
	for range refs {
		if len(b) == 0 {
			return 0, errSegment
		}
		goes := b[0] != 0
		var shared, rest uint64
		shared, b = uvarint(b[1:])
		rest, b = uvarint(b)
		if shared > uint64(len(before)) || rest > uint64(len(b)) {
			return 0, errSegment
		}
		before = before[:shared] + string(b[:rest])
		s.refs = append(s.refs, blockRef{first: before, goes: goes})
		b = b[rest:]
	}
	return int(n), nil
}

// encodeChanges encodes which passages of a range are dead, and which lost the owner that the table names.
func (s *segment) encodeChanges(part int) []byte {
	from, to := uint32(part*changesPart), uint32(min((part+1)*changesPart, s.len()))
	dead, orphans := roaring.New(), roaring.New()
	for i := from; i < to; i++ {
		if s.dead.has(i) {
			dead.Add(i - from)
		} else if s.orphans.has(i) {
			orphans.Add(i - from)
		}
	}
	var b []byte
	for _, set := range []*roaring.Bitmap{dead, orphans} {
		set.RunOptimize()
		bytes, err := set.ToBytes()
		if err != nil {
			panic(err) // it writes to memory
		}
		b = binary.AppendUvarint(b, uint64(len(bytes)))
		b = append(b, bytes...)
	}
	return b
}

func (s *segment) decodeChanges(part int, b []byte) error {
	for _, into := range []bitset{s.dead, s.orphans} {
		var size uint64
		size, b = uvarint(b)
		if size > uint64(len(b)) {
			return errSegment
		}
		set := roaring.New()
		if set.UnmarshalBinary(b[:size]) != nil || set.Validate() != nil { // the first does not look into containers
			return errSegment
		}
		b = b[size:]
		for it := set.Iterator(); it.HasNext(); {
			i := uint64(it.Next()) + uint64(part)*changesPart
			if i >= uint64(s.len()) || i >= uint64(part+1)*changesPart {
				return errSegment
			}
			into.add(uint32(i))
		}
	}
	return nil
}

// changed reports whether a range of passages has dead ones or orphans.
func (s *segment) changed(part int) bool {
	from, to := part*changesPart/64, min((part+1)*changesPart/64, len(s.dead))
	for i := from; i < to; i++ {
		if s.dead[i]|s.orphans[i] != 0 {
			return true
		}
	}
	return false
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func cutText(b []byte) (s string, rest []byte, ok bool) {
	n, b := uvarint(b)
	if b == nil || n > uint64(len(b)) {
		return "", nil, false
	}
	return string(b[:n]), b[n:], true
}

// encodeNumbers packs ascending numbers.
func encodeNumbers(numbers []uint32) []byte {
	b := binary.AppendUvarint(nil, uint64(len(numbers)))
	prev := uint32(0)
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n-prev))
		prev = n
	}
	return b
}

func decodeNumbers(b []byte) ([]uint32, error) {
	n, b := uvarint(b)
	if n > uint64(len(b)) {
		return nil, errSegment
	}
	numbers := make([]uint32, 0, n)
	number := uint64(0)
	for range n {
		if len(b) == 0 {
			return nil, errSegment
		}
		var d uint64
		d, b = uvarint(b)
		number += d
		numbers = append(numbers, uint32(number))
	}
	return numbers, nil
}

// segmentOf returns the segment whose range of numbers has a passage's number. Segments are in the order of numbers.
func segmentOf(segments []*segment, number uint32) *segment {
	i := sort.Search(len(segments), func(i int) bool {
		return segments[i].last() >= number
	})
	if i == len(segments) {
		return nil
	}
	return segments[i]
}
