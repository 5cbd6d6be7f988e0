package kv

import (
	"testing"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fault/faulttest"
)

// A store whose engine panics when it is closed says so, and does not hang.
func TestAnEngineWhoseEndPanicsIsTold(t *testing.T) {
	k := openTest(t, testOptions(t))
	defer k.db.Close() //nolint:errcheck // what panicked here
	faulttest.Once(t, "store: close the engine")
	if err := k.Close(); !fault.Is(err) {
		t.Errorf("close: %v, want the fault", err)
	}
}
