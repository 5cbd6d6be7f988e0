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

	"github.com/readthru/readthru/internal/fault"
)

const (
	// maxChunk is the largest chunk of memory that a spool allocates, in bytes.
	maxChunk = 64 << 10
	// minChunk is the first chunk for a body of unknown length.
	minChunk = 4 << 10
	// window is how far the origin may be ahead of the slowest reader of a body that is not stored, in bytes.
	window = 1 << 20
	// stallWait is how long readers of a complete, stored body may still read it from memory.
	stallWait = time.Second
	// shortBody is the length of bodies whose end an answer waits for before it begins, to tell whether it is stored.
	shortBody = 64 << 10
	// shortWait is how long it waits.
	shortWait = time.Second
	// bodySilence is how long the origin may send nothing in the middle of a body before a stored page answers in its
	// place.
	bodySilence = 10 * time.Second
	// bodyWait is how long the reader of a whole page waits for its body if a stored page can replace it.
	bodyWait = 15 * time.Second
	// patience is how long in all the readers of a body that is not stored wait for a slower one. What they waited is
	// forgiven at a tenth of the time that passes: two readers of about the same speed never lose patience.
	patience = 2 * time.Second
	// patienceStep is how often it is looked whether readers wait for a slower one.
	patienceStep = 100 * time.Millisecond
)

// ErrLagging ends a body that was read so slowly that other readers of it waited too long. It was not read to its end.
var ErrLagging = errors.New("it was read too slowly while other clients waited for the same body")

// errAbandoned ends the reading of a body that is neither stored nor read anymore.
var errAbandoned = errors.New("read the origin's response: no reader is left")

// A budget limits the bytes that all spools hold together.
type budget struct {
	used  atomic.Int64
	limit int64
}

// take reserves n bytes of memory for a spool and reports whether there was room for them. It counts them even if there
// was not.
func (b *budget) take(n int64) bool { return b.used.Add(n) <= b.limit }

// give returns n bytes of a spool to the budget.
func (b *budget) give(n int64) { b.used.Add(-n) }

// room reports whether n more bytes of a spool would fit.
func (b *budget) room(n int64) bool { return b.used.Load()+n <= b.limit }

// A spool holds a body on its way from the origin to the store. Any number of readers follow it at their own pace, and
// none delays the origin or another reader. If the body is too large to be stored, the spool keeps only what its
// slowest reader has not read, and the origin waits for that reader. If other readers wait for it, too, it loses its
// place after a while.
//
// One goroutine fills it: fill, then end.
type spool struct {
	budget  *budget
	maxBody int64                       // bytes; larger bodies are not stored
	idle    func(readers, keeping bool) // called at the first join and the last leave; must not call the spool

	mu      sync.Mutex
	changed chan struct{} // closed at the next change; nil if nobody waits for one
	began   time.Time
	heard   time.Time // when the last bytes came
	chunks  [][]byte  // from index base on; only the last may have room left
	base    int       // number of chunks dropped at the front
	held    int64     // bytes of memory in chunks
	size    int64     // bytes received
	visible int64     // bytes that readers may see
	keeping bool      // the body may still be stored
	ended   bool
	over    chan struct{} // closed when ended is set
	stored  bool          // with ended: the store has the body
	err     error         // with ended: the readers' error after the last byte, io.EOF on success
	trailer http.Header
	readers map[*spoolReader]struct{}
	settle  *time.Timer // runs until readers are moved to the store; nil if they are not to be
	settled bool        // readers were moved, and no others may join
}

// newSpool returns an empty spool, of a body that may be stored until it exceeds maxBody or the budget.
func newSpool(b *budget, maxBody int64, idle func(readers, keeping bool)) *spool {
	now := time.Now()
	return &spool{
		budget: b, maxBody: maxBody, idle: idle, keeping: true, began: now, heard: now,
		readers: make(map[*spoolReader]struct{}), over: make(chan struct{}),
	}
}

// fill reads body to its end. length is its length, or -1 if unknown. It returns nil if the body is complete. The last
// bytes of a body of known length stay invisible until end, so that no client sees the last byte before the body is
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

// spare returns free memory of the spool after the received bytes, and allocates it if necessary. Readers do not access
// it. A spool over its budget holds what its readers need, and stores nothing.
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
		want = min(max(length-s.size, 0)+1, maxChunk) // the extra byte detects the end without another chunk
	}
	chunk := make([]byte, 0, want)
	s.chunks = append(s.chunks, chunk)
	s.held += int64(cap(chunk))
	if !s.budget.take(int64(cap(chunk))) {
		s.keeping = false
	}
	return chunk[:cap(chunk)]
}

