package fetch

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/fetch/robots"
	"github.com/readthru/readthru/internal/preference"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// Values of [Options.Preferences].
const (
	PreferencesAuto    = "auto"    // tell readers, and respect them in unattended fetches
	PreferencesRespect = "respect" // own fetches do not give what the origin denies
	PreferencesTell    = "tell"    // say what the origin states, and do as asked
	PreferencesIgnore  = "ignore"  // neither
)

// stated returns what an origin states about the use of the attempt's page: in the response, in the page, and in the
// site's robots.txt if that was read before. Nothing is asked for it.
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

// told returns what front matter says of the uses that the origin denies. Whoever has set what is done about
// preferences wants to see them.
func (a *attempt) told() (lines [][2]string) {
	if a.at.preferences == PreferencesTell || a.at.preferences == PreferencesRespect {
		lines = append(lines, [2]string{"denied_use", strings.Join(a.page.Preferences.Denials(), ", ")})
	}
	return lines
}

// unwanted returns the statement because of which the page is neither given to whoever asked for it nor kept.
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

// unlisted returns the statement because of which searches must not find a page. Rules for robots such as noindex speak
// to public search engines, which a memory of one's own is not: they count only where all preferences are respected.
func unlisted(policy string, stated page.Preferences) (p page.Preference, unlisted bool) {
	if p, unlisted = stated.Denied(page.UseSearch); unlisted || policy != PreferencesRespect {
		return p, unlisted
	}
	return stated.Denied(page.UseIndex)
}

// Unwanted returns an [*UnwantedError] if what an origin states about u forbids an unattended fetch, such as that of a
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

func (e *UnwantedError) Error() string {
	return "its origin denies " + e.Preference.Use.Words() + ": " + e.Preference.String()
}

// robotsTimeout bounds the request for a robots.txt, which a page or a crawl waits for.
const robotsTimeout = 15 * time.Second

// Verdict reports whether the robots.txt of a site allows us to read a URL (RFC 9309). Preferences that it states are
// no part of that: see [Fetcher.Unwanted].
type Verdict = robots.Verdict

// StatedBy returns what the robots.txt of a host states about the use of its front page, if it was read lately. Nothing
// is asked for it.
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

// Allowed reports whether the robots.txt of u's site allows the product token of fetch.user_agent to read u. It fetches
// the file through the cache, under the policy for own fetches, at most once in 24 hours. A site without robots.txt
// (4xx) allows everything. A site that fails to serve it (5xx, no connection) allows what it allowed before, or nothing
// if that is unknown. Callers that treat status 401 or 403 as a ban, as the reference fetch server does, check Status.
// Allowed returns the error of ctx, or an error if u is not an http or https URL.
func (f *Fetcher) Allowed(ctx context.Context, u *url.URL) (Verdict, error) {
	f = f.newest.Load()
	if _, err := page.Parse(u.String()); err != nil {
		return Verdict{}, err
	}
	file := robots.FileOf(u)
	known := f.robots.Get(file.String())
	if !known.Holds(time.Now()) {
		fresh, err := f.freshRobots(ctx, file, known)
		if err != nil {
			return Verdict{}, err
		}
		known = fresh
	}
	return known.Verdict(file, u, f.robotsToken()), nil
}

// robotsToken returns our product token for robots.txt, that at the beginning of fetch.user_agent.
func (f *Fetcher) robotsToken() string {
	return cmp.Or(robots.ProductToken(f.o.UserAgent), "readthru")
}

// freshRobots fetches a site's robots.txt, once for all concurrent callers. It returns the error of ctx.
func (f *Fetcher) freshRobots(ctx context.Context, file *url.URL, known *robots.Site) (*robots.Site, error) {
	//nolint:contextcheck // must not end with the request that began it
	done := f.flights.DoChan("robots "+file.String(), func() (any, error) {
		var got *robots.Site
		err := f.detached(f.o.Timeout, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(transport.OwnPolicy(ctx), robotsTimeout)
			defer cancel()
			now := time.Now()
			status, text, long, err := f.readRobots(ctx, file)
			if err != nil {
				err = Explain(file, err)
			}
			got = robots.Judge(file, status, text, long, err, f.robotsToken(), known, now)
			f.robots.Put(file.String(), got)
		})
		return got, err
	})
	select {
	case res := <-done:
		if res.Err != nil {
			return nil, res.Err
		}
		return res.Val.(*robots.Site), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readRobots returns the status of a site's robots.txt, after redirects, and its text up to the limit; long says that
// there is more. A file that breaks off is an error: half of it may allow too much.
func (f *Fetcher) readRobots(ctx context.Context, file *url.URL) (status int, text []byte, long bool, err error) {
	resp, _, err := f.getFile(ctx, file, "text/plain, */*;q=0.5", http.Header{"Cache-Control": {"max-age=86400"}})
	if err != nil {
		return 0, nil, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return resp.StatusCode, nil, false, nil
	}
	if text, long, err = robots.ReadText(resp.Body); err != nil {
		return 0, nil, false, fmt.Errorf("%w: %w", media.ErrIncomplete, err)
	}
	return resp.StatusCode, text, long, nil
}
