package fetch

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// largePage is the length of a page, in bytes, above which it is not rendered if it has its text without, and which no
// third party gets because of its size.
const largePage = 10 << 20

// disclosure is an intended disclosure of a URL to a third party, with the facts that decide whether it is allowed.
type disclosure struct {
	mode        string // off, fallback, prefer
	url         *url.URL
	blocked     []string
	status      int    // of the origin's response
	have        bool   // a rendition exists
	noRemote    bool   // the caller forbids third parties
	credentials bool   // in the request
	private     bool   // the request or the response is private
	noTransform bool   // the response has no-transform
	wall        string // mark of a bot wall
	content     []byte // of the origin's response
}

// refusal returns why the URL must not be disclosed (AD3), or "" if it may be. A bot challenge, a login and a paywall
// must not be circumvented.
func (d disclosure) refusal() string {
	switch {
	case d.mode != "fallback" && d.mode != "prefer":
		return "switched off"
	case d.noRemote:
		return "the caller forbids third parties"
	case d.credentials || d.url.User != nil || page.HasSecret(d.url):
		return "the request carries credentials"
	case page.Unlisted(d.url):
		return "the URL may be known only to those who were given it"
	case d.private:
		return "the page is private"
	case d.noTransform:
		return "the page must not be transformed"
	case page.Blocked(d.url.Hostname(), d.blocked):
		return "the host is blocked"
	case !publicName(d.url):
		return "the host is not public"
	case d.wall != "":
		return "the origin requires a human"
	case d.status != http.StatusOK && !isRefusal(d.status):
		return fmt.Sprintf("the origin answered HTTP %d", d.status)
	}
	if len(d.content) > largePage {
		return "the page is too large for a third party"
	}
	content := bytes.ToLower(d.content)
	switch {
	case asksPassword(content):
		return "the page asks to sign in"
	case paywallMark.Match(content):
		return "the page is behind a paywall"
	}
	return ""
}

// asksPassword reports whether lower-case HTML has a password field, even inside a script.
func asksPassword(content []byte) bool {
	for {
		_, rest, ok := bytes.Cut(content, []byte("<input"))
		if !ok {
			return false
		}
		tag, after, _ := bytes.Cut(rest, []byte(">"))
		if passwordMark.Match(tag) {
			return true
		}
		content = after
	}
}

// reason returns the reason for the disclosure, for the ledger and the attempts.
func (d disclosure) reason() string {
	switch {
	case d.status != http.StatusOK:
		return fmt.Sprintf("the origin refused with HTTP %d", d.status)
	case d.mode == "prefer":
		return "markdown_new is preferred"
	case d.have:
		return "the local result is thin"
	}
	return "there is no local result"
}

// isRefusal reports whether a status means that the origin refused the request, and not that the page is missing or
// requires signing in.
func isRefusal(status int) bool {
	switch status {
	case http.StatusForbidden, http.StatusNotAcceptable, http.StatusTooManyRequests:
		return true
	}
	return status >= 500 && status != http.StatusNetworkAuthenticationRequired
}

// Patterns for lower-case content. Both begin with a literal, which keeps the search fast.
var (
	passwordMark = regexp.MustCompile(`type\s*=\s*["']?password\b`)
	paywallMark  = regexp.MustCompile(`"isaccessibleforfree"\s*:\s*"?false`)
)

// privateNames are name suffixes that do not exist in public DNS.
var privateNames = []string{
	"local", "localhost", "internal", "intranet", "private", "corp", "home", "lan",
	"localdomain", "home.arpa", "onion", "i2p",
}

// publicName reports whether a URL's host may be public, judged by its text alone.
func publicName(u *url.URL) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return transport.CheckPublic(ip) == nil
	}
	if !strings.Contains(host, ".") {
		return false
	}
	return !slices.ContainsFunc(privateNames, func(end string) bool { return strings.HasSuffix(host, "."+end) })
}
