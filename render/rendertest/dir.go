// Package rendertest helps tests that start a browser.
package rendertest

import (
	"os"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
)

// Dir returns a new directory for a browser, which is removed at the end of the test. Unlike [testing.TB.TempDir] it
// retries, because child processes of a browser that was killed or has exited may still write for a moment.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "readthru-browser-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		eventually.True(tb, "the directory of a browser is removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}
