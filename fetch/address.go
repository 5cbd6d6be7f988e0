package fetch

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/robots"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/recipe"
	"github.com/readthru/readthru/page"
)

// address is what is known of a URL before anybody is asked for it: what its text tells, and what the options, the
// rules and the site recipes say of its pages. Nothing else decides it. It is found once for each URL that an attempt
// comes to; later steps read it, and nobody changes it.
type address struct {
	malformed error // why it is no page's URL; nil if it may be one
	blocked   error // why its pages are not to be fetched; nil if they may be

	page      page.Page // what the URL alone tells of its page
	key, root page.Key  // of the page; of the page without its route
	uri       string    // under which the cache keeps its responses
	plain     string    // the URL without its fragment
	route     string    // that the fragment names; empty for none
	robots    string    // URL of its site's robots.txt
	secret    bool      // the URL has one

	rule        string        // patterns of the rule for it; empty if there is none
	hidden      bool          // that rule keeps requests out of lists
	cascade     []string      // steps for its pages
	render      string        // as Options.Render
	lifetime    time.Duration // of what is made of its pages, where a rule says so; otherwise 0
	preferences string        // as Options.Preferences

	recipes recipe.Candidates // site recipes for its pages
	edition string            // of those
	wait    string            // selector that a browser waits for, by a recipe
	pages   int               // how many pages a recipe joins to one, at most
}

// maxRemembered is the longest URL whose address is kept in memory, in bytes. One with a password never is.
const maxRemembered = 512

// addressOf returns what is known of a URL before anybody is asked for its page. It is kept in memory by its spelling,
// as the same URLs are asked for again and again; a Fetcher with other options begins anew.
func (f *Fetcher) addressOf(u *url.URL) *address {
	spelling := u.String()
	if at, ok := f.addresses.Get(spelling); ok {
		return at
	}
	at := f.resolve(u, spelling)
	if len(spelling) <= maxRemembered && u.User == nil {
		f.addresses.Add(spelling, at)
	}
	return at
}

// resolve decides what addressOf returns: it asks the rules, the recipes and package page once.
func (f *Fetcher) resolve(u *url.URL, spelling string) *address {
	rule, ruled := f.o.Rules.For(u)
	recipes := f.o.Recipes.For(u)
	render, wait := recipes.Rendering()
	at := &address{
		blocked: f.blockedBy(u, rule),
		page:    *page.New(u), uri: cacheKey(u), plain: withoutFragment(u), route: page.Route(u),
		robots: robots.FileOf(u).String(), secret: page.HasSecret(u),
		hidden: rule.Hides(), cascade: f.o.Cascade, render: cmp.Or(rule.Render, render, f.o.Render),
		lifetime: rule.TTL, preferences: cmp.Or(rule.Preferences, f.o.Preferences),
		recipes: recipes, edition: recipes.Edition(), wait: wait, pages: recipes.Pages(),
	}
	_, at.malformed = page.Parse(spelling)
	at.key = page.KeyOf(at.page.NormalizedURL)
	if at.root = at.key; at.route != "" {
		at.root = page.KeyOf(page.WithoutRoute(at.page.NormalizedURL))
	}
	if ruled {
		at.rule = rule.Host + rule.Path
	}
	if rule.Cascade != nil {
		at.cascade = gate.Order(rule.Cascade, f.o.MarkdownNew.Mode)
	}
	return at
}

// refusal returns an [*Error] if no page is to be fetched from u, whose address this is: it is malformed, or blocked.
func (at *address) refusal(u *url.URL) error {
	if at.malformed != nil {
		return &Error{Kind: KindUnsupported, URL: page.Mask(u), Type: "http_request_error", Cause: at.malformed}
	}
	return refused(u, at.blocked)
}

// Blocked returns an [*Error] when an address is blocked: pages of u are not to be fetched (rule A11).
func (f *Fetcher) Blocked(u *url.URL) error {
	f = f.newest.Load()
	rule, _ := f.o.Rules.For(u)
	return refused(u, f.blockedBy(u, rule))
}

// blockedBy returns why pages of u, an address for which rule is, are not to be fetched, by the list of blocked domains
// or by the rule; nil if they may be.
func (f *Fetcher) blockedBy(u *url.URL, rule hostrule.Rule) error {
	switch {
	case page.Blocked(u.Hostname(), f.o.BlockedDomains):
		return fmt.Errorf("%s is on the list of blocked domains", u.Hostname())
	case rule.Action == "block":
		return errors.New("a rule blocks it")
	}
	return nil
}

// refused returns the error of a fetch of an address that is refused for a cause; nil if there is none.
func refused(u *url.URL, cause error) error {
	if cause == nil {
		return nil
	}
	return &Error{Kind: KindBlocked, URL: page.Mask(u), Type: "http_request_denied", Cause: cause}
}

// cacheKey returns, of an address, the URI under which the cache keeps responses of u: exact, without fragment and
// default port. It must be as the cache makes it of a request.
func cacheKey(u *url.URL) string {
	k := *u
	k.Scheme, k.Host = strings.ToLower(u.Scheme), page.Authority(u)
	k.User, k.Fragment, k.RawFragment = nil, "", ""
	k.Path = cmp.Or(k.Path, "/")
	return k.String()
}

// withoutFragment returns the URL of an address without its fragment, as text.
func withoutFragment(u *url.URL) string { return page.WithoutFragment(u).String() }
