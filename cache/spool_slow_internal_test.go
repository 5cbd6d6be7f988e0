package cache

import (
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/needs"
)

// readAt reads n chunks of 64 KiB with a pause after each, and closes r.
func readAt(r *spoolReader, n int, pause func(i int) time.Duration) error {
	defer r.Close() //nolint:errcheck // only detaches the reader
	buf := make([]byte, maxChunk)
	for i := range n {
		if _, err := io.ReadFull(r, buf); err != nil {
			return err
		}
		time.Sleep(pause(i))
	}
	return nil
}

// Which reader of a body that is not stored loses its place depends on how long others waited for it.
func TestWhoLosesItsPlace(t *testing.T) {
	needs.Long(t, "it reads 64 MiB for each reader")
	const chunks = 1000 // 64 MiB
	steady := func(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }
	now := func(begin, pause time.Duration) func(int) time.Duration {
		return func(i int) time.Duration {
			if time.Duration(i)%100 == begin {
				return pause
			}
			return 10 * time.Millisecond
		}
	}
	for _, tt := range []struct {
		name   string
		paces  []func(int) time.Duration
		losers []bool
	}{
		{"alone, slow", []func(int) time.Duration{steady(10 * time.Second)}, []bool{false}},
		{"both slow", []func(int) time.Duration{steady(10 * time.Second), steady(10 * time.Second)}, []bool{false, false}},
		{
			"both pause now and then, one after the other",
			[]func(int) time.Duration{now(10, 200*time.Millisecond), now(60, 200*time.Millisecond)},
			[]bool{false, false},
		},
		{
			"one at a tenth of the other's pace",
			[]func(int) time.Duration{steady(10 * time.Millisecond), steady(100 * time.Millisecond)},
			[]bool{false, true},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := newTestSpool(64<<20, 1<<10)
				var wg sync.WaitGroup
				for i, pace := range tt.paces {
					r := s.join(t.Context())
					wg.Go(func() {
						err := readAt(r, chunks, pace)
						if lost := errors.Is(err, ErrLagging); lost != tt.losers[i] || err != nil && !lost {
							t.Errorf("reader %d ended with %v; loses its place: want %t", i, err, tt.losers[i])
						}
					})
				}
				if err := s.fill(t.Context(), zeros{}, -1); !errors.Is(err, errAbandoned) {
					t.Errorf("fill = %v, want %v", err, errAbandoned)
				}
				wg.Wait()
				s.end(errAbandoned, nil, nil)
				if used := b.used.Load(); used != 0 {
					t.Errorf("%d bytes are never given back", used)
				}
			})
		})
	}
}
