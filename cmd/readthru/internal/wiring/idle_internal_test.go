package wiring

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestADaemonEndsWhenItWasNotUsedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		use := func() (bool, int64) {
			switch gone := time.Since(began); {
			case gone < 3*time.Minute:
				return true, 1 // a request is open
			case gone < 7*time.Minute:
				return false, 1
			}
			return false, 2 // another was answered in between
		}
		asked := 0
		agree := func() bool {
			asked++
			return asked > 1 // the first time a command was faster
		}
		if !awaitIdle(t.Context(), 5*time.Minute, use, agree) {
			t.Fatal("the wait was cut short")
		}
		if gone := time.Since(began); gone < 12*time.Minute || gone > 12*time.Minute+15*time.Second {
			t.Errorf("it ended after %s, want five minutes after the last request", gone)
		}
	})
}
