// Package gate says which pages a third party may learn of, and whether the text that it answers is the page's.
//
// Whoever sends a URL to somebody else than its origin describes that as a [Disclosure], whose Refusal decides.
package gate

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// LargePage is the length of a page, in bytes, above which it is not rendered if it has its text without, and which no
// third party gets because of its size.
const LargePage = 10 << 20

// Disclosure is an intended disclosure of a URL to a third party, with the facts that decide whether it is allowed.
type Disclosure struct {
	Mode        string // off, fallback, prefer
	URL         *url.URL
	Blocked     []string
	Status      int    // of the origin's response
	Have        bool   // a rendition exists
	NoRemote    bool   // the caller forbids third parties
	Credentials bool   // in the request
	Private     bool   // the request or the response is private
	NoTransform bool   // the response has no-transform
	Wall        string // mark of a bot wall
	Content     []byte // of the origin's response
	Document    bool   // the response is no HTML but a file, such as a PDF
}

// Refusal returns why the URL must not be disclosed to a third party (AD3), or "" if it may be. A bot challenge, a
// login and a paywall must not be circumvented. The cheap reasons come first; the content is searched last.
func (d Disclosure) Refusal() string {
	switch {
	case d.Mode != "fallback" && d.Mode != "prefer":
		return "switched off"
	case d.NoRemote:
		return "the caller forbids third parties"
	case d.Credentials || d.URL.User != nil || page.HasSecret(d.URL):
		return "the request carries credentials"
	case page.Unlisted(d.URL):
		return "the URL may be known only to those who were given it"
	case d.Private:
		return "the page is private"
	case d.NoTransform:
		return "the page must not be transformed"
	case page.Blocked(d.URL.Hostname(), d.Blocked):
		return "the host is blocked"
	case !PublicName(d.URL):
		return "the host is not public"
	case d.Wall != "":
		return "the origin requires a human"
	case d.Status != http.StatusOK && !IsRefusal(d.Status):
		return fmt.Sprintf("the origin answered HTTP %d", d.Status)
	}
	switch {
	case len(d.Content) > LargePage:
		return "the page is too large for a third party"
	case d.Document && !d.Have && d.Status == http.StatusOK: // it may be damaged, which is found out here
		return "a file is read here first"
	}
	content := bytes.ToLower(d.Content)
	switch {
	case asksPassword(content):
		return "the page asks to sign in"
	case paywallMark().Match(content):
		return "the page is behind a paywall"
	}
	return ""
}

// asksPassword reports whether lower-case HTML has a password field, even inside a script, which may write it into the
// page. Such a page may be about one person.
func asksPassword(content []byte) bool {
	for {
		_, rest, ok := bytes.Cut(content, []byte("<input"))
		if !ok {
			return false
		}
		tag, after, _ := bytes.Cut(rest, []byte(">"))
		if passwordMark().Match(tag) {
			return true
		}
		content = after
	}
}

// Reason returns the reason for a disclosure, for the ledger and the attempts, in words for people.
func (d Disclosure) Reason() string {
	switch {
	case d.Status != http.StatusOK:
		return fmt.Sprintf("the origin refused with HTTP %d", d.Status)
	case d.Mode == "prefer":
		return "markdown_new is preferred"
	case d.Have:
		return "the local result is thin"
	}
	return "there is no local result"
}

// IsRefusal reports whether a status means that the origin refused our request, and not that the page is missing or
// requires signing in. A third party may then read the page by another way. Status 511 is of a network that wants its
// user to sign in (RFC 6585, section 6).
func IsRefusal(status int) bool {
	switch status {
	case http.StatusForbidden, http.StatusNotAcceptable, http.StatusTooManyRequests:
		return true
	}
	return status >= 500 && status != http.StatusNetworkAuthenticationRequired
}

// Patterns for lower-case content of a page that must not be disclosed. Both begin with a literal, which keeps the
// search fast.
var (
	passwordMark = lazy.Pattern(`type\s*=\s*["']?password\b`)
	paywallMark  = lazy.Pattern(`"isaccessibleforfree"\s*:\s*"?false`)
)

// privateNames are suffixes of host names that do not exist in public DNS, or that a network gives its own machines.
var privateNames = []string{
	"local", "localhost", "internal", "intranet", "private", "corp", "home", "lan",
	"localdomain", "home.arpa", "onion", "i2p",
}

// PublicName reports whether a URL's host may be public, judged by its text alone. A name without a dot is one of the
// local network.
func PublicName(u *url.URL) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return transport.CheckPublic(ip) == nil
	}
	if !strings.Contains(host, ".") {
		return false
	}
	return !slices.ContainsFunc(privateNames, func(end string) bool { return strings.HasSuffix(host, "."+end) })
}
