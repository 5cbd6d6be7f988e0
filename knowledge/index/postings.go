package index

import (
	"encoding/binary"
	"errors"
	"math"
)

// The postings of a term in a segment are chunks of up to chunkLen, in order of the passages' ordinals. A chunk is
//
//	count      uvarint
//	first      uvarint, the first ordinal
//	span       uvarint, last ordinal − first; not if count is 1
//	bound      1 byte, see boundOf
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

const (
	maxFieldCount = 3  // of title and path, as counted
	textEscape    = 15 // of the text's four bits
)

// posting is one passage that holds a term.
type posting struct {
	ord         uint32 // of the passage in its segment
	text        uint16 // how often the term stands in each field
	title, path uint8
	forms       uint8  // bit per form, see entry
	places      []byte // encoded positions of the term
}

var errSegment = errors.New("segment is damaged")

// chunk is a decoded chunk.
type chunk struct {
	n     int
	first uint32
	last  uint32
	bound uint8
	ords  [chunkLen]uint32
	count [chunkLen]uint8 // as encoded
	forms [chunkLen]uint8 // 1 where the term has one form
	extra [chunkLen]uint16
	body  []byte
	place []byte
}

// appendChunk encodes at most chunkLen postings. Bounds holds the greatest boundOf among them.
func appendChunk(b []byte, postings []posting, several bool, bound uint8) []byte {
	var body []byte
	places := 0
	prev := postings[0].ord
	for i := range postings {
		p := &postings[i]
		if i > 0 {
			body = binary.AppendUvarint(body, uint64(p.ord-prev))
			prev = p.ord
		}
		places += len(p.places)
	}
	for i := range postings {
		p := &postings[i]
		body = append(body, uint8(min(p.text, textEscape))|min(p.title, maxFieldCount)<<4|min(p.path, maxFieldCount)<<6)
	}
	for i := range postings {
		if p := &postings[i]; p.text >= textEscape {
			body = binary.AppendUvarint(body, uint64(p.text-textEscape))
		}
	}
	if several {
		for i := range postings {
			body = append(body, postings[i].forms)
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
		b = append(b, postings[i].places...)
	}
	return b
}

// head reads the head of a chunk from b and returns the bytes after the chunk.
func (c *chunk) head(b []byte, several bool) (rest []byte, err error) {
	n, b := uvarint(b)
	first, b := uvarint(b)
	span, bodyLen := uint64(0), uint64(1)
	if n > 1 {
		span, b = uvarint(b)
	}
	if n == 0 || n > chunkLen || len(b) < 2 || first+span > math.MaxUint32 {
		return nil, errSegment
	}
	c.n, c.first, c.last, c.bound = int(n), uint32(first), uint32(first+span), b[0]
	places, b := uvarint(b[1:])
	if n > 1 {
		bodyLen, b = uvarint(b)
	} else if len(b) > 0 {
		if b[0]&15 == textEscape {
			for bodyLen++; int(bodyLen) <= len(b) && b[bodyLen-1]&0x80 != 0; {
				bodyLen++
			}
		}
		if several {
			bodyLen++
		}
	}
	if bodyLen > uint64(len(b)) || places > uint64(len(b))-bodyLen {
		return nil, errSegment
	}
	c.body, c.place = b[:bodyLen], b[bodyLen:bodyLen+places]
	return b[bodyLen+places:], nil
}

// decode reads the columns of a chunk after head.
func (c *chunk) decode(several bool) error {
	b := c.body
	ord := c.first
	c.ords[0] = ord
	for i := 1; i < c.n; i++ {
		if len(b) == 0 {
			return errSegment
		}
		d := uint32(b[0])
		if d < 0x80 {
			b = b[1:]
		} else {
			v, size := binary.Uvarint(b)
			if size <= 0 || v > math.MaxUint32 {
				return errSegment
			}
			d, b = uint32(v), b[size:]
		}
		ord += d
		c.ords[i] = ord
	}
	if len(b) < c.n {
		return errSegment
	}
	copy(c.count[:c.n], b)
	b = b[c.n:]
	for i := range c.n {
		if c.count[i]&15 == textEscape {
			v, size := binary.Uvarint(b)
			if size <= 0 || v > math.MaxUint16-textEscape {
				return errSegment
			}
			c.extra[i], b = uint16(v), b[size:]
		}
	}
	if !several {
		for i := range c.n {
			c.forms[i] = 1
		}
		return nil
	}
	if len(b) < c.n {
		return errSegment
	}
	copy(c.forms[:c.n], b)
	return nil
}

// textCount returns how often the term stands in the text of posting i.
func (c *chunk) textCount(i int) int {
	n := int(c.count[i] & 15)
	if n == textEscape {
		n += int(c.extra[i])
	}
	return n
}

func (c *chunk) titleCount(i int) int { return int(c.count[i] >> 4 & 3) }
func (c *chunk) pathCount(i int) int  { return int(c.count[i] >> 6) }

// placesOf calls f with each posting's encoded positions, in order, until f returns false.
func (c *chunk) placesOf(f func(i int, places []byte) bool) error {
	b := c.place
	for i := range c.n {
		whole := b
		for range c.titleCount(i) + c.textCount(i) {
			for len(b) > 0 && b[0]&0x80 != 0 {
				b = b[1:]
			}
			if len(b) == 0 {
				return errSegment
			}
			b = b[1:]
		}
		if !f(i, whole[:len(whole)-len(b)]) {
			return nil
		}
	}
	return nil
}

// posting returns posting i with its positions.
func (c *chunk) posting(i int, places []byte) posting {
	return posting{
		ord: c.ords[i], text: uint16(c.textCount(i)), title: uint8(c.titleCount(i)), path: uint8(c.pathCount(i)),
		forms: c.forms[i], places: places,
	}
}

// uvarint reads a number and returns the rest of b, which is empty if the number is incomplete or too large.
func uvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil
	}
	return v, b[n:]
}
