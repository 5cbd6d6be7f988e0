package httpfield

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// OtherSite reports whether a browser says of a request that a page of another origin than the server's had it sent,
// and in what words: `origin "https://evil.test"`. The server is called host, as the Host field says. Every line of
// Origin and Sec-Fetch-Site counts. Another port of the same host is another origin, and so is an opaque one. Browsers
// send no Sec-Fetch-Site to a server without TLS on another machine, and no Origin with what only shows an image: a
// request of which neither says anything may still be a page's.
func OtherSite(h http.Header, host string) (words string, other bool) {
	if origins := h["Origin"]; len(origins) > 0 && !SameOrigin(h, host) {
		return fmt.Sprintf("origin %q", origins[0]), true
	}
	for _, site := range h["Sec-Fetch-Site"] {
		if site != "same-origin" && site != "none" {
			return fmt.Sprintf("a %q request of a browser", site), true
		}
	}
	return "", false
}

// SameOrigin reports whether there is one Origin field and it names the server that is called host, by either scheme.
func SameOrigin(h http.Header, host string) bool {
	origins := h["Origin"]
	if len(origins) != 1 {
		return false
	}
	u, err := url.Parse(origins[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, host)
}

// FollowsLink reports whether a browser says that a person follows a link, perhaps of another site, to a page that then
// fills the window. A form, a frame or a script of another site does not look like that.
func FollowsLink(h http.Header) bool {
	return h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document" && len(h["Origin"]) == 0
}
