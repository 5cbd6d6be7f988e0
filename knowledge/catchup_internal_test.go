package knowledge

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestSearchesWaitForAFewDocumentsAndNotLong(t *testing.T) {
	for name, tt := range map[string]struct {
		idle    bool
		at      position
		reaches position // what is reached after 50 ms
		want    time.Duration
	}{
		"nothing is behind":            {at: position{7, 2}, want: 0},
		"what was waited for is there": {at: position{9, 3}, reaches: position{9, 3}, want: 50 * time.Millisecond},
		"a page is indexed, not a text": {
			at: position{9, 3}, reaches: position{9, 2}, want: catchUpTime,
		},
		"indexing takes long":     {at: position{8, 2}, reaches: position{7, 2}, want: catchUpTime},
		"a crawl":                 {at: position{8 + catchUpChanges, 2}, want: 0},
		"nobody indexes":          {at: position{8, 2}, idle: true, want: 0},
		"a search that was older": {at: position{3, 1}, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &progress{hurry: make(chan struct{}, 1)}
				p.setWorking(!tt.idle)
				p.reach(position{7, 2})
				time.AfterFunc(50*time.Millisecond, func() { p.reach(tt.reaches) })
				began := time.Now()
				p.await(t.Context(), tt.at)
				if took := time.Since(began); took != tt.want {
					t.Errorf("waited %v, want %v", took, tt.want)
				}
				if hurried := len(p.hurry) > 0; hurried != (tt.want > 0) {
					t.Errorf("the consumer was told to hurry: %v", hurried)
				}
				time.Sleep(time.Second) // for the timer
			})
		})
	}
}

func TestASearchThatWaitsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &progress{hurry: make(chan struct{}, 1)}
		p.setWorking(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began := time.Now()
		p.await(ctx, position{1, 0})
		if took := time.Since(began); took != time.Millisecond {
			t.Errorf("after its client had left it waited %v", took)
		}
		time.AfterFunc(time.Millisecond, func() { p.setWorking(false) })
		p.await(t.Context(), position{1, 0})
		if took := time.Since(began); took != 2*time.Millisecond {
			t.Errorf("after indexing ended it waited %v", took)
		}
	})
}

func TestChangesAreGatheredUntilASearchWaits(t *testing.T) {
	const step = 20 * time.Millisecond // between the pages that are read
	for name, tt := range map[string]struct {
		pages          uint64
		notice, search time.Duration // when; 0: never
		want           time.Duration
	}{
		"nothing comes":                  {want: idleTime},
		"a page":                         {pages: 1, want: step + gatherTime},
		"several pages":                  {pages: 9, want: step + gatherTime},
		"so many that none waits longer": {pages: 2 * catchUpChanges, want: catchUpChanges * step},
		"a text that somebody added":     {notice: step, want: step + noticeTime},
		"a text after a page":            {pages: 1, notice: 3 * step, want: 3*step + noticeTime},
		"a search":                       {pages: 9, search: 5*step + 1, want: 5*step + 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &progress{hurry: make(chan struct{}, 1)}
				var job atomic.Uint64
				pages, notices := make(chan struct{}), make(chan struct{}, 1)
				go func() {
					for range tt.pages {
						time.Sleep(step)
						job.Add(1)
						select {
						case pages <- struct{}{}:
						default:
						}
					}
				}()
				if tt.notice > 0 {
					time.AfterFunc(tt.notice, func() { notices <- struct{}{} })
				}
				if tt.search > 0 {
					time.AfterFunc(tt.search, func() { p.hurry <- struct{}{} })
				}
				began := time.Now()
				p.gather(t.Context(), idleTime, pages, notices, func() position { return position{job: job.Load()} })
				if took := time.Since(began); took != tt.want {
					t.Errorf("waited %v, want %v", took, tt.want)
				}
				time.Sleep(time.Second) // for the pages
			})
		})
	}
}
