package cache

import (
	"testing"
	"testing/synctest"
)

func TestGoroutineFliesAgainUntilTheCrewIsDismissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{})
		fly := func() {
			f := &flight{cache: c, ready: make(chan struct{})}
			f.out.err, f.end = errAbandoned, func(error) {}
			close(f.ready)
			c.wg.Add(1)
			c.crew.fly(f) // panics, having no request: that must not end its goroutine
			synctest.Wait()
		}
		for range 3 {
			fly()
			if got := c.crew.waiting.Load(); got != 1 {
				t.Fatalf("%d goroutines wait, want 1", got)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}) // which waits for all goroutines
}
