// Package body keeps content by its hash: in parts of one record each, with a manifest that counts who refers to it.
package body

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

const (
	// PartSize is how much of a body one record holds, in bytes. A transaction takes at most 2.4 MiB.
	PartSize = kv.Window

	// maxBody is the longest body, in bytes: its part numbers have 16 bits.
	maxBody = PartSize << 16

	// partsTogether is how many parts are committed in the batch of the record that refers to the body. More are
	// committed before it.
	partsTogether = 4
)

// Content is a body cut into parts, ready to be stored under its hash. Its room in the store's queue is reserved; a
// caller that does not store it releases that.
type Content struct {
	Sum      [32]byte
	Length   int64
	parts    [][]byte
	Reserved int64
}

// scratch holds buffers of a part's size for content of unknown length.
var scratch = sync.Pool{New: func() any { return new([PartSize]byte) }}

// whole is a reader of content that may be in memory in one piece, which nobody changes any more.
type whole interface{ Whole() []byte } // nil: it is not

// Read reads content to its end, part by part, hashes it and reserves its room in the queue. The error is that of r,
// says that the content is longer than maxBody, or is ErrFull when the queue has no room for it; nothing stays reserved
// then.
func Read(db *kv.DB, r io.Reader) (c *Content, err error) {
	if w, ok := r.(whole); ok {
		if body := w.Whole(); body != nil {
			if err := db.Reserve(int64(len(body))); err != nil {
				return nil, err
			}
			c = Of(body)
			c.Reserved = c.Length
			return c, nil
		}
	}
	c = &Content{}
	defer func() {
		if err != nil {
			db.Release(c.Reserved)
		}
	}()
	h := sha256.New()
	buf := scratch.Get().(*[PartSize]byte)
	defer func() { scratch.Put(buf) }()
	for {
		n, err := io.ReadFull(r, buf[:])
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return c, fmt.Errorf("read content: %w", err)
		}
		if n > 0 {
			if c.Length += int64(n); c.Length > maxBody {
				return c, fmt.Errorf("store content: longer than %d bytes", int64(maxBody))
			}
			if err := db.Reserve(int64(n)); err != nil {
				return c, err
			}
			c.Reserved += int64(n)
			h.Write(buf[:n])
			// a copy of the exact size: parts wait in the queue for the disk
			c.parts = append(c.parts, append(make([]byte, 0, n), buf[:n]...))
		}
		if end {
			h.Sum(c.Sum[:0])
			return c, nil
		}
	}
}

// Of cuts a body that is in memory into parts. Its bytes are kept, not copied, and nothing is reserved.
func Of(body []byte) *Content {
	c := &Content{Sum: sha256.Sum256(body), Length: int64(len(body))}
	for rest := body; len(rest) > 0; {
		n := min(len(rest), PartSize)
		// without room to append: a part must not write into the next
		c.parts = append(c.parts, rest[:n:n])
		rest = rest[n:]
	}
	return c
}

// Whole returns the bytes of a body of one part, or nil.
func (c *Content) Whole() []byte {
	if len(c.parts) == 1 {
		return c.parts[0]
	}
	return nil
}

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

// Decode reads what Encode returned, and reports whether it could.
func Decode(b []byte) (m Manifest, ok bool) {
	d := wire.NewDecoder(b)
	m.Length = d.Int()
	m.Refs = d.Int()
	m.Responses = d.Int()
	m.Dead = uint32(d.Int())
	m.Gone = d.Int() == 1
	return m, d.OK() && m.Length >= 0 && m.Length <= maxBody
}
