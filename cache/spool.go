package cache

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxChunk is the largest piece of memory a spool takes at a time, in bytes.
	maxChunk = 64 << 10
	// minChunk is the first piece for a body of unknown length.
	minChunk = 4 << 10
	// window is how far the origin may run ahead of the slowest reader of a body that is not stored, in bytes.
	window = 1 << 20
	// stallWait is how long the readers of a body that is complete and stored may still read it from memory.
	stallWait = time.Second
)

// errAbandoned ends the reading of a body that nobody stores and nobody reads any more.
var errAbandoned = errors.New("read the origin's response: no reader is left")

// A budget bounds the bytes that all spools hold together.
type budget struct {
	used  atomic.Int64
	limit int64
}

// take reserves n bytes and reports whether there was room for them. If not, they are counted all the same.
func (b *budget) take(n int64) bool { return b.used.Add(n) <= b.limit }

func (b *budget) give(n int64) { b.used.Add(-n) }

// room reports whether n more bytes would fit.
func (b *budget) room(n int64) bool { return b.used.Load()+n <= b.limit }

// A spool holds a body on its way from the origin to the store. Any number of readers follow it, each at its own pace,
// and none slows the origin's side or another. When the body proves too large to be stored, the spool keeps only what
// its slowest reader has not seen, and the origin waits for that reader.
//
// One goroutine fills it: fill, then end.
type spool struct {
	budget  *budget
	maxBody int64                       // bytes; what is larger is not kept
	idle    func(readers, keeping bool) // told when a first reader comes and the last one leaves; must not call back

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change that someone may wait for
	chunks  [][]byte      // from index base on; only the last has room left
	base    int           // chunks dropped in front
	held    int64         // bytes of memory in chunks
	size    int64         // bytes received
	visible int64         // bytes that readers may see
	keeping bool          // the body is still to be stored
	ended   bool
	err     error // with ended: what readers get behind the last byte, io.EOF when all is well
	trailer http.Header
	readers map[*spoolReader]struct{}
	settle  *time.Timer // runs until the readers are sent to the store; nil if they are not
	settled bool        // they are, and there will be no more
}

func newSpool(b *budget, maxBody int64, idle func(readers, keeping bool)) *spool {
	return &spool{
		budget: b, maxBody: maxBody, idle: idle, keeping: true,
		changed: make(chan struct{}), readers: make(map[*spoolReader]struct{}),
	}
}

// fill reads body to its end, of length bytes, or of unknown length if that is -1. It returns nil when the body is
// whole. The last bytes of a body of known length stay invisible until end: no client sees the last byte before it is
// stored.
func (s *spool) fill(ctx context.Context, body io.Reader, length int64) error {
	for empty := 0; empty < 100; {
		n, err := body.Read(s.spare(length))
		if n > 0 {
			empty = 0
			if err := s.add(ctx, n, length); err != nil {
				return err
			}
		} else {
			empty++
		}
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF):
			return err
		case length >= 0 && s.size != length:
			return io.ErrUnexpectedEOF
		default:
			return nil
		}
	}
	return io.ErrNoProgress
}

// spare returns memory behind what was received, making more if there is none. Readers never look there.
func (s *spool) spare(length int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.chunks); n > 0 {
		if last := s.chunks[n-1]; len(last) < cap(last) {
			return last[len(last):cap(last)]
		}
	}
	want := min(max(minChunk, s.size), maxChunk)
	if length >= 0 {
		want = min(max(length-s.size, 0)+1, maxChunk) // the byte more finds the end without another chunk
	}
	chunk := make([]byte, 0, want)
	s.chunks = append(s.chunks, chunk)
	s.held += int64(cap(chunk))
	if !s.budget.take(int64(cap(chunk))) {
		s.keeping = false
	}
	return chunk[:cap(chunk)]
}

