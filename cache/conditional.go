package cache

import (
	"net/http"
	"strings"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// conditional reports whether a request carries a condition that a cache evaluates (RFC 9111 §4.3.2).
func conditional(h http.Header) bool {
	return len(h["If-None-Match"]) > 0 || len(h["If-Modified-Since"]) > 0
}

// forOriginOnly reports whether a request carries a condition that only an origin may evaluate (RFC 9111 §4.3.2).
func forOriginOnly(h http.Header) bool {
	return len(h["If-Match"]) > 0 || len(h["If-Unmodified-Since"]) > 0
}

// notModified reports whether the client that sent h already has the representation r, so that 304 answers it (RFC 9110
// §13.1.2, §13.1.3, RFC 9111 §4.3.2). If-None-Match takes precedence over If-Modified-Since.
func notModified(h http.Header, r *store.Response) bool {
	if tags := h["If-None-Match"]; len(tags) > 0 {
		return MatchesETag(tags, r.Header.Get("ETag"))
	}
	lines := h["If-Modified-Since"]
	if len(lines) != 1 {
		return false
	}
	since, ok := parseDate(lines[0], r.ResponseTime)
	if !ok {
		return false
	}
	modified, ok := parseDate(r.Header.Get("Last-Modified"), r.ResponseTime)
	if !ok {
		modified = dateOf(r)
	}
	return !modified.After(since)
}

// MatchesETag reports whether the lines of an If-None-Match field name the entity tag of a representation, compared
// weakly, so that 304 answers the request (RFC 9110 §13.1.2). "*" matches any representation.
func MatchesETag(lines []string, etag string) bool {
	for tag := range httpfield.EntityTags(lines) {
		if tag == "*" || etag != "" && weakMatch(tag, etag) {
			return true
		}
	}
	return false
}

// isWeak reports whether an entity tag of a condition is a weak one (RFC 9110 §8.8.3).
func isWeak(tag string) bool { return strings.HasPrefix(tag, "W/") }

// weakMatch is the weak comparison of entity tags, as conditions have them (RFC 9110 §8.8.3.2).
func weakMatch(a, b string) bool {
	return strings.TrimPrefix(a, "W/") == strings.TrimPrefix(b, "W/")
}

// strongMatch is the strong comparison of entity tags, as conditions have them (RFC 9110 §8.8.3.2).
func strongMatch(a, b string) bool {
	return a == b && strings.HasPrefix(a, `"`)
}
