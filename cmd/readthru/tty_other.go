//go:build !unix

package main

// hasTerminal reports false: these systems send no SIGHUP.
func hasTerminal() bool { return false }
