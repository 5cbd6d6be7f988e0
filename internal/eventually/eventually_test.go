package eventually_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/eventually"
)

func TestWaitsUntilItIsSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		eventually.True(t, "four minutes are over", func() bool { return time.Since(began) > 4*time.Minute })
	})
}

func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := eventually.Holds(t.Context(), func() bool { return false }); err == nil {
			t.Error("what never comes was waited for without an error")
		}
		leaves := errors.New("the client leaves")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, leaves)
		defer cancel()
		if err := eventually.Holds(ctx, func() bool { return false }); !errors.Is(err, leaves) {
			t.Errorf("%v, want %v", err, leaves)
		}
	})
}
