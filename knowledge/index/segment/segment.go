package segment

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
)

// Segment is the part of a segment that is kept in memory: the table of its passages and the places of its terms.
// Terms, numbers, hashes, lengths and the owners that the table names never change; the two sets do.
type Segment struct {
	ID       uint32
	refs     []blockRef // its blocks of terms
	Averages Averages   // used to compute the bounds of its chunks
	Bytes    int64      // of its blocks
	Numbers  []uint32   // of its passages, ascending
	Hashes   [][16]byte
	Owners   []uint32 // the document that each passage was indexed for
	Lengths  []Lengths

	Dead    Bitset // passages that no document owns any more
	Orphans Bitset // passages that the document in Owners no longer owns
	Live    int    // passages that are not dead
}

// Len returns how many passages the segment has, dead ones among them.
func (s *Segment) Len() int { return len(s.Numbers) }

// Last returns the number of the segment's last passage.
func (s *Segment) Last() uint32 { return s.Numbers[s.Len()-1] }

// Ordinal returns the position of a passage in the segment.
func (s *Segment) Ordinal(number uint32) (uint32, bool) {
	n := len(s.Numbers)
	if n == 0 || number < s.Numbers[0] || number > s.Numbers[n-1] {
		return 0, false
	}
	if i := int(number - s.Numbers[0]); i < n && s.Numbers[i] == number { // nothing before it was ever deleted
		return uint32(i), true
	}
	i, ok := slices.BinarySearch(s.Numbers, number)
	return uint32(i), ok
}

// Largest is how many passages a segment has at most.
const Largest = 1 << 20

// Own records the owners of a passage.
func (s *Segment) Own(ord uint32, owners []uint32) {
	s.Dead.remove(ord)
	s.Orphans.remove(ord)
	if len(owners) == 0 {
		s.Dead.Add(ord)
	} else if _, has := slices.BinarySearch(owners, s.Owners[ord]); !has {
		s.Orphans.Add(ord)
	}
}

// Bounds says what a posting in a passage of these lengths is worth at most, as a number of 255ths that a chunk keeps.
type Bounds func(p *Posting, l Lengths) uint8

// Changeable returns a copy of the segment whose owners can be changed without its own.
func (s *Segment) Changeable() *Segment {
	return &Segment{
		ID: s.ID, Numbers: s.Numbers, Owners: s.Owners, Dead: slices.Clone(s.Dead), Orphans: slices.Clone(s.Orphans),
	}
}

// The table of a segment is stored in parts of tablePart passages, the sets that change in parts of changesPart.
const (
	tablePart   = 1 << 13
	changesPart = 1 << 16
)

// encodeTable returns the record of a part of the segment's table: number, hash, owner and lengths of each passage.
func (s *Segment) encodeTable(part int) []byte {
	from := part * tablePart
	to := min(from+tablePart, s.Len())
	b := binary.AppendUvarint(nil, uint64(to-from))
	prev := uint32(0)
	for i := from; i < to; i++ {
		b = binary.AppendUvarint(b, uint64(s.Numbers[i]-prev))
		prev = s.Numbers[i]
		b = append(b, s.Hashes[i][:]...)
		b = binary.AppendUvarint(b, uint64(s.Owners[i]))
		b = binary.AppendUvarint(b, uint64(s.Lengths[i].Text))
		b = append(b, s.Lengths[i].Title, s.Lengths[i].Path, byte(s.Lengths[i].Kind))
	}
	return b
}

func (s *Segment) parts() int { return (s.Len() + tablePart - 1) / tablePart }

// decodeTable adds a part of the table that encodeTable returned to the segment. The error is ErrDamaged.
func (s *Segment) decodeTable(b []byte) error {
	n, b := Uvarint(b)
	number := uint64(0)
	for range n {
		var d, owner, text uint64
		d, b = Uvarint(b)
		if len(b) < 16 {
			return ErrDamaged
		}
		hash := [16]byte(b)
		owner, b = Uvarint(b[16:])
		text, b = Uvarint(b)
		if len(b) < 3 || text > MaxTextLen {
			return ErrDamaged
		}
		number += d
		s.Numbers = append(s.Numbers, uint32(number))
		s.Hashes = append(s.Hashes, hash)
		s.Owners = append(s.Owners, uint32(owner))
		s.Lengths = append(s.Lengths, Lengths{Text: uint16(text), Title: b[0], Path: b[1], Kind: Kind(b[2])})
		b = b[3:]
	}
	return nil
}

