package cache

import (
	"net/http"
	"time"

	"github.com/dunglas/httpsfv"
)

// control parses the cache directives of a response: the first targeted field that is present and well-formed, else
// Cache-Control. A targeted field also overrides Expires (RFC 9213 §2.2).
func (p *policy) control(h http.Header) control {
	for _, name := range p.targeted {
		if lines := h[http.CanonicalHeaderKey(name)]; len(lines) > 0 {
			if cc, ok := targetedControl(lines); ok {
				return cc
			}
		}
	}
	return parseControl(h["Cache-Control"])
}

// targetedControl parses a targeted field, a Dictionary of Structured Fields (RFC 9213 §2.1, RFC 9651 §3.2). ok is
// false if the field is malformed or empty, or a known directive has a value of the wrong type: then the field counts
// as absent.
func targetedControl(lines []string) (cc control, ok bool) {
	cc = parseControl(nil)
	cc.targeted = true
	members, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil || len(members.Names()) == 0 {
		return cc, false
	}
	flags := map[string]*bool{
		"no-store": &cc.noStore, "no-cache": &cc.noCache, "private": &cc.private, "public": &cc.public,
		"must-understand": &cc.mustUnderstand, "must-revalidate": &cc.mustRevalidate,
		"proxy-revalidate": &cc.proxyRevalidate,
	}
	lifetimes := map[string]*time.Duration{
		"max-age": &cc.maxAge, "s-maxage": &cc.sMaxAge,
		"stale-while-revalidate": &cc.staleWhileRevalidate, "stale-if-error": &cc.staleIfError,
	}
	for _, name := range members.Names() {
		member, _ := members.Get(name)
		item, _ := member.(httpsfv.Item)
		flag, lifetime := flags[name], lifetimes[name]
		seconds, isNumber := item.Value.(int64)
		set, isBoolean := item.Value.(bool)
		switch {
		case flag == nil && lifetime == nil: // an unknown directive
		case lifetime != nil && isNumber && seconds >= 0:
			*lifetime = time.Duration(min(seconds, int64(maxDelta/time.Second))) * time.Second
		case flag != nil && isBoolean:
			*flag = set
		case !isNumber && (name == "no-cache" || name == "private"):
			*flag = true // with field names: applying it to the whole response is always safe
		default:
			return cc, false
		}
	}
	return cc, true
}
