package proxy

import (
	"cmp"
	_ "embed" // of the page
	"net/http"
	"slices"
	"strings"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/proxy/strict"
)

// prefixTarget returns the URL in the target of a request in prefix form, or "". Some clients fold the two slashes into
// one.
func prefixTarget(uri string) string {
	rest := strings.TrimPrefix(uri, "/")
	for _, scheme := range []string{"https:/", "http:/"} {
		if len(rest) > len(scheme) && strings.EqualFold(rest[:len(scheme)], scheme) {
			return scheme + "/" + strings.TrimLeft(rest[len(scheme):], "/")
		}
	}
	return ""
}

// signInAtListener returns the user of a request in prefix form. A client without proxy settings signs in as at an
// origin server: with Authorization.
func (x *exchange) signInAtListener() (users.Login, *strict.Refusal) {
	if x.p.o.Users.Open() {
		return users.Login{}, nil
	}
	user, bad := x.signIn(cmp.Or(x.r.Header.Get("Authorization"), x.r.Header.Get("Proxy-Authorization")))
	if bad != nil && bad.Status == http.StatusProxyAuthRequired {
		bad.Status, bad.Title = http.StatusUnauthorized, "Authentication required"
		bad.Header = http.Header{"Www-Authenticate": {`Basic realm="readthru", charset="UTF-8"`}}
	}
	return user, bad
}

// servePrefix answers with the page that the prefix form names. The proxy fetches it for itself, without the client's
// fields.
func (x *exchange) servePrefix() {
	if bad := x.blockedPage(); bad != nil {
		x.refuse(bad)
		return
	}
	if x.p.o.Fetch == nil {
		x.refuse(&strict.Refusal{
			Status: http.StatusServiceUnavailable, Title: "Unavailable",
			Detail: "The prefix form is not available: this proxy does not fetch pages.",
		})
		return
	}
	if bad := overLimit(x.meter.AskPage(x.began)); bad != nil {
		x.refuse(bad)
		return
	}
	// An answer that is not a page keeps the origin server's content. It must not run as a script of our web origin.
	h := x.w.Header()
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	ask := http.Header{}
	if lines := x.r.Header["Cache-Control"]; len(lines) > 0 {
		ask["Cache-Control"] = slices.Clone(lines)
	}
	if x.s.terms.Offline {
		storedOnly(ask)
	}
	ctx, cancel := x.reader.Within(x.r.Context())
	defer cancel()
	answer, err := x.p.o.Fetch.Page(ctx, fetch.Request{
		HTML: x.asked.Mode == "html" || x.asked.Mode == "raw", WaitFor: x.reader.WaitFor,
		Header: ask, CacheOnly: x.s.terms.Offline,
		URL: x.prefix, Method: x.r.Method, Own: true, Text: x.asked.Mode == "text", MaxTokens: x.asked.MaxTokens,
		View:   x.asked.View,
		Render: x.asked.Render, Session: x.session, User: x.rec.User,
		Force:   httpfield.Has(x.r.Header, "Cache-Control", "no-cache"),
		NoStore: httpfield.Has(x.r.Header, "Cache-Control", "no-store"),
		Agent:   x.r.UserAgent(),
	})
	if err == nil {
		err = x.reader.Wrap(answer)
	}
	if err != nil {
		x.fail(x.prefix, err)
		return
	}
	fields := answer.Header
	if answer.Response != nil {
		fields = answer.Response.Header
	}
	// Fields that would act on the web origin of this listener, in whose name the answer comes.
	for _, name := range []string{
		"Set-Cookie", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Service-Worker-Allowed",
		"Clear-Site-Data",
		"Strict-Transport-Security", "Content-Security-Policy", "X-Content-Type-Options", "Cross-Origin-Resource-Policy",
		"Location", "Refresh",
	} {
		fields.Del(name)
	}
	x.send(answer)
}
