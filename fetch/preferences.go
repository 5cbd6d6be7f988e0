package fetch

import (
	"cmp"
	"net/url"

	"github.com/readthru/readthru/internal/preference"
	"github.com/readthru/readthru/page"
)

// Values of [Options.Preferences].
const (
	PreferencesAuto    = "auto"    // tell readers, and respect them in unattended fetches
	PreferencesRespect = "respect" // own fetches do not give what the origin denies
	PreferencesTell    = "tell"    // say what the origin states, and do as asked
	PreferencesIgnore  = "ignore"  // neither
)

// policy returns what is done about the preferences of u's origin: what a rule says, else the configuration.
func (f *Fetcher) policy(u *url.URL) string {
	rule, _ := f.o.Rules.Match(u.Host, u.Path)
	return cmp.Or(rule.Preferences, f.o.Preferences)
}

// stated returns what an origin states about the use of the attempt's page: in the response, in the page, and in the
// site's robots.txt if that was read before.
func (f *Fetcher) stated(a *attempt) page.Preferences {
	if f.policy(a.url) == PreferencesIgnore {
		return nil
	}
	list := preference.OfHeader(a.resp.Header, f.robotsToken())
	list = append(list, preference.OfMeta(a.best.Meta["robots"])...)
	robots := robotsOf(a.url)
	if site := f.robots.get(robots.String()); site != nil && site.why == "" {
		list = append(list, site.rules.preferences(robotsPath(a.url))...)
	}
	return list
}

// unwanted returns the statement because of which a page is neither given to whoever made the request nor kept for it.
// What a client asks through the proxy is its own business.
func (f *Fetcher) unwanted(r *Request, u *url.URL, stated page.Preferences) (p page.Preference, unwanted bool) {
	policy := f.policy(u)
	respects := policy == PreferencesRespect || policy == PreferencesAuto && r.Unattended
	if !r.Own || !respects {
		return p, false
	}
	if p, unwanted = stated.Denied(page.UseInput); unwanted || !r.Unattended {
		return p, unwanted
	}
	return unlisted(policy, stated)
}

// unlisted returns the statement because of which searches must not find a page. Rules for robots such as noindex speak
// to public search engines, which a memory of one's own is not: they count only where all preferences are respected.
func unlisted(policy string, stated page.Preferences) (p page.Preference, unlisted bool) {
	if p, unlisted = stated.Denied(page.UseSearch); unlisted || policy != PreferencesRespect {
		return p, unlisted
	}
	return stated.Denied(page.UseIndex)
}

// Unwanted returns an [*Error] if what an origin states about u forbids an unattended fetch, such as that of a crawl.
// Its cause is an [*UnwantedError].
func (f *Fetcher) Unwanted(u *url.URL, stated page.Preferences) error {
	f = f.newest.Load()
	if p, unwanted := f.unwanted(&Request{Own: true, Unattended: true}, u, stated); unwanted {
		return unwantedError(u, p)
	}
	return nil
}

// An UnwantedError is the cause of the [*Error] for a page that its origin does not want used so.
type UnwantedError struct{ Preference page.Preference }

func (e *UnwantedError) Error() string {
	return "its origin denies " + e.Preference.Use.Words() + ": " + e.Preference.String()
}

func unwantedError(u *url.URL, p page.Preference) *Error {
	return &Error{Kind: KindBlocked, URL: page.Mask(u), Type: "http_request_denied", Cause: &UnwantedError{p}}
}
