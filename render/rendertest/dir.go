// Package rendertest helps tests that start a browser.
package rendertest

import (
	"os"
	"testing"
	"time"
)

// patience is how long Dir waits for the last process of a browser.
const patience = 30 * time.Second

// Dir returns a new directory for a browser, which is removed at the end of the test. Unlike [testing.TB.TempDir] it
// retries, because child processes of a browser that was killed or has exited may still write for a moment.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "readthru-browser-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		deadline := time.Now().Add(patience)
		for {
			err := os.RemoveAll(dir)
			if err == nil {
				return
			}
			if time.Now().After(deadline) {
				tb.Errorf("remove the directory of a browser: %v", err)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return dir
}
