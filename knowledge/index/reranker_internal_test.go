package index

import (
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// It is tried again after a while, by one search at a time, and then used as before.
func TestARerankerIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Reranker{log: slog.New(slog.DiscardHandler)}
		bad := fmt.Errorf("no answer")
		for n, rest := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
			if err := r.enter(time.Now()); err != nil {
				t.Fatalf("try %d: %v", n, err)
			}
			if err := r.enter(time.Now()); err == nil {
				t.Error("two searches try at the same time")
			}
			r.leave(time.Now(), bad, false)
			time.Sleep(rest - time.Second)
			if err := r.enter(time.Now()); err == nil {
				t.Errorf("try %d: asked again before %v are over", n, rest)
			}
			time.Sleep(time.Second)
		}
		if err := r.enter(time.Now()); err != nil {
			t.Fatal(err)
		}
		r.leave(time.Now(), bad, true) // whoever searched left
		if err := r.enter(time.Now()); err != nil {
			t.Errorf("after a searcher who left: %v", err)
		}
		r.leave(time.Now(), nil, false)
		for range 3 {
			if err := r.enter(time.Now()); err != nil {
				t.Errorf("at the same time, once it answers: %v", err)
			}
		}
	})
}
