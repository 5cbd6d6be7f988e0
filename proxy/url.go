package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/readthru/readthru/page"
)

func resolvePlain(r *http.Request) *refusal {
	u := r.URL
	defaultPort := "80"
	switch u.Scheme {
	case "http":
	case "https":
		defaultPort = "443"
	default:
		return badRequest(fmt.Sprintf("Unsupported scheme %s: only http and https URLs are fetched.", shown(u.Scheme)))
	}
	if u.Opaque != "" {
		return badRequest("The request's target must be a URL with a host.")
	}
	authority, bad := authorityOf(u, defaultPort)
	if bad != nil {
		return bad
	}
	if r.Method == http.MethodOptions && u.Path == "" && u.RawQuery == "" && !u.ForceQuery {
		u.Path = "*" // the server itself is asked (RFC 9112 §3.2.4)
	}
	return setTarget(r, u.Scheme, authority)
}

// authorityOf returns host and port of a target in canonical form.
func authorityOf(u *url.URL, defaultPort string) (string, *refusal) {
	if u.User != nil {
		return "", badRequest("A request's target must not contain user info (RFC 9110 §4.2.4).")
	}
	host, port, err := splitAuthority(u.Host, defaultPort)
	if err != nil {
		return "", badRequest(fmt.Sprintf("Host %q: %v.", shown(u.Host), err))
	}
	return joinAuthority(host, port, defaultPort), nil
}

func setTarget(r *http.Request, scheme, authority string) *refusal {
	r.URL.Scheme, r.URL.Host, r.Host = scheme, authority, authority
	page.KeepEscapes(r.URL)
	r.URL.RawQuery = escapeNonASCII(r.URL.RawQuery)
	return nil
}

// escapeNonASCII percent-encodes the raw characters that some clients send in a query. net/url does so only for paths.
func escapeNonASCII(s string) string {
	clean := true
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