// add counts n bytes that were read into spare. When the body is not kept, it waits until the slowest reader has come
// near.
func (s *spool) add(ctx context.Context, n int, length int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := &s.chunks[len(s.chunks)-1]
	*last = (*last)[:len(*last)+n]
	s.size += int64(n)
	if s.size > s.maxBody {
		s.keeping = false
	}
	if s.size < length || length < 0 || !s.keeping {
		s.visible = s.size
	}
	s.broadcast()
	for !s.keeping {
		s.trim()
		if len(s.readers) == 0 {
			return errAbandoned
		}
		if s.held <= window {
			break
		}
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// broadcast wakes all who wait. The caller holds mu.
func (s *spool) broadcast() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// wait returns after the next change, or when ctx ends. The caller holds mu, which is free meanwhile.
func (s *spool) wait(ctx context.Context) error {
	changed := s.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// trim drops the chunks that all readers have passed. The caller holds mu.
func (s *spool) trim() {
	lowest := s.base + len(s.chunks) - 1
	for r := range s.readers {
		lowest = min(lowest, r.chunk)
	}
	for s.base < lowest {
		n := int64(cap(s.chunks[0]))
		s.chunks[0] = nil
		s.chunks = s.chunks[1:]
		s.base++
		s.held -= n
		s.budget.give(n)
	}
}

// kept reports whether the body is still to be stored.
func (s *spool) kept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keeping
}

// content returns a reader of all that is held, for who verifies and stores the body.
func (s *spool) content() io.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &chunkReader{chunks: slices.Clone(s.chunks)}
}

// end lets readers go on to err behind the last byte, io.EOF when all is well. After another error the invisible bytes
// stay so. stored, unless nil, opens the body in the store: a reader that takes long goes on there, and the memory is
// free.
func (s *spool) end(err error, trailer http.Header, stored func() (io.ReadSeekCloser, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, io.EOF) {
		s.visible = s.size
	}
	s.ended, s.err, s.trailer, s.keeping = true, err, trailer, false
	s.broadcast()
	if stored != nil && len(s.readers) > 0 {
		s.settle = time.AfterFunc(stallWait, func() { s.moveTo(stored) })
	}
	s.release()
}

// moveTo lets the readers of a body that has ended go on in the store, and gives the memory back. A body that cannot be
// opened there stays here.
func (s *spool) moveTo(stored func() (io.ReadSeekCloser, error)) {
	s.mu.Lock()
	s.settled = true
	bodies := make(map[*spoolReader]io.ReadSeekCloser, len(s.readers))
	for r := range s.readers {
		bodies[r] = nil
	}
	s.mu.Unlock()
	whole := true
	for r := range bodies {
		body, err := stored()
		if err != nil {
			whole = false
			break
		}
		bodies[r] = body
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, body := range bodies {
		if _, reading := s.readers[r]; reading && whole {
			r.body = body
		} else if body != nil {
			body.Close()
		}
	}
	if whole {
		s.drop()
	}
}

// drop gives the memory back. The caller holds mu.
func (s *spool) drop() {
	s.budget.give(s.held)
	s.chunks, s.held = nil, 0
}

// release gives the memory back when the body has ended and nobody reads it. The caller holds mu.
func (s *spool) release() {
	if s.ended && len(s.readers) == 0 {
		s.drop()
		if s.settle != nil {
			s.settle.Stop()
		}
	}
}

// join adds a reader from the first byte on, for whom reading ends with ctx. It returns nil when that byte is gone, or
// the body failed.
func (s *spool) join(ctx context.Context) *spoolReader {
	s.mu.Lock()
	defer s.mu.Unlock()
	released := s.ended && len(s.readers) == 0
	if s.base > 0 || released || s.settled || s.ended && !errors.Is(s.err, io.EOF) {
		return nil
	}
	r := &spoolReader{spool: s, ctx: ctx}
	s.readers[r] = struct{}{}
	if len(s.readers) == 1 {
		s.idle(true, s.keeping)
	}
	return r
}
