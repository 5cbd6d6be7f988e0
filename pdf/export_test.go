package pdf

import "testing"

// LimitSteps bounds the work on a file further while a test runs. It is not for tests that run side by side.
func LimitSteps(tb testing.TB, n int) {
	tb.Helper()
	before := maxSteps
	maxSteps = n
	tb.Cleanup(func() { maxSteps = before })
}
