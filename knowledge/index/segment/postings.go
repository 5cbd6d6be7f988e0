package segment

import (
	"encoding/binary"
	"math"
)

// The postings of a term in a segment are chunks of up to chunkLen, in order of the passages' ordinals. A chunk is
//
//	count      uvarint
//	first      uvarint, the first ordinal
//	span       uvarint, last ordinal − first; not if count is 1
//	bound      1 byte, see Bounds
//	places     uvarint, bytes of the positions
//	body       uvarint, bytes of the three columns that follow; not if count is 1: then it says itself where it ends
//	ordinals   count − 1 uvarints, differences
//	counts     count bytes: low 4 bits how often in the text (15: 15 or more), 2 bits in the title, 2 bits in the path
//	           (3: 3 or more); then a uvarint for each 15: how many more
//	forms      count bytes, which of the term's forms occur; only when the term has several
//	positions  for each posting those in the title (at most 3) and those in the text, each as uvarint differences
//
// so that scoring reads no positions and skips a chunk that cannot matter.
const chunkLen = 128

// What the counts of a posting can say.
const (
	MaxFieldCount = 3  // of title and path, as counted
	TextEscape    = 15 // of the text's four bits
)

// Posting is one passage that holds a term.
type Posting struct {
	ord         uint32 // of the passage in its segment
	Text        uint16 // how often the term stands in each field
	Title, Path uint8
	Forms       uint8  // bit per form, see entry
	Places      []byte // encoded positions of the term
}

// Chunk is a decoded chunk. Its columns have as many values as it has postings.
type Chunk struct {
	N     int // postings
	first uint32
	last  uint32
	bound uint8
	Ords  [chunkLen]uint32
	Count [chunkLen]uint8  // as encoded
	Forms [chunkLen]uint8  // 1 where the term has one form
	Extra [chunkLen]uint16 // what the text's count is above TextEscape where it has that
	body  []byte
	place []byte
}

// appendChunk encodes at most chunkLen postings. Bound is the greatest of their bounds. It returns b with the chunk,
// and what it used of room, for the next call.
func appendChunk(b, room []byte, postings []Posting, several bool, bound uint8) (chunk, used []byte) {
	body := room[:0]
	places := 0
	prev := postings[0].ord
	for i := range postings {
		p := &postings[i]
		if i > 0 {
			body = binary.AppendUvarint(body, uint64(p.ord-prev))
			prev = p.ord
		}
		places += len(p.Places)
	}
	for i := range postings {
		p := &postings[i]
		body = append(body, uint8(min(p.Text, TextEscape))|min(p.Title, MaxFieldCount)<<4|min(p.Path, MaxFieldCount)<<6)
	}
	for i := range postings {
		if p := &postings[i]; p.Text >= TextEscape {
			body = binary.AppendUvarint(body, uint64(p.Text-TextEscape))
		}
	}
	if several {
		for i := range postings {
			body = append(body, postings[i].Forms)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(postings)))
	b = binary.AppendUvarint(b, uint64(postings[0].ord))
	if len(postings) > 1 {
		b = binary.AppendUvarint(b, uint64(prev-postings[0].ord))
	}
	b = append(b, bound)
	b = binary.AppendUvarint(b, uint64(places))
	if len(postings) > 1 {
		b = binary.AppendUvarint(b, uint64(len(body)))
	}
	b = append(b, body...)
	for i := range postings {
		b = append(b, postings[i].Places...)
	}
	return b, body
}

// head reads the head of a chunk from b and returns the bytes after the chunk.
func (c *Chunk) head(b []byte, several bool) (rest []byte, err error) {
	n, b := Uvarint(b)
	first, b := Uvarint(b)
	span, bodyLen := uint64(0), uint64(1)
	if n > 1 {
		span, b = Uvarint(b)
	}
	if n == 0 || n > chunkLen || len(b) < 2 || first+span > math.MaxUint32 {
		return nil, ErrDamaged
	}
	c.N, c.first, c.last, c.bound = int(n), uint32(first), uint32(first+span), b[0]
	places, b := Uvarint(b[1:])
	if n > 1 {
		bodyLen, b = Uvarint(b)
	} else if len(b) > 0 {
		if b[0]&15 == TextEscape {
			for bodyLen++; int(bodyLen) <= len(b) && b[bodyLen-1]&0x80 != 0; {
				bodyLen++
			}
		}
		if several {
			bodyLen++
		}
	}
	if bodyLen > uint64(len(b)) || places > uint64(len(b))-bodyLen {
		return nil, ErrDamaged
	}
	c.body, c.place = b[:bodyLen], b[bodyLen:bodyLen+places]
	return b[bodyLen+places:], nil
}

// decode reads the columns of a chunk after head.
func (c *Chunk) decode(several bool) error {
	b := c.body
	ord := c.first
	c.Ords[0] = ord
	for i := 1; i < c.N; i++ {
		if len(b) == 0 {
			return ErrDamaged
		}
		d := uint32(b[0])
		if d < 0x80 {
			b = b[1:]
		} else {
			v, size := binary.Uvarint(b)
			if size <= 0 || v > math.MaxUint32 {
				return ErrDamaged
			}
			d, b = uint32(v), b[size:]
		}
		ord += d
		c.Ords[i] = ord
	}
	if len(b) < c.N {
		return ErrDamaged
	}
	copy(c.Count[:c.N], b)
	b = b[c.N:]
	for i := range c.N {
		if c.Count[i]&15 == TextEscape {
			v, size := binary.Uvarint(b)
			if size <= 0 || v > math.MaxUint16-TextEscape {
				return ErrDamaged
			}
			c.Extra[i], b = uint16(v), b[size:]
		}
	}
	if !several {
		for i := range c.N {
			c.Forms[i] = 1
		}
		return nil
	}
	if len(b) < c.N {
		return ErrDamaged
	}
	copy(c.Forms[:c.N], b)
	return nil
}

// TextCount returns how often the term stands in the text of posting i.
func (c *Chunk) TextCount(i int) int {
	n := int(c.Count[i] & 15)
	if n == TextEscape {
		n += int(c.Extra[i])
	}
	return n
}

// TitleCount returns how often the term stands in the title of posting i.
func (c *Chunk) TitleCount(i int) int { return int(c.Count[i] >> 4 & 3) }

// PathCount returns how often the term stands in the headings over posting i.
func (c *Chunk) PathCount(i int) int { return int(c.Count[i] >> 6) }

// PlacesOf calls f with each posting's encoded positions, in order, until f returns false.
func (c *Chunk) PlacesOf(f func(i int, places []byte) bool) error {
	b := c.place
	for i := range c.N {
		whole := b
		for range c.TitleCount(i) + c.TextCount(i) {
			for len(b) > 0 && b[0]&0x80 != 0 {
				b = b[1:]
			}
			if len(b) == 0 {
				return ErrDamaged
			}
			b = b[1:]
		}
		if !f(i, whole[:len(whole)-len(b)]) {
			return nil
		}
	}
	return nil
}

// Posting returns posting i with its positions.
func (c *Chunk) Posting(i int, places []byte) Posting {
	return Posting{
		ord: c.Ords[i], Text: uint16(c.TextCount(i)), Title: uint8(c.TitleCount(i)), Path: uint8(c.PathCount(i)),
		Forms: c.Forms[i], Places: places,
	}
}
