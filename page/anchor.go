package page

import "net/url"

// maxFragment is how long the name of an anchor may be, in bytes.
const maxFragment = 200

// Anchor is a place in a page that a fragment of its URL leads to.
type Anchor struct {
	ID   string // the fragment, not escaped
	Text string // the heading or the defined term that stands there
}

// WithFragment returns a URL with a fragment in place of its own. It is empty if raw is no URL or the fragment is too
// long to be one.
func WithFragment(raw, fragment string) string {
	u, err := url.Parse(raw)
	if err != nil || len(fragment) > maxFragment || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	u.Fragment, u.RawFragment = fragment, ""
	return u.String()
}
