//go:build !linux

package certs

// leaveNoLinks does nothing: only Linux distributions keep links to certificates.
func leaveNoLinks() (undo func()) { return func() {} }
