package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/readthru/readthru/page"
)

// wellFormed resolves the request's target. It refuses a request that two parsers could interpret differently, and a
// loop.
func (x *incoming) wellFormed() *refusal {
	if bad := malformed(x.r); bad != nil {
		return bad
	}
	resolve := x.resolve
	if x.inside == nil && !x.r.URL.IsAbs() {
		resolve = x.resolveDirect
	}
	if bad := resolve(); bad != nil {
		return bad
	}
	return x.p.looped(x.r.Header)
}

// resolve completes the request's URL from its connection and brings it into canonical form. It refuses a target that
// two parsers could interpret differently. A request inside an intercepted connection must be for the target of the
// CONNECT or for the server name of the TLS handshake; any other is misdirected (RFC 9110 §15.5.20).
func (x *incoming) resolve() *refusal {
	r := x.r
	if x.inside == nil {
		return resolvePlain(r)
	}
	if r.URL.Host != "" || r.URL.Scheme != "" {
		return badRequest("The target of a request inside a tunnel must be a path, not a URL.")
	}
	if ofServer := r.Method == http.MethodOptions && r.RequestURI == "*"; !ofServer && r.ProtoMajor == 1 &&
		!strings.HasPrefix(r.RequestURI, "/") {
		return badRequest("The target of a request inside a tunnel must be a path.")
	}
	host, port, err := splitAuthority(r.Host, "443")
	if err != nil {
		return badRequest(fmt.Sprintf("Host %q: %v.", shown(r.Host), err))
	}
	if port != x.inside.port || host != x.inside.host && host != x.inside.named {
		return &refusal{
			status: http.StatusMisdirectedRequest, title: "Misdirected request", proxyError: "http_request_denied",
			detail: fmt.Sprintf("The request is for %s, but the tunnel is to %s.", shown(r.Host), x.inside.target()),
		}
	}
	return setTarget(r, "https", joinAuthority(host, port, "443"))
}

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
