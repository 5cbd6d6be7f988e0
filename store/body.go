package store

import (
	"bytes"
	"encoding/hex"
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

// Body reads the content of a stored response, page version or rendition: a stored body, in parts of 256 KiB. It
// verifies each part before it returns the part's first byte; after a damaged part reading fails, and the body counts
// as missing. A Body must not be used by several goroutines at once. The caller closes it: until then the body cannot
// be deleted from the disk.
type Body struct {
	s      *Store
	sum    Sum
	length int64
	at     int64
	// shared with the memory cache when the body has one part, so that it must not be written to
	part   []byte // the part in memory
	number int    // its number
	closed bool
	// whether Close has to unpin; a body of one part is whole in memory, and needs no pin
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

// openBody is [Store.Body] for a body that is not in memory. The caller has pinned it, and unpins it unless the Body
// that is returned does so when it is closed.
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

// keepBody keeps a small body in memory that was just stored, unless writes were given up since GivenUp returned drops.
func (s *Store) keepBody(c *body.Content, drops uint64) {
	if whole := c.Whole(); whole != nil && c.Length <= maxHotBody {
		s.kv.IfKept(drops, func() { s.bodies.Add(c.Sum, whole, c.Length) })
	}
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

// load brings a part of a stored body into memory, from the cache of small bodies or from its record. A part of the
// wrong length counts as damaged: its hash may be right for what a program stored by mistake.
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
		// after Close every read fails, which says nothing about the body
		if !b.s.kv.Closed() {
			b.s.markDamaged(b.sum)
		}
		return fmt.Errorf("read part %d of body %s: %w", number, b.sum, err)
	}
	b.part, b.number = part, number
	return nil
}

// rest returns the verified bytes of a body from the present position to the end of the part that holds it, for Read
// and WriteTo. The error is io.EOF at the end of the body. The bytes are shared.
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

// Seek sets the position of the next read, in bytes. A position behind the end is allowed, as io.Seeker says: Read then
// returns io.EOF. No part is read before it is needed, so a range of a long body costs only its parts.
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

// WriteTo writes from the current position to the end, without copying. Each part goes to w from the memory that it was
// verified in.
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

// Close closes the body. It returns no error. Only the first call unpins the body.
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

// readShort is readWhole for renditions, without a look at the manifest: most have one part, and a first part that is
// shorter than a part can be is the whole body. It saves one of two reads from the disk.
func (s *Store) readShort(sum Sum) ([]byte, error) {
	if whole, ok := s.bodies.Get(sum); ok {
		return whole, nil
	}
	if part, err := s.kv.Get(keys.Part(sum, 0)); err == nil && len(part) < body.PartSize {
		return part, nil
	}
	return s.readWhole(sum)
}

// readWhole returns the whole content of a stored body that is known to be of bearable size (markdown, or what a
// session fetched), shared or not: never change it. The error is ErrNotFound, also for a body that is damaged.
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

// deleteLater has the housekeeper delete bodies that have lost their last reference. It does not delete them itself,
// because its callers hold s.mu, and the parts of a long body are many deletions.
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
	// the same content may have been stored again while the body waited in the queue
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
		// without a manifest the number of parts is unknown: look for them
		s.kv.Walk(kv.Scan{Prefix: keys.Parts(sum), Keys: true}, func(key string, _ []byte) bool {
			b.Del(key)
			return true
		})
	}
	// what was made of the body is of no use without it, and its markdown is a body, too
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
		// the markdown of renditions that were deleted with their source
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

// pins counts the open readers of each stored body, so that it is not deleted under them, and holds the bodies that are
// to be deleted.
type pins struct {
	mu     sync.Mutex
	open   map[Sum]int
	graves []Sum // bodies that nobody refers to any more

	deleting sync.Mutex // is held while graves are emptied
}

// pin counts a reader of a body. It must be called before the body is looked for: between a look and a pin the body
// could be deleted.
func (p *pins) pin(sum Sum) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[Sum]int{}
	}
	p.open[sum]++
}

// unpin ends what pin began for a body. A body that was to be deleted meanwhile waits for the next sweep.
func (p *pins) unpin(sum Sum) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[sum]--; p.open[sum] <= 0 {
		delete(p.open, sum)
	}
}

// pinned reports whether a body has an open reader.
func (p *pins) pinned(sum Sum) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[sum] > 0
}

// condemn adds bodies without references to those that the housekeeper deletes next.
func (p *pins) condemn(sums ...Sum) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.graves = append(p.graves, sums...)
}

// condemned returns the bodies to delete and empties the queue of them.
func (p *pins) condemned() []Sum {
	p.mu.Lock()
	defer p.mu.Unlock()
	sums := p.graves
	p.graves = nil
	return sums
}

// Sum is the SHA-256 of a body as received, content coding included.
type Sum [32]byte

// String returns the sum in hex.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText returns the sum in hex.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a sum in hex.
func (s *Sum) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return fmt.Errorf("read sum: %d characters instead of %d", len(text), hex.EncodedLen(len(s)))
	}
	_, err := hex.Decode(s[:], text)
	return err
}
