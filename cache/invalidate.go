package cache

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/readthru/readthru/page"
)

// safe reports whether a method is safe, so that it invalidates nothing (RFC 9110 §9.2.1 and the IANA registry).
// Unknown methods are not.
func safe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, "PROPFIND", "REPORT", "SEARCH", "QUERY":
		return true
	}
	return false
}

// invalidated returns the cache keys that the answer to an unsafe request invalidates (RFC 9111 §4.4): that of the
// request, and those of Location and Content-Location on the same origin. An error status invalidates none.
func invalidated(q *request, status int, h http.Header) []string {
	if safe(q.Method) || status < 200 || status >= 400 {
		return nil
	}
	keys := []string{q.key}
	for _, name := range []string{"Location", "Content-Location"} {
		if key, ok := sameOrigin(q, h.Get(name)); ok && key != q.key {
			keys = append(keys, key)
		}
	}
	return keys
}

// outdates reports whether a full answer to a GET with this status says that what was stored for its URL before is no
// longer there (RFC 9111 §4.3.3). Redirections for the moment do not, nor errors that may be the client's, nor a 200:
// one that may not be stored may be a bot wall in place of a page.
func outdates(status int) bool {
	return gone(status) || status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
}

// gone reports whether a status says that the URL has nothing any more, which invalidates what is stored for it.
func gone(status int) bool { return status == http.StatusNotFound || status == http.StatusGone }

// locatesItself reports whether a Content-Location names the request's own URI.
func locatesItself(q *request, location string) bool {
	key, ok := sameOrigin(q, location)
	return ok && key == q.key
}

// sameOrigin returns the cache key of a reference relative to q's URL, if it is on q's origin.
func sameOrigin(q *request, reference string) (key string, ok bool) {
	if reference == "" {
		return "", false
	}
	base := *q.URL
	base.User = nil
	base.Host = cmp.Or(base.Host, q.Host)
	u, err := page.Resolve(&base, reference)
	if err != nil {
		return "", false
	}
	key = Key(&http.Request{URL: u})
	return key, originOf(key) == originOf(q.key)
}

// originOf returns the scheme and authority of a cache key: an answer invalidates only URLs of its own origin.
func originOf(key string) string {
	start := strings.Index(key, "://") + len("://")
	if end := strings.IndexByte(key[start:], '/'); end >= 0 {
		return key[:start+end]
	}
	return key
}
