//go:build !linux

package guard

import "net/netip"

// ownedByUs reports whether the other end of a connection is a socket of our user. Here the kernel tells nobody without
// a library in C, so everybody shows the token.
func ownedByUs(_, _ netip.AddrPort) bool { return false }
