package cache

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// A byteRange is one range of a Range field (RFC 9110 §14.1.2). first is -1 in a suffix range, where last is the number
// of bytes wanted from the end; last is -1 in an open range.
type byteRange struct{ first, last int64 }

// parseRange parses a Range field. ok is false if it is malformed or in another unit: then it is ignored (RFC 9110
// §14.2).
func parseRange(lines []string) (ranges []byteRange, ok bool) {
	if len(lines) != 1 {
		return nil, false
	}
	unit, set, found := strings.Cut(lines[0], "=")
	if !found || !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return nil, false
	}
	for element := range httpfield.Elements([]string{set}) {
		from, to, found := strings.Cut(element, "-")
		if !found {
			return nil, false
		}
		r := byteRange{-1, -1}
		if from != "" {
			if r.first, ok = bound(from); !ok {
				return nil, false
			}
		}
		if to != "" {
			if r.last, ok = bound(to); !ok {
				return nil, false
			}
		}
		if from == "" && to == "" || from != "" && to != "" && r.last < r.first {
			return nil, false
		}
		ranges = append(ranges, r)
	}
	return ranges, len(ranges) > 0
}

// farthest is the largest position in a Range field that counts: no representation has as many bytes.
const farthest = 1 << 62

// bound parses a position in a Range field. One that is too large for a number means the end of every representation.
func bound(s string) (int64, bool) {
	n, ok := position(s)
	if !ok && s != "" && strings.Trim(s, "0123456789") == "" {
		return farthest, true
	}
	return min(n, farthest), ok
}

