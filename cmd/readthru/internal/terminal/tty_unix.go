//go:build unix

package terminal

import "os"

// HasTerminal reports whether the process has a controlling terminal. It has none any more once that was closed.
func HasTerminal() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	_ = f.Close() // it was only opened to see whether it is there
	return true
}
