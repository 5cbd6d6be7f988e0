package httpfield

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns how long Retry-After asks to wait from now on (RFC 9110 §10.2.3), at least 0 and at most limit. ok
// is false if the field is absent or malformed.
func RetryAfter(h http.Header, now time.Time, limit time.Duration) (wait time.Duration, ok bool) {
	s := h.Get("Retry-After")
	if s != "" && strings.Trim(s, "0123456789") == "" {
		seconds, err := strconv.ParseInt(s, 10, 64)
		if err != nil || seconds > int64(limit/time.Second) {
			return limit, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	t, err := http.ParseTime(s)
	if err != nil {
		return 0, false
	}
	return min(max(t.Sub(now), 0), limit), true
}
