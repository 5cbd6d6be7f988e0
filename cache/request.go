package cache

import (
	"net/http"
	"strings"
	"time"

	"readthru/store"
)

// A request is a client's request with the facts that the cache needs, parsed once.
type request struct {
	*http.Request
	key    string  // the cache key URI
	cc     control // its cache directives
	rule   Rule    // the operator's rule for its URL
	secret bool    // its URL carries a credential
	// its answer may become a page that others read
	forPage bool
	why     string // why it is forwarded: the parameter fwd of Cache-Status; empty before it is
}

// request parses a client's request.
func (p *policy) request(req *http.Request) *request {
	if req.Header == nil {
		req = req.Clone(req.Context())
		req.Header = http.Header{}
	}
	q := &request{Request: req, key: Key(req), cc: requestControl(req.Header)}
	if p.rule != nil {
		q.rule = p.rule(req.URL)
	}
	q.forPage = p.forPage != nil && p.forPage(req)
	if p.secret == nil {
		q.secret = req.URL.User != nil
	} else {
		q.secret = p.secret(req.URL)
	}
	return q
}

// Key returns the cache key URI of a request's URL: scheme, lower-case host without default port, path and raw query,
// no user info and no fragment (RFC 9111 §2).
func Key(req *http.Request) string {
	u := req.URL
	host := u.Host
	if host == "" {
		host = req.Host
	}
	host = strings.ToLower(host)
	scheme := strings.ToLower(u.Scheme)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	key := scheme + "://" + host + path
	if u.RawQuery != "" || u.ForceQuery {
		key += "?" + u.RawQuery
	}
	return key
}

// authorization returns the request's credentials for the origin, in Authorization or in the URL; empty if it has none.
func (q *request) authorization() string {
	if lines := q.Header["Authorization"]; len(lines) > 0 {
		return strings.Join(lines, ",")
	}
	if q.URL.User != nil {
		return "userinfo " + q.URL.User.String()
	}
	return ""
}

// credentials reports whether the request carries credentials of any kind.
func (q *request) credentials() bool {
	return q.secret || q.authorization() != "" || len(q.Header["Cookie"]) > 0
}

// partition returns the name of the partition that the answer to q belongs to: the empty one if it may be shared, and
// otherwise one for requests with the same Authorization and, if the answer is for one cookie only, the same Cookie.
func (p *policy) partition(q *request, private, variesByCookie bool) string {
	if p.shared {
		return ""
	}
	part := p.authPartition(q)
	if private || variesByCookie {
		part += "." + p.cookiePartition(q)
	}
	return part
}

func (p *policy) authPartition(q *request) string {
	if a := q.authorization(); a != "" {
		return keyedHash(p.key, a)
	}
	return "-"
}

func (p *policy) cookiePartition(q *request) string {
	if lines := q.Header["Cookie"]; len(lines) > 0 {
		return keyedHash(p.key, strings.Join(lines, ";"))
	}
	return "-"
}

// owns reports whether q may read the partition of the stored response r, and whether r may answer a request of q's
// purpose.
func (p *policy) owns(q *request, r *store.Response) bool {
	if p.shared {
		return r.Partition == "" && (!q.forPage || !strings.Contains(r.Class, classCredentials))
	}
	auth, cookie, bound := strings.Cut(r.Partition, ".")
	return auth == p.authPartition(q) && (!bound || cookie == p.cookiePartition(q))
}

// forever is longer than any lifetime.
const forever = 100 * 365 * 24 * time.Hour
