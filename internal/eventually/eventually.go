// Package eventually says how a test waits for something that comes of itself, without judging how fast the machine is.
package eventually

import (
	"context"
	"fmt"
	"testing"
	"time"
)

const (
	// limit is for how long a test waits: long enough for a machine with many other things to do.
	limit = 5 * time.Minute

	// pause is between two looks: at first, and at most.
	pause    = time.Millisecond
	maxPause = 20 * time.Millisecond
)

// True waits until is returns true, and fails the test if that takes five minutes. What says in the message what was
// waited for, as "the page is indexed".
func True(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	if err := Holds(context.WithoutCancel(tb.Context()), is); err != nil {
		tb.Fatalf("waited in vain until %s: %v", what, err)
	}
}

// Holds waits until is returns true. It returns an error when ctx ends, or after five minutes.
func Holds(ctx context.Context, is func() bool) error {
	end := time.Now().Add(limit)
	for wait := pause; !is(); wait = min(2*wait, maxPause) {
		if time.Now().After(end) {
			return fmt.Errorf("not so after %v", limit)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return nil
}
