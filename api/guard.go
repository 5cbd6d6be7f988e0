package api

import (
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard decides which requests may be answered. It is the same for every path except that public paths need no token.
type guard struct {
	hosts []string // names in lower case, without port, that the Host field may carry beside the loopback names
	token string   // if empty, no token is required
}

// check returns why r is refused, or nil. The rules, in order: Host names this server (DNS rebinding), Origin is absent
// or ours, no browser calls the request cross-site or same-site (another port of this machine is same-site), the
// content has a type that no form has, the token is right.
func (g guard) check(r *http.Request, open bool) *Error {
	if !g.ours(r.Host, r) {
		return problem(http.StatusForbidden,
			"%q is not a name of this server: add it to admin.hosts, or use 127.0.0.1 or localhost", r.Host)
	}
	if origins := r.Header.Values("Origin"); len(origins) > 0 && !sameOrigin(origins, r.Host) {
		return problem(http.StatusForbidden, "origin %q may not use this server", origins[0])
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return problem(http.StatusForbidden, "%s requests of browsers may not use this server", site)
		}
	}
	if e := contentType(r); e != nil {
		return e
	}
	if !open && !g.admits(r.Header.Values("Authorization")) {
		return problem(http.StatusUnauthorized,
			`this server requires a token: send "Authorization: Bearer TOKEN" with the value of admin.token`)
	}
	return nil
}

// ours reports whether the Host field names this server: a loopback name, a configured name, or the address that the
// connection came in at.
func (g guard) ours(hostport string, r *http.Request) bool {
	host, ok := hostName(hostport)
	if !ok {
		return false
	}
	// A closed list, narrower than page.Loopback: the server was not told to answer on the rest of 127.0.0.0/8.
	if host == "localhost" || host == "127.0.0.1" || host == "::1" || slices.Contains(g.hosts, host) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, _, err := net.SplitHostPort(local.String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.Equal(net.ParseIP(at))
}

// hostName returns the host of a Host field in lower case. ok is false if the field is not a host with an optional
// port.
func hostName(hostport string) (string, bool) {
	u, err := url.Parse("http://" + hostport)
	if err != nil || u.Host != hostport || u.User != nil || u.Hostname() == "" {
		return "", false
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), true
}

// sameOrigin reports whether the one Origin field names the server that the Host field names.
func sameOrigin(origins []string, host string) bool {
	if len(origins) != 1 {
		return false
	}
	u, err := url.Parse(origins[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, host)
}

// contentType returns an error for content that is neither JSON nor application/octet-stream: a page of another site
// can make a browser send forms and plain text, but not those. A request without content needs no type.
func contentType(r *http.Request) *Error {
	types := r.Header.Values("Content-Type")
	if len(types) == 0 && r.ContentLength == 0 {
		return nil
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if len(types) == 1 {
		if t, _, err := mime.ParseMediaType(types[0]); err == nil &&
			(t == "application/json" || t == "application/octet-stream") {
			return nil
		}
	}
	return problem(http.StatusUnsupportedMediaType, "content must be JSON: send Content-Type: application/json")
}

// admits reports whether the one Authorization field carries the token. The comparison takes the same time for every
// token of one length.
func (g guard) admits(fields []string) bool {
	if g.token == "" {
		return true
	}
	if len(fields) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(fields[0], " ")
	return strings.EqualFold(scheme, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(strings.TrimSpace(token)), []byte(g.token)) == 1
}