// position parses a byte position or a length of Range and Content-Range: digits alone.
func position(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// resolve returns the positions of the first and the last byte of a range in a representation of total bytes, and
// whether there are any (RFC 9110 §14.1.2).
func (r byteRange) resolve(total int64) (first, last int64, ok bool) {
	switch {
	case r.first < 0: // suffix
		return max(total-r.last, 0), total - 1, r.last > 0 && total > 0
	case r.first >= total:
		return 0, 0, false
	case r.last < 0:
		return r.first, total - 1, true
	}
	return r.first, min(r.last, total-1), true
}

// A contentRange is a parsed Content-Range field; total is -1 if unknown.
type contentRange struct{ first, last, total int64 }

// length returns the number of bytes in the range.
func (c contentRange) length() int64 { return c.last - c.first + 1 }

// parseContentRange parses "bytes 0-4/10" or "bytes 0-4/*" (RFC 9110 §14.4); ok is false for anything else, or if the
// positions contradict each other.
func parseContentRange(s string) (c contentRange, ok bool) {
	unit, rest, _ := strings.Cut(s, " ")
	positions, total, _ := strings.Cut(rest, "/")
	from, to, _ := strings.Cut(positions, "-")
	first, ok1 := position(from)
	last, ok2 := position(to)
	length, ok3 := position(total)
	if total == "*" {
		length, ok3 = -1, true
	}
	if !strings.EqualFold(unit, "bytes") || !ok1 || !ok2 || !ok3 || last < first || length >= 0 && last >= length {
		return contentRange{}, false
	}
	return contentRange{first, last, length}, true
}

// storablePart reports whether a 206 may be stored: it is one part, as long as its Content-Range says. A part with a
// wrong Content-Range but of the requested length may be stored too, but answers only the same Range again: see
// verbatim.
func storablePart(q *request, r *store.Response) bool {
	if len(q.Header["Range"]) != 1 || len(r.Header["Content-Range"]) != 1 {
		return false
	}
	c, ok := parseContentRange(r.Header.Get("Content-Range"))
	if !verbatim(r) {
		return ok && (r.Length < 0 || r.Length == c.length())
	}
	asked, valid := parseRange(q.Header["Range"])
	if !ok || !valid || len(asked) != 1 || r.Length < 0 || asked[0].last < 0 {
		return false
	}
	return asked[0].first < 0 && asked[0].last == r.Length || asked[0].last-asked[0].first == r.Length-1
}

// verbatim reports whether the stored part r answers only the Range that it answered first.
func verbatim(r *store.Response) bool { return strings.Contains(r.Class, classRange) }

// usablePart reports whether the stored part r contains the single range that q requests or, if q requests the whole,
// its beginning.
func usablePart(q *request, r *store.Response) bool {
	if q.Method != http.MethodGet {
		return false // Range has a meaning for GET alone (RFC 9110 §14.2)
	}
	if verbatim(r) {
		return len(q.Header["If-Range"]) == 0 &&
			strings.HasSuffix(r.Class, classRange+strings.Join(q.Header["Range"], ","))
	}
	if len(q.Header["Range"]) == 0 {
		return r.Offset == 0 && r.Total > r.Length
	}
	ranges, ok := parseRange(q.Header["Range"])
	if !ok || len(ranges) != 1 || !ifRangeHolds(q.Header, r) {
		return false
	}
	_, _, ok = within(ranges[0], r)
	return ok
}

// within returns the positions of the first and last byte of a range, in the complete representation, if the stored
// part r holds them all.
func within(asked byteRange, r *store.Response) (first, last int64, ok bool) {
	total := r.Total
	if total < 0 { // without the total only a range with both ends can be resolved
		if asked.first < 0 || asked.last < 0 {
			return 0, 0, false
		}
		total = asked.last + 1
	}
	first, last, ok = asked.resolve(total)
	return first, last, ok && first >= r.Offset && last < r.Offset+r.Length
}

// A cut describes which part of a stored response answers a request.
type cut struct {
	status      int   // the stored one, or 206, 304, 416
	content     bool  // with content
	whole       bool  // the whole stored content
	first, last int64 // otherwise: the first and the last byte of the representation
}

// cutFor decides how the stored response r answers q: with 304 if the client already has it, with a part if q requests
// a single available range, and otherwise with all of it. Several ranges, and those whose If-Range fails, give the
// whole; a range beyond the end gives 416 (RFC 9110 §14.2, §15.5.17). ok is false if r is a part that does not contain
// what q requests.
func cutFor(q *request, r *store.Response) (c cut, ok bool) {
	whole := cut{status: r.Status, content: true, whole: true}
	switch {
	case r.Status == http.StatusPartialContent && verbatim(r):
		return whole, true
	case r.Status == http.StatusPartialContent:
		ranges, _ := parseRange(q.Header["Range"])
		if len(ranges) != 1 {
			return cut{}, false
		}
		first, last, ok := within(ranges[0], r)
		return cut{http.StatusPartialContent, true, false, first, last}, ok
	case r.Status == http.StatusOK && conditional(q.Header) && notModified(q.Header, r):
		return cut{status: http.StatusNotModified}, true
	case q.Method != http.MethodGet:
		whole.content = q.Method != http.MethodHead
		fallthrough
	case r.Status != http.StatusOK || len(q.Header["Range"]) == 0:
		whole.content = whole.content && r.Status != http.StatusNoContent && r.Status != http.StatusNotModified
		return whole, true
	}
	status, first, last := partOf(q.Header, r)
	return cut{status, status != http.StatusRequestedRangeNotSatisfiable, status == http.StatusOK, first, last}, true
}

// PartOf decides which part of a representation answers a GET with the fields req (RFC 9110 §14.2). The representation
// has the fields h, of which ETag and Last-Modified count, and length bytes. The status is 206 with the positions of
// the first and the last byte, 416 if there are no such bytes, or 200 for the whole.
func PartOf(req, h http.Header, length int64) (status int, first, last int64) {
	if len(req["Range"]) == 0 {
		return http.StatusOK, 0, 0
	}
	return partOf(req, &store.Response{Status: http.StatusOK, Header: h, Length: length, ResponseTime: time.Now()})
}

// partOf is PartOf for a stored response 200.
func partOf(req http.Header, r *store.Response) (status int, first, last int64) {
	ranges, valid := parseRange(req["Range"])
	if !valid || len(ranges) != 1 || !ifRangeHolds(req, r) {
		return http.StatusOK, 0, 0
	}
	first, last, satisfiable := ranges[0].resolve(r.Length)
	if !satisfiable {
		return http.StatusRequestedRangeNotSatisfiable, 0, 0
	}
	return http.StatusPartialContent, first, last
}

// ifRangeHolds evaluates If-Range against r: an entity tag by strong comparison, or a date that is exactly r's
// Last-Modified, that being strong (RFC 9110 §13.1.5, §8.8.2.2). It holds if there is none.
func ifRangeHolds(h http.Header, r *store.Response) bool {
	lines := h["If-Range"]
	switch {
	case len(lines) == 0:
		return true
	case len(lines) > 1:
		return false
	case strings.HasPrefix(lines[0], `"`), strings.HasPrefix(lines[0], "W/"):
		return strongMatch(lines[0], r.Header.Get("ETag"))
	}
	date, ok1 := parseDate(lines[0], r.ResponseTime)
	modified, ok2 := parseDate(r.Header.Get("Last-Modified"), r.ResponseTime)
	return ok1 && ok2 && date.Equal(modified) && dateOf(r).Sub(modified) >= time.Minute
}
