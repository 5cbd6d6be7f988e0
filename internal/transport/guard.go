package transport

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"code.dny.dev/ssrf"
)

// ProhibitedError is the error for an address that must not be dialled.
type ProhibitedError struct {
	addr netip.AddrPort
	name string // of the host, where only that is known
	why  string // completes "which is", as in "a metadata address"
	Loop bool   // the address is one of our own listeners
}

// Error names the address or host, and why it must not be reached.
func (e *ProhibitedError) Error() string {
	if e.name != "" {
		return fmt.Sprintf("the host is %s, which is %s", e.name, e.why)
	}
	return fmt.Sprintf("the address is %s, which is %s", e.addr, e.why)
}

// guard decides which resolved addresses may be dialled. It never resolves names.
type guard struct {
	allowPrivate bool             // allow special-purpose ranges, but never metadata
	avoid        []netip.AddrPort // our own listeners
	local        []netip.Addr     // addresses of this machine, for listeners on an unspecified address
}

// public rejects special-purpose ranges. It accepts the NAT64 prefix, without which nothing could be fetched from an
// IPv6-only network; check then judges the embedded IPv4 address too.
var public = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork(), ssrf.WithAllowedV6Prefixes(ssrf.IPv6NAT64Prefix))

// check returns a [*ProhibitedError] if an address must not be dialled. It looks at every address that the given one
// may stand for, such as IPv4 within IPv6.
func (g guard) check(addr netip.AddrPort) error {
	ip := addr.Addr().WithZone("").Unmap()
	forms := append(embedded(ip), ip)
	for _, form := range forms {
		if g.ours(netip.AddrPortFrom(form, addr.Port())) {
			return &ProhibitedError{addr: addr, why: "readthru itself", Loop: true}
		}
		if isMetadata(form) {
			return &ProhibitedError{addr: addr, why: "a cloud metadata address"}
		}
	}
	if g.allowPrivate {
		return nil
	}
	for _, form := range forms {
		if public.SafeAddr(form) != nil {
			return &ProhibitedError{addr: addr, why: "a private or special-purpose address"}
		}
	}
	return nil
}

// CheckPublic returns a [*guardError] unless an address is public: no private network and no service of a cloud has it.
func CheckPublic(ip netip.Addr) error { return guard{}.check(netip.AddrPortFrom(ip, 443)) }

// ours reports whether addr is one of our listeners: the same address and port, or any address of this machine for a
// listener on an unspecified address. An unspecified destination reaches the loopback interface.
func (g guard) ours(addr netip.AddrPort) bool {
	for _, l := range g.avoid {
		if l.Port() != addr.Port() {
			continue
		}
		own, ip := l.Addr().WithZone("").Unmap(), addr.Addr()
		switch {
		case own == ip,
			own.IsUnspecified() && (ip.IsLoopback() || ip.IsUnspecified() || slices.Contains(g.local, ip)),
			ip.IsUnspecified() && own.IsLoopback():
			return true
		}
	}
	return false
}

var (
	compatible    = netip.MustParsePrefix("::/96")           // IPv4-compatible, RFC 4291 §2.5.5.1
	translated    = netip.MustParsePrefix("::ffff:0:0:0/96") // IPv4-translated, RFC 2765
	nat64         = netip.MustParsePrefix("64:ff9b::/96")    // RFC 6052
	nat64Local    = netip.MustParsePrefix("64:ff9b:1::/48")  // RFC 8215
	sixToFour     = netip.MustParsePrefix("2002::/16")       // RFC 3056
	teredo        = netip.MustParsePrefix("2001::/32")       // RFC 4380
	isatap        = []byte{0x00, 0x00, 0x5e, 0xfe}           // RFC 5214, interface identifier
	isatapGlobal  = []byte{0x02, 0x00, 0x5e, 0xfe}
	localhostIPv6 = netip.IPv6Loopback()
)

// embedded returns, for the guard, the IPv4 addresses embedded in an IPv6 address; none for an IPv4 address. (Unmap has
// already converted mapped addresses.)
func embedded(ip netip.Addr) []netip.Addr {
	if !ip.Is6() || ip == localhostIPv6 || ip.IsUnspecified() {
		return nil
	}
	b := ip.As16()
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	var v4 []netip.Addr
	switch {
	case compatible.Contains(ip), translated.Contains(ip), nat64.Contains(ip):
		v4 = append(v4, at(12))
	case nat64Local.Contains(ip):
		// RFC 6052 §2.2 skips bits 64 to 71 of a /48 prefix; operators who use a /96 below it put the address last.
		v4 = append(v4, netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]}), at(12))
	case sixToFour.Contains(ip):
		v4 = append(v4, at(2))
	case teredo.Contains(ip):
		client := binary.BigEndian.Uint32(b[12:]) ^ 0xffffffff
		v4 = append(v4, at(4), netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, client))))
	}
	if id := b[8:12]; slices.Equal(id, isatap) || slices.Equal(id, isatapGlobal) {
		v4 = append(v4, at(12))
	}
	return v4
}

// localAddrs returns, for the guard, the addresses of this machine's interfaces, or none on an error.
func localAddrs() []netip.Addr {
	nets, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var addrs []netip.Addr
	for _, n := range nets {
		if p, err := netip.ParsePrefix(n.String()); err == nil {
			addrs = append(addrs, p.Addr().Unmap())
		}
	}
	return addrs
}
