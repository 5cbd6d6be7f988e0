package transport

import (
	"io"
	"net/http"
	"net/url"

	"github.com/readthru/readthru/page"
)

// Location returns where a response redirects to, resolved against u; false when it does not redirect or not to a URL.
func Location(u *url.URL, resp *http.Response) (*url.URL, bool) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
	default:
		return nil, false
	}
	to := resp.Header.Get("Location")
	if to == "" {
		return nil, false
	}
	next, err := page.Resolve(u, to)
	if err != nil {
		return nil, false
	}
	if next.Fragment == "" {
		next.Fragment, next.RawFragment = u.Fragment, u.RawFragment // RFC 9110 §10.2.2
	}
	return next, true
}

// Discard closes a redirect response. It reads a short body to its end, so that the connection can be used again.
func Discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	resp.Body.Close()
}
