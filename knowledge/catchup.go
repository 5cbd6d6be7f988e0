package knowledge

import (
	"context"
	"sync"
	"time"
)

// A search waits for the index to reach what was stored before it, at most this long, and only if at most this many
// changes are behind: a crawl, or a disk that is full, must not hold searches up.
const (
	catchUpTime    = 500 * time.Millisecond
	catchUpChanges = 32
)

// What comes together is indexed together: one at a time, pages cost two to three times as much.
const (
	gatherTime = time.Second            // after the first of several pages
	noticeTime = 100 * time.Millisecond // after other documents, for which a person may wait
)

// position counts changes that the index is told of: of pages, by the number of the newest job in the change log, and
// of other documents, by calls of notify. A search waits for the position of its beginning.
type position struct {
	job    uint64
	notice int64
}

// behind returns how many changes p, which is to catch up, lacks that q has.
func (p position) behind(q position) int64 {
	return max(0, int64(q.job)-int64(p.job)) + max(0, q.notice-p.notice)
}

// progress tells searches how far the consumer of the queues has come, so that they wait for what was stored just
// before them.
type progress struct {
	hurry chan struct{} // capacity 1: somebody waits

	mu      sync.Mutex
	working bool // a consumer runs, and its last step succeeded
	reached position
	moved   chan struct{} // closed when reached or working has changed; nil if nobody waits
}

// reach notes, for searches that wait for the index to catch up, that all changes up to a position were tried: they are
// indexed, or have failed and wait for another attempt, or were given up.
func (p *progress) reach(at position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reached = at
	p.changedLocked()
}

// setWorking notes whether a search gains by waiting for the index to catch up: a consumer runs, and its last step
// succeeded.
func (p *progress) setWorking(working bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.working != working {
		p.working = working
		p.changedLocked()
	}
}

// changedLocked wakes the searches that wait for the index to catch up. The caller holds mu.
func (p *progress) changedLocked() {
	if p.moved != nil {
		close(p.moved)
		p.moved = nil
	}
}

// await has a search wait until the index has reached a position, until waiting is of no use (nothing is indexed, or
// too much is behind), until ctx ends, or for catchUpTime.
func (p *progress) await(ctx context.Context, at position) {
	var late <-chan time.Time
	for {
		p.mu.Lock()
		behind := p.reached.behind(at)
		if !p.working || behind == 0 || behind > catchUpChanges {
			p.mu.Unlock()
			return
		}
		if p.moved == nil {
			p.moved = make(chan struct{})
		}
		moved := p.moved
		p.mu.Unlock()
		if late == nil {
			t := time.NewTimer(catchUpTime)
			defer t.Stop()
			late = t.C
		}
		select {
		case p.hurry <- struct{}{}:
		default:
		}
		select {
		case <-moved:
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// gather has the consumer wait for changes, for idle at most, and then for more, as long as a search would wait for all
// of them and none does. Pages and notices tell of changes, end returns where the queues end.
func (p *progress) gather(ctx context.Context, idle time.Duration, pages, notices <-chan struct{},
	end func() position,
) {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for begun := false; !begun || p.behind(end()) < catchUpChanges; begun = true {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-p.hurry:
			return
		case <-notices:
			timer.Reset(noticeTime)
		case <-pages:
			if !begun {
				timer.Reset(gatherTime)
			}
		}
	}
}

// behind returns how many changes up to a position the index has not reached.
func (p *progress) behind(at position) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reached.behind(at)
}

// position returns where the queues end, up to which the index may have to catch up.
func (k *Knowledge) position() position {
	return position{job: k.store.LastJob(), notice: k.notices.Load()}
}