// makeRoom lets n passages be added without growing. More passages than a segment has may be claimed by damage.
func (s *Segment) makeRoom(n int) {
	n = min(n, Largest)
	s.Numbers, s.Owners = make([]uint32, 0, n), make([]uint32, 0, n)
	s.Hashes, s.Lengths = make([][16]byte, 0, n), make([]Lengths, 0, n)
}

// ready allocates the sets that change, once the table is complete.
func (s *Segment) ready() {
	s.Dead, s.Orphans, s.Live = NewBitset(s.Len()), NewBitset(s.Len()), s.Len()
}

// encodeMeta returns the record of the segment without its table.
func (s *Segment) encodeMeta() []byte {
	b := binary.AppendUvarint(nil, uint64(s.Len()))
	for _, v := range []float64{s.Averages.Text, s.Averages.Title, s.Averages.Path} {
		b = binary.AppendUvarint(b, uint64(v*1000))
	}
	b = binary.AppendUvarint(b, uint64(s.Bytes))
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
func (s *Segment) decodeMeta(b []byte) (passages int, err error) {
	n, b := Uvarint(b)
	for _, v := range []*float64{&s.Averages.Text, &s.Averages.Title, &s.Averages.Path} {
		var milli uint64
		milli, b = Uvarint(b)
		*v = float64(milli) / 1000
	}
	bytes, b := Uvarint(b)
	s.Bytes = int64(bytes)
	refs, b := Uvarint(b)
	before := ""
	for range refs {
		if len(b) == 0 {
			return 0, ErrDamaged
		}
		goes := b[0] != 0
		var shared, rest uint64
		shared, b = Uvarint(b[1:])
		rest, b = Uvarint(b)
		if shared > uint64(len(before)) || rest > uint64(len(b)) {
			return 0, ErrDamaged
		}
		before = before[:shared] + string(b[:rest])
		s.refs = append(s.refs, blockRef{first: before, goes: goes})
		b = b[rest:]
	}
	return int(n), nil
}

// encodeChanges encodes which passages of a range are dead, and which lost the owner that the table names.
func (s *Segment) encodeChanges(part int) []byte {
	from, to := uint32(part*changesPart), uint32(min((part+1)*changesPart, s.Len()))
	dead, orphans := roaring.New(), roaring.New()
	for i := from; i < to; i++ {
		if s.Dead.Has(i) {
			dead.Add(i - from)
		} else if s.Orphans.Has(i) {
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

// decodeChanges reads which passages of a part of the segment are dead or orphans. The error is ErrDamaged, also for a
// set that is well formed but names passages of other parts.
func (s *Segment) decodeChanges(part int, b []byte) error {
	for _, into := range []Bitset{s.Dead, s.Orphans} {
		var size uint64
		size, b = Uvarint(b)
		if size > uint64(len(b)) {
			return ErrDamaged
		}
		set := roaring.New()
		if set.UnmarshalBinary(b[:size]) != nil || set.Validate() != nil { // the first does not look into containers
			return ErrDamaged
		}
		b = b[size:]
		for it := set.Iterator(); it.HasNext(); {
			i := uint64(it.Next()) + uint64(part)*changesPart
			if i >= uint64(s.Len()) || i >= uint64(part+1)*changesPart {
				return ErrDamaged
			}
			into.Add(uint32(i))
		}
	}
	return nil
}

// changed reports whether a range of passages has dead ones or orphans.
func (s *Segment) changed(part int) bool {
	from, to := part*changesPart/64, min((part+1)*changesPart/64, len(s.Dead))
	for i := from; i < to; i++ {
		if s.Dead[i]|s.Orphans[i] != 0 {
			return true
		}
	}
	return false
}

// Of returns the segment whose range of numbers has a passage's number. Segments are in the order of numbers.
func Of(segments []*Segment, number uint32) *Segment {
	i := sort.Search(len(segments), func(i int) bool {
		return segments[i].Last() >= number
	})
	if i == len(segments) {
		return nil
	}
	return segments[i]
}
