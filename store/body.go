package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
)

// Body reads a stored body. It verifies each part before it returns the part's first byte; after a damaged part
// reading fails and the body is removed. A Body must not be used by several goroutines at once. The caller closes it.
type Body struct {
	s      *Store
	sum    Sum
	length int64
	at     int64
	part   []byte // the part in memory
	number int    // its number
	closed bool
	pinned bool
}

// Body opens a stored body. The error is ErrNotFound when it does not exist or its beginning is damaged.
func (s *Store) Body(sum Sum) (*Body, error) {
	if whole, ok := s.bodies.Get(sum); ok {
		return &Body{s: s, sum: sum, length: int64(len(whole)), part: whole}, nil
	}
	s.pins.pin(sum) // before looking: what is found must not go
	b, err := s.openBody(sum)
	if err != nil || !b.pinned {
		s.pins.unpin(sum)
	}
	return b, err
}

func (s *Store) openBody(sum Sum) (*Body, error) {
	m, found := body.ManifestOf(s.kv, &kv.Batch{}, sum)
	if !found || m.Gone {
		return nil, ErrNotFound
	}
	b := &Body{s: s, sum: sum, length: m.Length, pinned: m.Parts() > 1}
	if m.Length == 0 {
		return b, nil
	}
	// The first part is read now: before a caller has promised a body to anybody.
	if err := b.load(0); err != nil {
		return nil, ErrNotFound
	}
	if b.length <= maxHotBody {
		s.bodies.Add(sum, b.part, b.length)
	}
	return b, nil
}

// Later is Body for the content of a stored response that may not be read at all: nothing is read before the first
// Read or WriteTo, or Ready. What they return wraps ErrNotFound when the content is lost.
func (s *Store) Later(r *Response) *Body {
	s.pins.pin(r.Body)
	return &Body{s: s, sum: r.Body, length: r.Length, pinned: true}
}

// Ready reports whether reading can begin: it wraps ErrNotFound when the content is lost. After it returned nil, what
// is lost of the rest is an error of Read.
func (b *Body) Ready() error {
	if b.closed || b.length == 0 {
		return nil
	}
	return b.load(int(min(b.at, b.length-1) / body.PartSize))
}

// load brings a part into memory.
func (b *Body) load(number int) error {
	if b.part != nil && b.number == number {
		return nil
	}
	if whole, ok := b.s.bodies.Get(b.sum); ok && number == 0 {
		b.part, b.number = whole, number
		return nil
	}
	part, err := b.s.kv.Get(keys.Part(b.sum, number))
	want := min(b.length-int64(number)*body.PartSize, body.PartSize)
	if err == nil && int64(len(part)) != want {
		err = kv.ErrDamaged
	}
	if err != nil {
		if !b.s.kv.Closed() {
			b.s.markDamaged(b.sum)
		}
		return fmt.Errorf("read part %d of body %s: %w", number, b.sum, err)
	}
	b.part, b.number = part, number
	return nil
}

// rest returns the verified bytes from the present position to the end of its part. It is io.EOF at the end.
func (b *Body) rest() ([]byte, error) {
	switch {
	case b.closed:
		return nil, errors.New("read body: it is closed")
	case b.at >= b.length:
		return nil, io.EOF
	}
	number := int(b.at / body.PartSize)
	if err := b.load(number); err != nil {
		return nil, err
	}
	return b.part[b.at-int64(number)*body.PartSize:], nil
}

// Sum returns the body's hash.
func (b *Body) Sum() Sum { return b.sum }

// Len returns the length of the whole body in bytes.
func (b *Body) Len() int64 { return b.length }

// Read reads from the current position.
func (b *Body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	rest, err := b.rest()
	if err != nil {
		return 0, err
	}
	n := copy(p, rest)
	b.at += int64(n)
	return n, nil
}

// Seek sets the position of the next read, in bytes.
func (b *Body) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		offset += b.length
	default:
		return 0, fmt.Errorf("seek in body: whence %d is unknown", whence)
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek in body: position %d is before its start", offset)
	}
	b.at = offset
	return offset, nil
}

// WriteTo writes from the current position to the end, without copying.
func (b *Body) WriteTo(w io.Writer) (written int64, err error) {
	for {
		rest, err := b.rest()
		if errors.Is(err, io.EOF) {
			return written, nil
		}
		if err != nil {
			return written, err
		}
		n, err := w.Write(rest)
		written += int64(n)
		b.at += int64(n)
		if err != nil {
			return written, err
		}
		if n != len(rest) {
			return written, io.ErrShortWrite
		}
	}
}

// Close closes the body. It returns no error.
func (b *Body) Close() error {
	if !b.closed {
		b.closed = true
		if b.pinned {
			b.s.pins.unpin(b.sum)
		}
	}
	return nil
}

// ShortBody is the length from which on a body is not read whole, in bytes.
const ShortBody = body.PartSize

// Content returns a short body, shared or not: never change it. It is not kept in memory because of that.
func (s *Store) Content(sum Sum) ([]byte, error) { return s.readShort(sum) }

// readShort is readWhole without a look at the manifest: most renditions have one part, shorter than a part can be.
func (s *Store) readShort(sum Sum) ([]byte, error) {
	if whole, ok := s.bodies.Get(sum); ok {
		return whole, nil
	}
	if part, err := s.kv.Get(keys.Part(sum, 0)); err == nil && len(part) < body.PartSize {
		return part, nil
	}
	return s.readWhole(sum)
}

// readWhole returns a body that is known to be of bearable size, shared or not: never change it.
func (s *Store) readWhole(sum Sum) ([]byte, error) {
	b, err := s.Body(sum)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }() // it never fails
	if b.length <= body.PartSize {
		return b.part, nil
	}
	var all bytes.Buffer
	all.Grow(int(b.length))
	if _, err := b.WriteTo(&all); err != nil {
		return nil, ErrNotFound // damaged is the same as missing
	}
	return all.Bytes(), nil
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
	m, found := body.ManifestOf(s.kv, &kv.Batch{}, sum)
	if found && (m.Refs > 0 || s.pins.pinned(sum)) {
		return nil
	}
	b := &kv.Batch{Must: true}
	if found {
		for i := range m.Parts() {
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
	m, found := body.ManifestOf(s.kv, b, sum)
	if !found || m.Gone {
		return
	}
	m.Gone = true
	for i := range m.Parts() {
		b.Del(keys.Part(sum, i))
	}
	b.Set(keys.Manifest(sum), m.Encode())
	_ = s.kv.Apply(b)
}

// pins counts the open readers of bodies, which must not be deleted under them.
type pins struct {
	mu     sync.Mutex
	open   map[Sum]int
	graves []Sum // bodies that nobody refers to any more

	deleting sync.Mutex // is held while graves are emptied
}

func (p *pins) pin(sum Sum) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[Sum]int{}
	}
	p.open[sum]++
}

func (p *pins) unpin(sum Sum) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[sum]--; p.open[sum] <= 0 {
		delete(p.open, sum)
	}
}

func (p *pins) pinned(sum Sum) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[sum] > 0
}

// condemn notes bodies to delete soon.
func (p *pins) condemn(sums ...Sum) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.graves = append(p.graves, sums...)
}

func (p *pins) condemned() []Sum {
	p.mu.Lock()
	defer p.mu.Unlock()
	sums := p.graves
	p.graves = nil
	return sums
}
