package knowledge

import (
	"context"
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
