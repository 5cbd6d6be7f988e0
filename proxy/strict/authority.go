package strict

import (
	"errors"
	"net"
	"net/netip"
	"strings"
)

// errAuthority is returned for a malformed authority. Its text describes a valid one.
var errAuthority = errors.New("the host must be a name or an address, and the port a plain number from 1 to 65535")

// SplitAuthority parses host and port of a request's target or Host field (RFC 9110 §4.2, RFC 9112 §3.2). A missing
// port is defaultPort; if defaultPort is empty, a missing port is an error. It is stricter than RFC 3986: it rejects
// user info, percent-encoding, and any character that another parser might take for the end of the host. It returns the
// host in lower case, without a trailing dot, and an IPv6 address without brackets.
func SplitAuthority(s, defaultPort string) (host, port string, err error) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		address, after, ok := strings.Cut(rest, "]")
		addr, perr := netip.ParseAddr(address)
		if !ok || perr != nil || !addr.Is6() || addr.Zone() != "" {
			return "", "", errAuthority
		}
		host, s = addr.String(), after
		if s == "" {
			port = defaultPort
		} else if port, ok = strings.CutPrefix(s, ":"); !ok {
			return "", "", errAuthority
		}
	} else {
		var given bool
		if host, port, given = strings.Cut(s, ":"); !given {
			port = defaultPort
		}
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		if host == "" || len(host) > 253 || host[0] == '.' || strings.Contains(host, "..") || strings.HasSuffix(host, ".") {
			return "", "", errAuthority
		}
		for i := range len(host) {
			c := host[i]
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
				return "", "", errAuthority
			}
		}
	}
	if !plainPort(port) {
		return "", "", errAuthority
	}
	return host, port, nil
}

// plainPort reports whether a text is a port in canonical form: "443", not "0443" or "+443". Parsers differ about the
// others, and one that reads another port would send the request elsewhere.
func plainPort(s string) bool {
	if s == "" || len(s) > 5 || s[0] == '0' {
		return false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n <= 65535
}

// JoinAuthority is the inverse of [SplitAuthority]. It returns host and port in canonical form, without the default
// port and an IPv6 address in brackets, as the URL and the Host field of a forwarded request have them.
func JoinAuthority(host, port, defaultPort string) string {
	if port != defaultPort {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
