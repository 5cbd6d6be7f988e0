//go:build !unix

package terminal

// HasTerminal reports false: these systems send no SIGHUP.
func HasTerminal() bool { return false }
