package strict

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/readthru/readthru/page"
)

// ResolvePlain brings the target of a request, a URL that names its host, into canonical form. It refuses a scheme that
// is not http or https, and a host that is not one.
func ResolvePlain(r *http.Request) *Refusal {
	u := r.URL
	defaultPort := "80"
	switch u.Scheme {
	case "http":
	case "https":
		defaultPort = "443"
	default:
		return BadRequest(fmt.Sprintf("Unsupported scheme %s: only http and https URLs are fetched.", Shown(u.Scheme)))
	}
	// http:a.example has no host, but other parsers see one.
	if u.Opaque != "" {
		return BadRequest("The request's target must be a URL with a host.")
	}
	authority, bad := AuthorityOf(u, defaultPort)
	if bad != nil {
		return bad
	}
	if r.Method == http.MethodOptions && u.Path == "" && u.RawQuery == "" && !u.ForceQuery {
		u.Path = "*" // the server itself is asked (RFC 9112 §3.2.4)
	}
	return SetTarget(r, u.Scheme, authority)
}

// AuthorityOf returns host and port of a request's target in canonical form, or a refusal that says what is wrong with
// it. User info is refused, not dropped: it may hide the real host from the eye, and a password in it would be logged.
func AuthorityOf(u *url.URL, defaultPort string) (string, *Refusal) {
	if u.User != nil {
		return "", BadRequest("A request's target must not contain user info (RFC 9110 §4.2.4).")
	}
	host, port, err := SplitAuthority(u.Host, defaultPort)
	if err != nil {
		return "", BadRequest(fmt.Sprintf("Host %q: %v.", Shown(u.Host), err))
	}
	return JoinAuthority(host, port, defaultPort), nil
}

// SetTarget sets the host that a request is for, in its URL and its Host field, and escapes what clients send
// unescaped. It returns nil always, for the callers' return.
// URL and Host field must name one host: an origin or a cache that reads the other would else answer for it.
func SetTarget(r *http.Request, scheme, authority string) *Refusal {
	r.URL.Scheme, r.URL.Host, r.Host = scheme, authority, authority
	page.KeepEscapes(r.URL)
	r.URL.RawQuery = escapeNonASCII(r.URL.RawQuery)
	return nil
}

// escapeNonASCII percent-encodes the raw characters that some clients send in the query of a target. net/url does so
// only for paths.
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
