// Package body keeps content by its hash: in parts of one record each, with a manifest that counts who refers to it.
package body

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/readthru/readthru/store/kv"
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
