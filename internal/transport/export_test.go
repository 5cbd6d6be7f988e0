package transport

import (
	"net"
	"net/netip"
)

// Check judges an address under the policy for own fetches (private false) or for clients on a loopback listener
// (true).
func Check(private bool, addr netip.AddrPort, avoid ...netip.AddrPort) error {
	return guard{allowPrivate: private, avoid: avoid, local: []netip.Addr{netip.MustParseAddr("192.0.2.77")}}.check(addr)
}

// ResolveWith makes t resolve names with r.
func (t *Transport) ResolveWith(r *net.Resolver) { t.dialer.resolver = r }
