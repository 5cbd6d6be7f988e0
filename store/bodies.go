package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

const (
	// partSize is how much of a body one record holds, in bytes. A transaction takes at most 2.4 MiB.
	partSize = 256 << 10

	// maxBody is the longest body, in bytes: its part numbers have 16 bits.
	maxBody = partSize << 16

	// partsTogether is how many parts are committed in the batch of the record that refers to the body. More are committed
	// before it.
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

// readContent reads r to its end, part by part. The error is that of r, or ErrFull when the queue has no room for it.
func (k *kv) readContent(r io.Reader) (c *content, err error) {
	c = &content{}
	defer func() {
		if err != nil {
			k.release(c.reserved)
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
			if err := k.reserve(int64(n)); err != nil {
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

// manifest returns the manifest of a body as b would make it; the zero value when there is none.
func (s *Store) manifest(b *batch, sum Sum) (m manifest, found bool) {
	value, err := s.kv.getIn(b, manifestKey(sum))
	if err != nil {
		return manifest{}, false
	}
	return decodeManifest(value)
}

// refer adds a reference to a body in b, with the body itself when it is not stored yet. Parts of a long body come back
// as batches of their own, to be applied before b: they are committed first, under a watch that has them deleted should
// b never follow. Under s.mu.
func (s *Store) refer(b *batch, c *content, response bool, now time.Time) (before []*batch) {
	m, found := s.manifest(b, c.sum)
	if !found || m.Gone || m.Length != c.length {
		m.Length, m.Gone = c.length, false
		if len(c.parts) <= partsTogether {
			for i, part := range c.parts {
				b.set(partKey(c.sum, i), part)
			}
		} else {
			watch := &batch{}
			watch.set(watchKey(hourOf(now), c.sum), nil)
			before = append(before, watch)
			for i, part := range c.parts {
				one := &batch{}
				one.set(partKey(c.sum, i), part)
				before = append(before, one)
			}
		}
	}
	m.Refs++
	if response {
		if m.Responses++; m.Responses == 1 {
			b.delta.Bytes += m.Length
		}
	}
	b.set(manifestKey(c.sum), m.encode())
	return before
}

// unrefer takes a reference to a body away in b, and reports whether it was the last: the caller condemns the body once
// b is applied. Under s.mu.
func (s *Store) unrefer(b *batch, sum Sum, response bool, now time.Time) (last bool) {
	m, found := s.manifest(b, sum)
	if !found {
		return false
	}
	if response && m.Responses > 0 {
		if m.Responses--; m.Responses == 0 {
			b.delta.Bytes -= m.Length
		}
	}
	if m.Refs = max(m.Refs-1, 0); m.Refs == 0 {
		m.Dead = hourOf(now)
		b.set(watchKey(m.Dead, sum), nil)
	}
	b.set(manifestKey(sum), m.encode())
	return m.Refs == 0
}

// condemn has bodies deleted that nobody refers to any more, a moment later.
func (s *Store) condemn(sums []Sum) {
	if len(sums) > 0 {
		s.pins.condemn(sums...)
		s.wakeHousekeeper()
	}
}

// bury deletes condemned bodies that are still unreferred to and not being read, with the renditions made of them. What
// is being read now goes with the sweep, an hour later. Under s.mu, after a barrier.
func (s *Store) bury(sum Sum, now time.Time) (more []Sum) {
	m, found := s.manifest(&batch{}, sum)
	if found && (m.Refs > 0 || s.pins.pinned(sum)) {
		return nil
	}
	b := &batch{must: true}
	if found {
		for i := range m.parts() {
			b.del(partKey(sum, i))
		}
		b.del(manifestKey(sum))
		b.del(watchKey(m.Dead, sum))
	} else {
		s.kv.walk(scan{prefix: partsPrefix(sum), keys: true}, func(key string, _ []byte) bool {
			b.del(key)
			return true
		})
	}
	s.kv.walk(scan{prefix: renditionPrefix(sum)}, func(key string, value []byte) bool {
		if s.dropRendition(b, key, value, now) {
			more = append(more, renditionBody(value))
		}
		return true
	})
	if len(b.ops) > 0 {
		_ = s.kv.apply(b) // refused only when the store is closing; the sweep finds the body again
	}
	s.bodies.remove(sum)
	return more
}

// buryCondemned deletes what was condemned, a chunk at a time, so that other writes queue behind no more than that.
func (s *Store) buryCondemned() {
	sums := s.pins.condemned()
	for len(sums) > 0 {
		var more []Sum
		for chunk := range slices.Chunk(sums, sweepChunk) {
			s.settle()
			for _, sum := range chunk {
				s.mu.Lock()
				more = append(more, s.bury(sum, time.Now())...)
				s.mu.Unlock()
			}
		}
		sums = more
	}
}

// lose marks a body whose parts are damaged, so that it is missing from now on and written again with the next
// reference.
func (s *Store) lose(sum Sum) {
	s.bodies.remove(sum)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &batch{must: true}
	m, found := s.manifest(b, sum)
	if !found || m.Gone {
		return
	}
	m.Gone = true
	for i := range m.parts() {
		b.del(partKey(sum, i))
	}
	b.set(manifestKey(sum), m.encode())
	_ = s.kv.apply(b)
}
