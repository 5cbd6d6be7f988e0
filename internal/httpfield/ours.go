package httpfield

import (
	"net/http"
	"slices"
	"strings"
)

// ours is the name by which this proxy speaks in fields that several parties write: Cache-Status (RFC 9211) and
// Proxy-Status (RFC 9209).
const ours = "readthru"

// OurPrefix begins the canonical names of the fields that only this proxy and its clients write.
const OurPrefix = "X-Readthru-"

// RemoveOurs removes from the fields of a message that came from elsewhere what speaks in this proxy's name: fields
// that begin with [OurPrefix], and members of Cache-Status and Proxy-Status that are called readthru. A client could
// not tell them from ours. A status field that is malformed goes as a whole, for the next parser could find such a
// member in it.
func RemoveOurs(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, OurPrefix) {
			delete(h, name)
		}
	}
	for _, name := range []string{"Cache-Status", "Proxy-Status"} {
		if lines, ok := h[name]; ok {
			if lines = withoutOurs(lines); len(lines) == 0 {
				delete(h, name)
			} else {
				h[name] = lines
			}
		}
	}
}

// withoutOurs returns the lines without members called readthru. They stay as they are if there is none.
func withoutOurs(lines []string) []string {
	if !strings.Contains(strings.ToLower(strings.Join(lines, ",")), ours) {
		return lines
	}
	var kept []string
	for _, line := range lines {
		if strings.Count(line, `"`)%2 != 0 || strings.Contains(line, `\`) {
			return nil // where a quoted string ends depends on who reads it
		}
		var members []string
		for member := range Elements([]string{line}) {
			called, _, _ := strings.Cut(member, ";")
			if !strings.EqualFold(strings.Trim(called, " \t\""), ours) {
				members = append(members, member)
			}
		}
		if len(members) > 0 {
			kept = append(kept, strings.Join(members, ", "))
		}
	}
	return slices.Clip(kept)
}
