// Package turns says how many pages are parsed and converted at the same time.
package turns

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Large is the length of content, in bytes, from which a parsed page takes so much memory that few are at once.
const Large = 256 << 10

// Turns says whose turn it is to be parsed and converted. A parsed page takes up to forty times the memory of its
// content, so one exists only while its page has a turn, and a turn lasts from the parsing to the conversion. A quarter
// of the workers, but at least one, have large pages, so that the others do not wait for them.
type Turns struct {
	workers, large *semaphore.Weighted
}

// New returns the turns of so many workers.
func New(workers int) *Turns {
	return &Turns{semaphore.NewWeighted(int64(workers)), semaphore.NewWeighted(int64(max(1, workers/4)))}
}

// Take waits for a turn for n bytes of content, which ends when end is called, once. Who has one waits for nothing
// else, or turns would wait for each other.
func (t *Turns) Take(ctx context.Context, n int) (end func(), err error) {
	large := n >= Large
	if large {
		if err := t.large.Acquire(ctx, 1); err != nil {
			return nil, err
		}
	}
	if err := t.workers.Acquire(ctx, 1); err != nil {
		if large {
			t.large.Release(1)
		}
		return nil, err
	}
	return func() {
		t.workers.Release(1)
		if large {
			t.large.Release(1)
		}
	}, nil
}
