package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
)

const (
	// partSize is how much of a body one record holds, in bytes. A transaction takes at most 2.4 MiB.
	partSize = kv.Window

	// maxBody is the longest body, in bytes: its part numbers have 16 bits.
	maxBody = partSize << 16

	// partsTogether is how many parts are committed in the batch of the record that refers to the body. More are
	// committed before it.
	partsTogether = 4
)

// content is a body read into parts, ready to be stored. Its room in the queue is reserved.
type content struct {
	sum      Sum
	length   int64
	parts    [][]byte
	reserved int64
}

// scratch holds buffers of a part's size for content of unknown length.
var scratch = sync.Pool{New: func() any { return new([partSize]byte) }}

// whole is a reader of content that may be in memory in one piece, which nobody changes any more.
type whole interface{ Whole() []byte } // nil: it is not

// readContent reads r to its end, part by part. The error is that of r, or ErrFull when the queue has no room for it.
func (s *Store) readContent(r io.Reader) (c *content, err error) {
	if w, ok := r.(whole); ok {
		if body := w.Whole(); body != nil {
			if err := s.kv.Reserve(int64(len(body))); err != nil {
				return nil, err
			}
			c = contentOf(body)
			c.reserved = c.length
			return c, nil
		}
	}
	c = &content{}
	defer func() {
		if err != nil {
			s.kv.Release(c.reserved)
		}
	}()
	h := sha256.New()
	buf := scratch.Get().(*[partSize]byte)
	defer func() { scratch.Put(buf) }()
	for {
		n, err := io.ReadFull(r, buf[:])
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return c, fmt.Errorf("read content: %w", err)
		}
		if n > 0 {
			if c.length += int64(n); c.length > maxBody {
				return c, fmt.Errorf("store content: longer than %d bytes", int64(maxBody))
			}
			if err := s.kv.Reserve(int64(n)); err != nil {
				return c, err
			}
			c.reserved += int64(n)
			h.Write(buf[:n])
			c.parts = append(c.parts, append(make([]byte, 0, n), buf[:n]...))
		}
		if end {
			h.Sum(c.sum[:0])
			return c, nil
		}
	}
}

// contentOf cuts a body that is in memory. Its bytes are kept, not copied.
func contentOf(body []byte) *content {
	c := &content{sum: sha256.Sum256(body), length: int64(len(body))}
	for rest := body; len(rest) > 0; {
		n := min(len(rest), partSize)
		c.parts = append(c.parts, rest[:n:n])
		rest = rest[n:]
	}
	return c
}

// whole returns a body of one part, as it is kept in memory, or nil.
func (c *content) whole() []byte {
	if len(c.parts) == 1 && c.length <= maxHotBody {
		return c.parts[0]
	}
	return nil
}

// manifest returns the manifest of a body with the changes of b, or the zero value if there is none.
func (s *Store) manifest(b *kv.Batch, sum Sum) (m manifest, found bool) {
	value, err := s.kv.GetIn(b, keys.Manifest(sum))
	if err != nil {
		return manifest{}, false
	}
	return decodeManifest(value)
}

// refer adds a reference to a body to b, and the body itself if it is not stored yet. It returns the parts of a long
// body as batches that the caller applies before b. A watch record deletes them if b is never committed. The caller
// holds s.mu.
func (s *Store) refer(b *kv.Batch, c *content, response bool, now time.Time) (before []*kv.Batch) {
	m, found := s.manifest(b, c.sum)
	if !found || m.Gone || m.Length != c.length {
		m.Length, m.Gone = c.length, false
		if len(c.parts) <= partsTogether {
			for i, part := range c.parts {
				b.Set(keys.Part(c.sum, i), part)
			}
		} else {
			watch := &kv.Batch{}
			watch.Set(keys.Watch(keys.Hour(now), c.sum), nil)
			before = append(before, watch)
			for i, part := range c.parts {
				one := &kv.Batch{}
				one.Set(keys.Part(c.sum, i), part)
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
	b.Set(keys.Manifest(c.sum), m.encode())
	return before
}

// unrefer removes a reference to a body in b, and reports whether it was the last. The caller then passes the body to
// deleteLater once b is applied. The caller holds s.mu.
func (s *Store) unrefer(b *kv.Batch, sum Sum, response bool, now time.Time) (last bool) {
	m, found := s.manifest(b, sum)
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
	b.Set(keys.Manifest(sum), m.encode())
	return m.Refs == 0
}

// deleteLater queues bodies without references for deletion.
func (s *Store) deleteLater(sums []Sum) {
	if len(sums) > 0 {
		s.pins.condemn(sums...)
		s.wakeHousekeeper()
	}
}

// deleteUnreferred deletes a queued body and the renditions made of it, if it still has no reference and nobody reads
// it. The sweep deletes a body that is being read an hour later. The caller holds s.mu and has waited for a barrier.
func (s *Store) deleteUnreferred(sum Sum, now time.Time) (more []Sum) {
	m, found := s.manifest(&kv.Batch{}, sum)
	if found && (m.Refs > 0 || s.pins.pinned(sum)) {
		return nil
	}
	b := &kv.Batch{Must: true}
	if found {
		for i := range m.parts() {
			b.Del(keys.Part(sum, i))
		}
		b.Del(keys.Manifest(sum))
		b.Del(keys.Watch(m.Dead, sum))
	} else {
		s.kv.Walk(kv.Scan{Prefix: keys.Parts(sum), Keys: true}, func(key string, _ []byte) bool {
			b.Del(key)
			return true
		})
	}
	s.kv.Walk(kv.Scan{Prefix: keys.Renditions(sum)}, func(key string, value []byte) bool {
		if s.dropRendition(b, key, value, now) {
			more = append(more, renditionBody(value))
		}
		return true
	})
	if b.Len() > 0 {
		_ = s.kv.Apply(b) // refused only when the store is closing; the sweep finds the body again
	}
	s.bodies.Remove(sum)
	return more
}

// deleteWaiting deletes the queued bodies in chunks, so that no other write waits for more than one chunk. It
// returns when those that another call took from the queue are deleted, too.
func (s *Store) deleteWaiting() {
	s.pins.deleting.Lock()
	defer s.pins.deleting.Unlock()
	sums := s.pins.condemned()
	for len(sums) > 0 {
		var more []Sum
		for chunk := range slices.Chunk(sums, sweepChunk) {
			s.settle()
			for _, sum := range chunk {
				s.mu.Lock()
				more = append(more, s.deleteUnreferred(sum, time.Now())...)
				s.mu.Unlock()
			}
		}
		sums = more
	}
}

// markDamaged records that parts of a body are damaged. The body counts as missing from then on, and the next reference
// writes it again.
func (s *Store) markDamaged(sum Sum) {
	s.bodies.Remove(sum)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{Must: true}
	m, found := s.manifest(b, sum)
	if !found || m.Gone {
		return
	}
	m.Gone = true
	for i := range m.parts() {
		b.Del(keys.Part(sum, i))
	}
	b.Set(keys.Manifest(sum), m.encode())
	_ = s.kv.Apply(b)
}
