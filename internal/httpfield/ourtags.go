package httpfield

import (
	"net/http"
	"slices"
	"strings"
)

// ourTag reports whether an entity tag is that of one of our renditions.
func ourTag(tag string) bool { return strings.HasPrefix(strings.TrimPrefix(tag, "W/"), `"rt-`) }

// RemoveOurTags removes conditions that name our renditions from a request to an origin, which does not know them (RFC
// 9110 §13.1). A range of a rendition is removed with its If-Range, so that the answer is whole. It reports whether
// the request may be sent: not if all that its If-Match allows is a rendition.
func RemoveOurTags(h http.Header) (ok bool) {
	if theirs, ours := withoutOurTags(h["If-None-Match"]); ours {
		h.Del("If-None-Match")
		h.Del("If-Modified-Since")
		if len(theirs) > 0 {
			h.Set("If-None-Match", strings.Join(theirs, ", "))
		}
	}
	if slices.ContainsFunc(h["If-Range"], ourTag) {
		h.Del("If-Range")
		h.Del("Range")
	}
	theirs, ours := withoutOurTags(h["If-Match"])
	if !ours {
		return true
	}
	h.Del("If-Match")
	if len(theirs) > 0 {
		h.Set("If-Match", strings.Join(theirs, ", "))
	}
	return len(theirs) > 0
}

// withoutOurTags returns the entity tags in lines that are not ours, and whether there were others.
func withoutOurTags(lines []string) (theirs []string, ours bool) {
	for tag := range EntityTags(lines) {
		if ourTag(tag) {
			ours = true
		} else {
			theirs = append(theirs, tag)
		}
	}
	return theirs, ours
}
