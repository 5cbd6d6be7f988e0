package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/store"
)

func TestServeWaitsForAProcessThatEnds(t *testing.T) {
	locked := &store.LockedError{Dir: "d", PID: 7}
	broken := errors.New("broken")
	for _, tt := range []struct {
		name  string
		held  time.Duration
		after error
		want  error
	}{
		{"it ends", 3 * time.Second, nil, nil},
		{"it ends and the store is broken", 3 * time.Second, broken, broken},
		{"nobody has it", 0, nil, nil},
		{"it does not end", time.Hour, nil, locked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				began, said := time.Now(), []string(nil)
				err := awaitStore(t.Context(), dir, func(format string, args ...any) {
					said = append(said, fmt.Sprintf(format, args...))
				}, func() error {
					if time.Since(began) < tt.held {
						return fmt.Errorf("open: %w", locked)
					}
					return tt.after
				})
				if !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				want := []string{"waiting for the end of process 7, which has the store open"}
				if tt.held == 0 {
					want = nil
				}
				if gone := time.Since(began); !slices.Equal(said, want) || gone > lockWait+time.Second {
					t.Errorf("it said %q after %s", said, gone)
				}
				if hint := hintOf(err); errors.Is(err, locked) != (hint != "") {
					t.Errorf("hint %q for %v", hint, err)
				}
			})
		})
	}
}

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

func TestADaemonIsMadeOfItsConfiguration(t *testing.T) {
	s := &settings{config: defaults()}
	before := madeOf(s)
	if again := madeOf(&settings{config: defaults(), source: map[string]string{"x": "y"}}); again != before {
		t.Errorf("the same configuration gave %s and %s", before, again)
	}
	s.Fetch.Timeout++
	if madeOf(s) == before {
		t.Error("another configuration gave the same name")
	}
}
