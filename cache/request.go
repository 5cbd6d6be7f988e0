package cache

import (
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// A request is a client's request with the facts that the cache needs, parsed once.
type request struct {
	*http.Request
	key    string  // the cache key URI
	cc     control // its cache directives
	rule   Rule    // the operator's rule for its URL
	secret bool    // its URL carries a credential
	// it carries credentials of any kind, in its URL or in any field
	credentials bool
	// its answer may become a page that others read
	forPage bool
	why     string       // why it is forwarded: the parameter fwd of Cache-Status; empty before it is
	found   *store.Found // what the client found in the store just before, by [WithFound]; nil if it did not look
}

// request parses a client's request into what decisions need of it.
func (p *policy) request(req *http.Request) *request {
	if req.Header == nil {
		req = req.Clone(req.Context())
		req.Header = http.Header{}
	}
	q := &request{Request: req, key: Key(req), cc: requestControl(req.Header)}
	q.found, _ = req.Context().Value(foundKey{}).(*store.Found)
	if p.rule != nil {
		q.rule = p.rule(req.URL)
	}
	q.forPage = p.forPage != nil && p.forPage(req)
	if p.secret == nil {
		q.secret = req.URL.User != nil
	} else {
		q.secret = p.secret(req.URL)
	}
	q.credentials = q.secret || req.URL.User != nil || httpfield.HasCredentials(req.Header)
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

// bypasses reports whether q goes to the origin past everything that is stored: an upgrade, a condition for the origin
// alone, or by a rule.
func (q *request) bypasses() bool {
	return len(q.Header["Upgrade"]) > 0 || forOriginOnly(q.Header) || q.rule.Bypass
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

// everyReader stands in a partition for the credentials other than Authorization that it does not depend on.
const everyReader = "*"

// partition returns the name of the partition that the answer r to q belongs to: the empty one if it may be shared, and
// otherwise one for requests with the same Authorization, and with the same other credentials if it is private, or a
// page, or if its origin does not allow by name that others get it. Older programs put no + into a name: what they
// stored is found by no request.
func (p *policy) partition(q *request, r *store.Response, cc *control) string {
	if p.shared {
		return ""
	}
	others := everyReader
	if cc.private || p.isPage(r.Header) || !allowsOthers(q, r, cc) {
		others = p.othersPartition(q)
	}
	return p.authPartition(q) + "+" + others
}

// authPartition names the request's Authorization in a partition, by a keyed hash; "-" if it has none.
func (p *policy) authPartition(q *request) string {
	if a := q.authorization(); a != "" {
		return keyedHash(p.key, a)
	}
	return "-"
}

// othersPartition names the credentials of a request other than Authorization in a partition, likewise.
func (p *policy) othersPartition(q *request) string {
	if others := httpfield.Credentials(q.Header, "Authorization"); others != "" {
		return keyedHash(p.key, others)
	}
	return "-"
}

// owns reports whether q may read the partition of the stored response r, and whether r may answer a request of q's
// purpose.
func (p *policy) owns(q *request, r *store.Response) bool {
	if p.shared {
		return r.Partition == "" && !strings.Contains(r.Class, classFormer) &&
			(!q.forPage || !strings.Contains(r.Class, classByName))
	}
	auth, others, ok := strings.Cut(r.Partition, "+")
	return ok && auth == p.authPartition(q) && (others == everyReader || others == p.othersPartition(q))
}

// forever is longer than any lifetime: how stale a response may be offline.
const forever = 100 * 365 * 24 * time.Hour