// add accounts for n bytes read into spare. If the body is not to be stored, it waits until the slowest reader is
// within the window, or has lost its place.
func (s *spool) add(ctx context.Context, n int, length int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := &s.chunks[len(s.chunks)-1]
	*last = (*last)[:len(*last)+n]
	s.size += int64(n)
	s.heard = time.Now()
	if s.size > s.maxBody {
		s.keeping = false
	}
	if s.size < length || length < 0 || !s.keeping {
		s.visible = s.size
	}
	if s.visible == s.size { // else nobody can use them before the end
		s.broadcast()
	}
	for !s.keeping {
		s.trim()
		if len(s.readers) == 0 {
			return errAbandoned
		}
		if s.held <= window {
			break
		}
		if err := s.awaitSlowest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// awaitSlowest waits for a change, at most for one step of patience. Readers that are behind are charged the time that
// the others waited for them, and one that is charged too much is dropped. The caller holds mu.
func (s *spool) awaitSlowest(ctx context.Context) error {
	began := time.Now()
	step := time.NewTimer(patienceStep)
	defer step.Stop()
	if err := s.wait(ctx, step.C); err != nil {
		return err
	}
	now := time.Now()
	var starved time.Duration
	for r := range s.readers {
		if !r.hungry.IsZero() {
			starved = max(starved, min(now.Sub(r.hungry), now.Sub(began)))
		}
	}
	if starved == 0 {
		return nil
	}
	for r := range s.readers {
		if s.visible-r.pos > window/2 && r.owe(starved, now) > patience {
			r.err = ErrLagging
			delete(s.readers, r)
		}
	}
	return nil
}

// awaitShort waits until a short body has ended and, if it may be, is stored. Its readers see its end no sooner, and
// the head of the answer can then tell whether it is stored. It does not wait long for an origin that is slow.
func (s *spool) awaitShort(ctx context.Context, length int64) {
	if length < 0 || length > shortBody {
		return
	}
	timer := time.NewTimer(shortWait)
	defer timer.Stop()
	select { // what comes before the end wakes nobody
	case <-s.over:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// awaitEnd waits until the body has ended, and reports whether it ended well. A body from which nothing comes for a
// time of silence does not. Unless whole, it reports true as well for one that still goes on after that time.
func (s *spool) awaitEnd(ctx context.Context, whole bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		now := time.Now()
		patient := s.heard.Add(bodySilence)
		if limit := s.began.Add(bodyWait); whole && limit.Before(patient) {
			patient = limit
		}
		switch {
		case s.ended:
			return errors.Is(s.err, io.EOF)
		case !s.keeping, !whole && s.heard.Sub(s.began) >= bodySilence:
			return true // it waits for its readers, or goes on
		case !now.Before(patient):
			return false
		}
		timer := time.NewTimer(patient.Sub(now))
		err := s.wait(ctx, timer.C)
		timer.Stop()
		if err != nil {
			return true // the reader's reads tell
		}
	}
}

// broadcast wakes all goroutines that wait for a change of the spool. The caller holds mu.
func (s *spool) broadcast() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// wait returns after the next change of the spool, at a time if one is given, or when ctx ends. The caller holds mu,
// which wait releases while it waits.
func (s *spool) wait(ctx context.Context, at <-chan time.Time) error {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	changed := s.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-at:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// trim drops the chunks of the spool that all readers have passed. The caller holds mu.
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

// kept reports whether the spool's body may still be stored.
func (s *spool) kept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keeping
}

// content returns a reader of the whole content of the spool, to verify and store it, once it is complete and kept.
func (s *spool) content() io.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &chunkReader{chunks: slices.Clone(s.chunks)}
}

// end ends the body of the spool: readers get err after the last byte, io.EOF on success. After any other error the
// invisible bytes stay invisible. stored, unless nil, opens the body in the store: slow readers continue there, which
// frees the memory.
func (s *spool) end(err error, trailer http.Header, stored func() (io.ReadSeekCloser, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, io.EOF) {
		s.visible = s.size
	}
	if !s.ended {
		close(s.over)
	}
	s.ended, s.err, s.trailer, s.keeping, s.stored = true, err, trailer, false, stored != nil
	s.broadcast()
	if stored != nil && len(s.readers) > 0 {
		s.settle = time.AfterFunc(stallWait, fault.Contain("cache: end a spool", func() { s.moveTo(stored) }))
	}
	s.release()
}

// moveTo moves the readers of an ended body to the store and frees the memory. If the stored body cannot be opened,
// they stay.
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

// drop frees the spool's memory. The caller holds mu.
func (s *spool) drop() {
	s.budget.give(s.held)
	s.chunks, s.held = nil, 0
}

// release frees the spool's memory if the body has ended and has no readers. The caller holds mu.
func (s *spool) release() {
	if s.ended && len(s.readers) == 0 {
		s.drop()
		if s.settle != nil {
			s.settle.Stop()
		}
	}
}

// join adds a reader that starts at the first byte; its reads end with ctx. It returns nil if the first byte was
// dropped or the body failed.
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
