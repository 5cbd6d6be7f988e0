package cache

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// A status is what Cache-Status says of one request (RFC 9211 §2).
type status struct {
	hit       bool
	ttl       time.Duration // of a hit
	fwd       string        // why the request went on, otherwise
	fwdStatus int           // 0 if the origin did not answer
	stored    bool
	collapsed bool
	detail    string
}

// String returns the member of the list, "readthru; hit; ttl=60".
func (s status) String() string {
	b := make([]byte, 0, 64)
	b = append(b, "readthru"...)
	if s.hit {
		b = append(b, "; hit; ttl="...)
		b = strconv.AppendInt(b, floorSeconds(s.ttl), 10)
	} else {
		b = append(b, "; fwd="...)
		b = append(b, s.fwd...)
	}
	if s.fwdStatus != 0 {
		b = append(b, "; fwd-status="...)
		b = strconv.AppendInt(b, int64(s.fwdStatus), 10)
	}
	if s.stored {
		b = append(b, "; stored"...)
	}
	if s.collapsed {
		b = append(b, "; collapsed"...)
	}
	if s.detail != "" {
		b = append(b, "; detail="...)
		b = append(b, s.detail...)
	}
	return string(b)
}

// append adds s behind what caches nearer to the origin said.
func (s status) append(h http.Header) {
	h["Cache-Status"] = append(slices.Clip(h["Cache-Status"]), s.String())
}

// floorSeconds returns d in whole seconds, rounded down also below zero.
func floorSeconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d < 0 && d%time.Second != 0 {
		s--
	}
	return s
}
