package wiring

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
)

func TestStoppingIsToldOnceASecondAndHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, said := time.Now(), 0
		say := func(string) { said++ }
		if err := awaitEnd(make(chan error), say); err == nil || time.Since(began) != daemon.StopTime {
			t.Errorf("a part that never ends: %v after %s, want an error after %s", err, time.Since(began), daemon.StopTime)
		}
		if want := int(daemon.StopTime/time.Second) + 1; said < want {
			t.Errorf("said %d times what it waits for, want %d", said, want)
		}
		ended, end := make(chan error, 1), errors.New("the end")
		time.AfterFunc(2500*time.Millisecond, func() { ended <- end })
		if said = 0; !errors.Is(awaitEnd(ended, say), end) || said != 3 {
			t.Errorf("said %d times, want 3: at once and after each of two seconds", said)
		}
	})
}
