package page

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// CheckHost returns an error for a text that is to name hosts, in a configuration or a rule, and that matches none: it
// is no address and no name in the form that is sent. A star stands for any text. Where it can, the error says what
// to write instead.
func CheckHost(pattern string) error {
	if pattern == "" {
		return errors.New("the name of a host is empty")
	}
	if _, err := netip.ParseAddr(pattern); err == nil {
		return nil
	}
	instead := ""
	if u, err := url.Parse(pattern); err == nil && u.Scheme != "" && u.Host != "" {
		instead = u.Hostname()
	} else if ascii, err := idna.Lookup.ToASCII(pattern); err == nil && ascii != pattern {
		instead = ascii
	} else if u, err := url.Parse("//" + pattern); err == nil && u.Hostname() != pattern {
		instead = u.Hostname()
	}
	if len(pattern) <= 253 && !strings.ContainsFunc(pattern, func(c rune) bool {
		return c >= utf8.RuneSelf || !isNameByte(byte(c)) && c != '*'
	}) {
		return nil
	}
	if instead != "" && CheckHost(instead) == nil {
		return fmt.Errorf("%.80q is not a host such as a.example or *.a.example: write %s", MaskString(pattern), instead)
	}
	return fmt.Errorf("%.80q is not a host such as a.example or *.a.example", MaskString(pattern))
}

// isNameByte reports whether a host name in the form that is sent may have the byte c; the underscore is no part of a
// host name by RFC 1123, but stands in names that are in use.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// OnHost reports whether a host is one of names, or below one of them. All are in lower case, without a port.
func OnHost(host string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name != "" && (host == name || strings.HasSuffix(host, "."+name))
	})
}

// asciiHost returns u's host without port as it is asked for: in lower case, letters beyond ASCII mapped as a
// connection would map them (UTS 46). Of a name that no connection would take it is the plain encoding.
func asciiHost(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return host
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return strings.TrimSuffix(ascii, ".")
	}
	ascii, _ := idna.Punycode.ToASCII(host) // what cannot be encoded stays as it is
	return ascii
}

// Loopback reports whether a host names this machine by its text: it is localhost or a loopback address, 127.0.0.0/8 or
// ::1, also as IPv4 in IPv6. The host has no port and no brackets. Names are not resolved; what a connection reaches is
// decided by its dialer.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// Blocked reports whether host is one of domains or below one of them (suffix match, rule A11). Case, a port and a
// trailing dot do not matter, nor does "*." before a domain.
func Blocked(host string, domains []string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if h, port, ok := strings.Cut(host, ":"); ok && digits(port) {
		host = strings.TrimSuffix(h, ".")
	}
	for _, d := range domains {
		d = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(strings.Trim(d, ". ")), "*."), "www.")
		if OnHost(host, d) {
			return true
		}
	}
	return false
}

// Authority returns u's host in lower case, with its port unless that is the default of the scheme.
func Authority(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if defaultPort(u) {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, u.Port())
}

// AuthorityOf is [Authority] of a URL as text; empty if that cannot be parsed.
func AuthorityOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	return Authority(u)
}

// sentHost returns a host, with its port if it has one, in the form that is sent: letters outside of ASCII in that of
// the DNS. The error names a host that no connection would take.
func sentHost(host string) (string, error) {
	if !strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return host, nil
	}
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		name, port = host[:i], host[i:]
	}
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", fmt.Errorf("%q is no name of a host: %w", name, err)
	}
	return ascii + port, nil
}
