package fetch

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/readthru/readthru/fetch/robots"
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

// stated returns an origin's preferences for the use of the attempt's page: those in the response, in the page, and in
// the site's robots.txt if that was read before. Nothing is asked for it.
func (f *Fetcher) stated(a *attempt) page.Preferences {
	if a.at.preferences == PreferencesIgnore {
		return nil
	}
	list := preference.OfHeader(a.resp.Header, f.robotsToken())
	list = append(list, preference.OfMeta(a.best.Meta["robots"])...)
	return append(list, f.robots.Get(a.at.robots).Preferences(a.url)...)
}

// notePreferences sets what the origin states about the attempt's page, and warns of what is denied.
func (f *Fetcher) notePreferences(a *attempt) {
	a.page.Preferences = f.stated(a)
	if _, denied := a.page.Preferences.Denied(page.UseInput); denied {
		a.warn(page.WarnInputDenied)
	}
	if a.at.preferences != PreferencesRespect {
		return
	}
	if _, unlisted := unlisted(PreferencesRespect, a.page.Preferences); unlisted {
		a.warn(page.WarnNotIndexed)
	}
}

// told returns the preferences for front matter: the uses that the origin denies. Whoever has set what is done about
// preferences wants to see them.
func (a *attempt) told() (lines [][2]string) {
	if a.at.preferences == PreferencesTell || a.at.preferences == PreferencesRespect {
		lines = append(lines, [2]string{"denied_use", strings.Join(a.page.Preferences.Denials(), ", ")})
	}
	return lines
}

// unwanted returns the preference because of which the page is neither given to whoever asked for it nor kept.
func (a *attempt) unwanted(stated page.Preferences) (p page.Preference, unwanted bool) {
	return unwantedBy(a.at.preferences, &a.req, stated)
}

// unwantedBy returns the statement because of which a page is neither given to whoever made the request nor kept for
// it, by a policy of [Options.Preferences]. What a client asks through the proxy is its own business.
func unwantedBy(policy string, r *Request, stated page.Preferences) (p page.Preference, unwanted bool) {
	respects := policy == PreferencesRespect || policy == PreferencesAuto && r.Unattended
	if !r.Own || !respects {
		return p, false
	}
	if p, unwanted = stated.Denied(page.UseInput); unwanted || !r.Unattended {
		return p, unwanted
	}
	return unlisted(policy, stated)
}

// unlisted returns the preference because of which searches must not find a page. Rules for robots such as noindex
// speak to public search engines, which a memory of one's own is not: they count only where all preferences are
// respected.
func unlisted(policy string, stated page.Preferences) (p page.Preference, unlisted bool) {
	if p, unlisted = stated.Denied(page.UseSearch); unlisted || policy != PreferencesRespect {
		return p, unlisted
	}
	return stated.Denied(page.UseIndex)
}

// Unwanted returns an [*UnwantedError] if what an origin prefers for u forbids an unattended fetch, such as that of a
// crawl.
func (f *Fetcher) Unwanted(u *url.URL, stated page.Preferences) error {
	f = f.newest.Load()
	rule, _ := f.o.Rules.For(u)
	policy := cmp.Or(rule.Preferences, f.o.Preferences)
	if p, unwanted := unwantedBy(policy, &Request{Own: true, Unattended: true}, stated); unwanted {
		return &UnwantedError{p}
	}
	return nil
}

// An UnwantedError names the statement by which an origin denies a use of its page.
type UnwantedError struct{ Preference page.Preference }

// Error names the use that the origin denies, and its statement.
func (e *UnwantedError) Error() string {
	return "its origin denies " + e.Preference.Use.Words() + ": " + e.Preference.String()
}

// robotsTimeout bounds the request for a robots.txt, which a page or a crawl waits for.
const robotsTimeout = 15 * time.Second

// Verdict reports whether the robots.txt of a site allows us to read a URL (RFC 9309). Preferences that it states are
// no part of that: see [Fetcher.Unwanted].
type Verdict = robots.Verdict

// StatedBy returns the preferences that the robots.txt of a host states about the use of its front page, if it was read
// lately. Nothing is asked for it.
func (f *Fetcher) StatedBy(host string) page.Preferences {
	f = f.newest.Load()
	for _, scheme := range []string{"https", "http"} {
		u := &url.URL{Scheme: scheme, Host: host, Path: "/"}
		if known := f.robots.Get(robots.FileOf(u).String()); known != nil {
			return known.Preferences(u)
		}
	}
	return nil
}
