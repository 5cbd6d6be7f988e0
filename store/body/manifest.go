package body

import (
	"time"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// ManifestOf returns the manifest of a body with the changes of b, or the zero value if there is none.
func ManifestOf(db *kv.DB, b *kv.Batch, sum [32]byte) (m Manifest, found bool) {
	value, err := db.GetIn(b, keys.Manifest(sum))
	if err != nil {
		return Manifest{}, false
	}
	return Decode(value)
}

// Refer adds a reference to a body to b, and the body itself if it is not stored yet. It returns the parts of a long
// body as batches that the caller applies before b. A watch record deletes them if b is never committed. No other
// change of the body may be made meanwhile.
func Refer(db *kv.DB, b *kv.Batch, c *Content, response bool, now time.Time) (before []*kv.Batch) {
	m, found := ManifestOf(db, b, c.Sum)
	if !found || m.Gone || m.Length != c.Length {
		m.Length, m.Gone = c.Length, false
		if len(c.parts) <= partsTogether {
			for i, part := range c.parts {
				b.Set(keys.Part(c.Sum, i), part)
			}
		} else {
			watch := &kv.Batch{}
			watch.Set(keys.Watch(keys.Hour(now), c.Sum), nil)
			before = append(before, watch)
			for i, part := range c.parts {
				one := &kv.Batch{}
				one.Set(keys.Part(c.Sum, i), part)
				before = append(before, one)
			}
		}
	}
	m.Refs++
	if response {
		if m.Responses++; m.Responses == 1 {
			b.Delta.Bytes += m.Length
		}
	}
	b.Set(keys.Manifest(c.Sum), m.Encode())
	return before
}

// Unrefer removes a reference to a body in b, and reports whether it was the last. Once b is applied, the caller has
// it deleted, with its watch record. No other change of the body may be made meanwhile.
func Unrefer(db *kv.DB, b *kv.Batch, sum [32]byte, response bool, now time.Time) (last bool) {
	m, found := ManifestOf(db, b, sum)
	if !found {
		return false
	}
	if response && m.Responses > 0 {
		if m.Responses--; m.Responses == 0 {
			b.Delta.Bytes -= m.Length
		}
	}
	if m.Refs = max(m.Refs-1, 0); m.Refs == 0 {
		m.Dead = keys.Hour(now)
		b.Set(keys.Watch(m.Dead, sum), nil)
	}
	b.Set(keys.Manifest(sum), m.Encode())
	return m.Refs == 0
}

// Manifest says what a body is made of and who refers to it. Equal content of several records is stored once.
type Manifest struct {
	Length    int64
	Refs      int64  // records that refer to the body
	Responses int64  // of these, stored responses
	Dead      uint32 // hour in which Refs fell to 0
	Gone      bool   // its parts were found damaged; to be written again with the next reference
}

// Parts returns into how many parts the body is cut.
func (m Manifest) Parts() int { return int((m.Length + PartSize - 1) / PartSize) }

// Encode returns the record of a manifest.
func (m Manifest) Encode() []byte {
	var e wire.Encoder
	e.Int(m.Length)
	e.Int(m.Refs)
	e.Int(m.Responses)
	e.Int(int64(m.Dead))
	gone := int64(0)
	if m.Gone {
		gone = 1
	}
	e.Int(gone)
	return e
}

// Decode reads the manifest that Encode returned, and reports whether it could.
func Decode(b []byte) (m Manifest, ok bool) {
	d := wire.NewDecoder(b)
	m.Length = d.Int()
	m.Refs = d.Int()
	m.Responses = d.Int()
	m.Dead = uint32(d.Int())
	m.Gone = d.Int() == 1
	return m, d.OK() && m.Length >= 0 && m.Length <= maxBody
}
