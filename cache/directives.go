package cache

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
)

// absent is the value of a missing lifetime directive. Every lifetime that is present is at least 0.
const absent time.Duration = -1

// maxDelta is the largest delta-seconds value; larger ones are reduced to it (RFC 9111 §1.2.2).
const maxDelta = (1 << 31) * time.Second

// A control is a parsed Cache-Control field, of a request or a response (RFC 9111 §5.2). Unknown directives are
// ignored, of duplicates the first wins (§4.2.1). A lifetime whose argument is not a number of seconds counts as 0, as
// §4.2.1 advises, and what is malformed restricts as much as it may have been meant to.
type control struct {
	maxAge, sMaxAge                    time.Duration // absent, or the argument
	maxStale, minFresh                 time.Duration // absent, or the argument; max-stale without one is maxDelta
	staleWhileRevalidate, staleIfError time.Duration // RFC 5861; absent, or the argument

	noStore, onlyIfCached           bool
	noCache, private                bool // without field names, for the whole response
	public, mustUnderstand          bool
	mustRevalidate, proxyRevalidate bool

	targeted bool // read from a targeted field (RFC 9213)

	noCacheFields, privateFields []string // the qualified forms, no-cache="a, b" (§5.2.2.4, §5.2.2.7)
}

// parseControl parses the directives in all lines of a Cache-Control field.
func parseControl(lines []string) control {
	cc := control{
		maxAge: absent, sMaxAge: absent, maxStale: absent, minFresh: absent,
		staleWhileRevalidate: absent, staleIfError: absent,
	}
	for name, arg := range httpfield.Directives(lines) {
		switch name {
		case "max-age":
			setLifetime(&cc.maxAge, arg)
		case "s-maxage":
			setLifetime(&cc.sMaxAge, arg)
		case "max-stale":
			if arg == "" && cc.maxStale == absent {
				cc.maxStale = maxDelta
			}
			setLeniency(&cc.maxStale, arg)
		case "min-fresh":
			setLeniency(&cc.minFresh, arg)
		case "stale-while-revalidate":
			setLeniency(&cc.staleWhileRevalidate, arg)
		case "stale-if-error":
			setLeniency(&cc.staleIfError, arg)
		case "no-store":
			cc.noStore = true
		case "no-cache":
			if fields := fieldNames(arg); len(fields) > 0 {
				cc.noCacheFields = append(cc.noCacheFields, fields...)
			} else {
				cc.noCache = true
			}
		case "private":
			if fields := fieldNames(arg); len(fields) > 0 {
				cc.privateFields = append(cc.privateFields, fields...)
			} else {
				cc.private = true
			}
		case "only-if-cached":
			cc.onlyIfCached = true
		case "public":
			cc.public = true
		case "must-understand":
			cc.mustUnderstand = true
		case "must-revalidate":
			cc.mustRevalidate = true
		case "proxy-revalidate":
			cc.proxyRevalidate = true
		}
	}
	return cc
}

// requestControl parses the directives of a request's Cache-Control, or its Pragma if it has no Cache-Control (RFC 9111
// §5.4).
func requestControl(h http.Header) control {
	lines := h["Cache-Control"]
	cc := parseControl(lines)
	if len(lines) == 0 {
		for element := range httpfield.Elements(h["Pragma"]) {
			if strings.EqualFold(element, "no-cache") {
				cc.noCache = true
			}
		}
	}
	return cc
}

// setLifetime sets the lifetime of a directive, unless it is set, to the seconds in arg, or to 0 if arg is not a
// number: a malformed lifetime must not make a response fresh.
func setLifetime(d *time.Duration, arg string) {
	if *d == absent {
		*d, _ = deltaSeconds(unquote(arg))
	}
}

// setLeniency sets what a directive allows, unless it is set, to the seconds in arg. It leaves d unchanged if arg is
// not a number: a malformed argument must never allow more.
func setLeniency(d *time.Duration, arg string) {
	if seconds, ok := deltaSeconds(unquote(arg)); ok && *d == absent {
		*d = seconds
	}
}

// deltaSeconds parses a non-negative decimal number of seconds, such as the argument of a directive (RFC 9111 §1.2.2),
// at most maxDelta.
func deltaSeconds(s string) (d time.Duration, ok bool) {
	if s == "" {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > int64(maxDelta/time.Second) {
		return maxDelta, true
	}
	return time.Duration(n) * time.Second, true
}

// fieldNames returns the field names in the argument of a qualified directive, canonical. It returns none if something
// there is unlike every name in use, as two single quotes are: then the directive is about the whole response.
func fieldNames(arg string) []string {
	var names []string
	for name := range strings.SplitSeq(unquote(arg), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if strings.ContainsFunc(name, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
		}) {
			return nil
		}
		names = append(names, http.CanonicalHeaderKey(name))
	}
	return names
}

// unquote returns the argument of a directive without the quotes around it. A quoted number is accepted as RFC 9111
// §5.2 asks.
func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}
