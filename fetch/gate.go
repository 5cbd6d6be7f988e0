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

	"readthru/page"
	"readthru/store"
)

// disclosure is a wish to tell a third party of a URL, as far as the gate judges it.
type disclosure struct {
	mode        string // off, fallback, prefer
	url         *url.URL
	blocked     []string
	status      int    // the origin's
	have        bool   // there is a rendition
	noRemote    bool   // the caller forbids third parties
	credentials bool   // in the request
	private     bool   // the request or the response said so
	noTransform bool   // the response said so
	wall        string // mark of a bot wall
	content     []byte // what the origin answered
}

func (m *markdownNew) wish(a *attempt) disclosure {
	return disclosure{
		mode: m.mode, url: a.url, blocked: m.f.o.BlockedDomains, status: a.status, have: a.best != nil,
		noRemote:    a.req.NoRemote,
		credentials: a.credentials, private: a.private, noTransform: a.noTransform, wall: a.wall, content: a.content,
	}
}

// refusal is the gate (AD3): it says why the URL must not leave, in a few words; empty when it may. A bot challenge, a
// login and a paywall are no refusal to get round.
func (d disclosure) refusal() string {
	switch {
	case d.mode != "fallback" && d.mode != "prefer":
		return "switched off"
	case d.noRemote:
		return "the caller forbids third parties"
	case d.credentials || d.url.User != nil || page.HasSecret(d.url):
		return "the request carries credentials"
	case d.private:
		return "the page is private"
	case d.noTransform:
		return "the page must not be transformed"
	case page.Blocked(d.url.Hostname(), d.blocked):
		return "the host is blocked"
	case !publicName(d.url):
		return "the host is not public"
	case d.wall != "":
		return "the origin asks for a human"
	case d.status != http.StatusOK && !refusing(d.status):
		return fmt.Sprintf("the origin answered HTTP %d", d.status)
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

// Disclose checks that a third party may be told of u (see Tellable) and writes the disclosure to the ledger. After an
// error nothing may be sent. size is the number of bytes to send; why and rule are for people.
func (f *Fetcher) Disclose(ctx context.Context, service string, u *url.URL, size int64, why, rule string) error {
	if err := f.Blocked(u); err != nil {
		return err
	}
	if err := f.Tellable(ctx, u); err != nil {
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

// Tellable returns an error when a third party must not be told of u (rule AD3): u or its host is not public, looks
// like it carries a credential, or is blocked. It writes nothing to the ledger.
func (f *Fetcher) Tellable(ctx context.Context, u *url.URL) error {
	no := disclosure{mode: "fallback", url: u, blocked: f.o.BlockedDomains, status: http.StatusOK}.refusal()
	if no == "" && f.mdnew.public(ctx, u) != nil {
		no = "the host may not be public"
	}
	if no != "" {
		return errors.New(no)
	}
	return nil
}

// MayLeave reports whether a third party may be told of u, by its text alone: its host is public and not blocked, and
// nothing in it looks like a credential.
func (f *Fetcher) MayLeave(u *url.URL) bool {
	return u.User == nil && !page.HasSecret(u) && publicName(u) && f.Blocked(u) == nil
}

// asksPassword reports whether HTML in lower case has a field for a password, be it in a script.
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

// why says, for the ledger and the attempts, what the third party is asked for.
func (d disclosure) why() string {
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

// refusing reports whether a status says that the origin refused us, and not that there is nothing or that one must
// sign in.
func refusing(status int) bool {
	switch status {
	case http.StatusForbidden, http.StatusNotAcceptable, http.StatusTooManyRequests:
		return true
	}
	return status >= 500 && status != http.StatusNetworkAuthenticationRequired
}

// Marks in lower case. Both begin with a literal, which keeps the search for them fast whatever the content.
var (
	passwordMark = regexp.MustCompile(`type\s*=\s*["']?password\b`)
	paywallMark  = regexp.MustCompile(`"isaccessibleforfree"\s*:\s*"?false`)
)

// privateNames are endings of names that are nobody's in public.
var privateNames = []string{
	"local", "localhost", "internal", "intranet", "private", "corp", "home", "lan",
	"localdomain", "home.arpa", "onion", "i2p",
}

// publicName reports whether a URL's host may be public, from its text alone.
func publicName(u *url.URL) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return guard{}.check(netip.AddrPortFrom(ip, 443)) == nil
	}
	if !strings.Contains(host, ".") {
		return false
	}
	return !slices.ContainsFunc(privateNames, func(end string) bool { return strings.HasSuffix(host, "."+end) })
}
