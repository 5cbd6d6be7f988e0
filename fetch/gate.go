package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

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

func (m *markdownNew) disclosureOf(a *attempt) disclosure {
	return disclosure{
		mode: m.mode, url: a.url, blocked: m.f.o.BlockedDomains, status: a.status, have: a.best != nil,
		noRemote:    a.req.NoRemote,
		credentials: a.credentials, private: a.private, noTransform: a.noTransform, wall: a.wall, content: a.content,
	}
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

// Disclose checks that u may be disclosed to a third party (see CheckDisclosure) and writes the disclosure to the
// ledger. After an error nothing may be sent. size is the number of bytes to send; why and rule are explanations for
// the reader of the ledger.
func (f *Fetcher) Disclose(ctx context.Context, service string, u *url.URL, size int64, why, rule string) error {
	f = f.newest.Load()
	if err := f.Blocked(u); err != nil {
		return err
	}
	if err := f.CheckDisclosure(ctx, u); err != nil {
		return fmt.Errorf("tell %s of %s: %w", service, page.Mask(u), err)
	}
	err := f.o.Store.Disclose(store.Disclosure{
		Time: time.Now().UTC(), Service: service, URL: page.Mask(u), Bytes: size,
		Why: why, Rule: rule,
	})
	if err != nil {
		return fmt.Errorf("tell %s of %s: write the ledger: %w", service, page.Mask(u), err)
	}
	return nil
}

// CheckDisclosure returns an error if u must not be disclosed to a third party (rule AD3): its host is not public or is
// blocked, or u seems to contain a credential. It writes nothing to the ledger.
func (f *Fetcher) CheckDisclosure(ctx context.Context, u *url.URL) error {
	f = f.newest.Load()
	no := disclosure{mode: "fallback", url: u, blocked: f.o.BlockedDomains, status: http.StatusOK}.refusal()
	if no == "" && f.mdnew.public(ctx, u) != nil {
		no = "the host may not be public"
	}
	if no != "" {
		return errors.New(no)
	}
	return nil
}

// MayDisclose reports whether u may be disclosed to a third party, judged by its text alone: its host is public and not
// blocked, and nothing in it looks like a credential or cannot be guessed.
func (f *Fetcher) MayDisclose(u *url.URL) bool {
	f = f.newest.Load()
	return u.User == nil && !page.Unlisted(u) && publicName(u) && f.Blocked(u) == nil
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
