package pdf

import "testing"

// LimitSteps bounds the work on a file further while a test runs. It is not for tests that run side by side.
func LimitSteps(tb testing.TB, n int) {
	tb.Helper()
	before := maxSteps
	maxSteps = n
	tb.Cleanup(func() { maxSteps = before })
}

// CFFText returns the text of a code in the encoding of a font program; ok is false where it has no encoding.
func CFFText(program []byte, code byte) (text string, ok bool) {
	e := cffEncoding(program)
	if e == nil {
		return "", false
	}
	return e[code], true
}
