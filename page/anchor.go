package page

import (
	"net/url"
	"strings"
)

// maxFragment is how long the name of an anchor may be, in bytes. A longer one is no name that a page gives to a place,
// and a search's link would be mostly fragment.
const maxFragment = 200

// Anchor is a place in a page that a fragment of its URL leads to.
type Anchor struct {
	ID   string // the fragment, not escaped
	Text string // the heading or the defined term that stands there
}

// Place returns the anchor, the name of the place on a page that the fragment of u leads to. It is empty for the whole
// page. What follows ":~:" is for browsers, and a route or parameters are for scripts.
func Place(u *url.URL) string {
	name, _, _ := strings.Cut(u.Fragment, ":~:")
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "!") || strings.ContainsAny(name, "=&") ||
		strings.EqualFold(name, "top") {
		return ""
	}
	return name
}

// WithFragment returns a URL with a fragment, an anchor, in place of its own. It is empty if raw is no URL, if its own
// fragment is a [Route], or if the fragment is too long to be one.
func WithFragment(raw, fragment string) string {
	u, err := url.Parse(raw)
	if err != nil || len(fragment) > maxFragment || u.Scheme != "https" && u.Scheme != "http" || Route(u) != "" {
		return ""
	}
	u.Fragment, u.RawFragment = fragment, ""
	return u.String()
}
