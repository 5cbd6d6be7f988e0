package page

import (
	"net/netip"
	"strings"
)

// Loopback reports whether a host names this machine by its text: it is localhost or a loopback address, 127.0.0.0/8 or
// ::1, also as IPv4 in IPv6. The host has no port and no brackets. Names are not resolved; what a connection reaches is
// decided by its dialer.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
