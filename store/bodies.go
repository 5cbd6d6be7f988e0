package store

import (
	"slices"
	"sync"
	"time"

	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
)

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
