package turns

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Parsed pages take far more memory than anything else that a request holds.
func TestLargePagesLeaveAWorkerToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(2)
		end := take(t, turns, Large)
		done := make(chan func())
		go func() { done <- take(t, turns, Large) }()
		synctest.Wait()
		for range 3 { // the second large one waits, and these do not wait behind it
			take(t, turns, Large-1)()
		}
		select {
		case <-done:
			t.Fatal("two large pages have their turn at once")
		default:
		}
		end()
		(<-done)()
	})
}

func TestTurnIsNotTakenByThoseWhoLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		end := take(t, turns, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := turns.Take(ctx, Large); err == nil {
			t.Fatal("a turn beyond the workers")
		}
		end()
		take(t, turns, Large)()
	})
}

func take(t *testing.T, turns *Turns, n int) (end func()) {
	t.Helper()
	end, err := turns.Take(t.Context(), n)
	if err != nil {
		t.Error(err)
		return func() {}
	}
	return end
}
