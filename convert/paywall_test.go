package convert_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

const loginForm = `<form action=/login><label>Email <input type=email name=u></label><label>Password <input type="password" name=p></label><button>Sign in</button><a href=/forgot>Forgot your password?</a></form>`

var (
	teaser = strings.Repeat("<p>The harbour wakes before the town does, and the boats that left at dusk come home.</p>", 5)
	story  = strings.Repeat("<p>The harbour wakes before the town does, and the boats that left at dusk come home in single file.</p>", 40)
	locked = `<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree": false}</script>`
)

// walls are pages modelled on real ones, with the warning that each must have, or "" for content.
var walls = []struct{ name, label, html string }{
	{"a sign-in page", convert.WarnLogin, "<title>Sign in · Code Host</title><h1>Sign in to Code Host</h1>" + loginForm},
	{
		"a wiki that asks to log in", convert.WarnLogin,
		"<title>Log In - Team Wiki</title><div id=main>" + loginForm + "<p>New here? Ask your administrator.</p></div>",
	},
	{"a German one", convert.WarnLogin, "<title>Anmelden</title><h1>Anmelden</h1>" + loginForm},
	{
		"single sign-on of a company", convert.WarnLogin,
		"<title>Acme SSO</title><p>Please sign in with your Acme account." + loginForm,
	},
	{
		"a forum for members", convert.WarnLogin,
		"<title>Forum - Notice</title><p>You must be logged in to view this thread. Register or log in below to go on.",
	},
	{"a page that says please", convert.WarnLogin, "<title>Intranet</title><h1>Intranet</h1><p>Please log in first."},
	{"a bare form", convert.WarnLogin, "<title>Router</title><p>Admin" + loginForm},
	{
		"a document that asks", convert.WarnLogin,
		"<title>Untitled document</title><h1>Untitled document</h1><p>Sign in to continue to Documents.",
	},
	{
		"a blog with a login box in its header", "",
		"<title>Blog</title><header>" + loginForm + "</header><h1>Harbours</h1>" + teaser,
	},
	{"a forum thread with a login box", "", "<title>Thread</title><h1>How do I reef?</h1>" + story + loginForm},
	{"an article about signing in", "", "<title>Log in with passkeys</title><h1>Log in with passkeys</h1>" + story},
	{
		"a short guide to the login command", "",
		"<title>registry login</title><h1>registry login</h1>" + teaser + "<pre>registry login -u name</pre>",
	},
	{"a form that waits for a script", "", "<title>Short note</title><p>Closed today." + `<div style="display:none">` +
		loginForm + "</div>"},

	{
		"a teaser and a plea", convert.WarnPaywall,
		"<title>News</title><article><h1>Storm</h1>" + teaser +
			"<div class=wall><h2>Subscribe to continue reading</h2><p>Already a subscriber? Log in.</p></div></article>",
	},
	{
		"a newsletter for paid readers", convert.WarnPaywall,
		"<title>Letter</title><h1>Letter</h1>" + teaser +
			"<h4>This post is for paid subscribers</h4><button>Subscribe</button>",
	},
	{
		"a meter that ran out", convert.WarnPaywall,
		"<title>News</title><h1>Storm</h1>" + teaser +
			"<p>You’ve reached your limit of free articles. You've reached your limit.",
	},
	{"metadata and a stub", convert.WarnPaywall, "<title>News</title>" + locked + "<h1>Storm</h1>" + teaser},
	{
		"a German one of news", convert.WarnPaywall,
		"<title>Nachrichten</title><h1>Sturm</h1>" + teaser + "<p>Jetzt weiterlesen mit Plus.",
	},
	{"a French one", convert.WarnPaywall, "<title>Nouvelles</title><h1>Tempête</h1>" + teaser +
		"<p>Article réservé aux abonnés"},
	{"metadata and the whole story", "", "<title>News</title>" + locked + "<h1>Storm</h1>" + story},
	{
		"a whole story with a plea in its footer", "",
		"<title>News</title><h1>Storm</h1>" + story + "<footer>Already a subscriber? Manage your account</footer>",
	},
	{"an article about paywalls", "", "<title>Why paywalls</title><h1>Why paywalls</h1>" + story +
		"<p>They say: subscribe to continue."},
	{"a newsletter sign-up", "", "<title>Blog</title><h1>Storm</h1>" + teaser + "<p>Subscribe to our newsletter."},
	{
		"free by its metadata", "",
		`<title>News</title><script type="application/ld+json">{"isAccessibleForFree":true}</script><h1>Storm</h1>` + teaser,
	},

	{
		"a server in trouble", convert.WarnError,
		"<title>500 Internal Server Error</title><h1>Internal Server Error</h1><p>The server met an unexpected condition.",
	},
	{
		"a gateway", convert.WarnError,
		"<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>",
	},
	{
		"a database that is down", convert.WarnError,
		"<title>Database Error</title><h1>Error establishing a database connection</h1>",
	},
	{
		"maintenance", convert.WarnError,
		"<title>Site under maintenance</title><h1>We will be back soon</h1><p>Our site is down for a while.",
	},
	{"an application that failed", convert.WarnError, "<title>App</title><p>Something went wrong. Please try again."},
	{
		"an account without money", convert.WarnError,
		"<title>Account Suspended</title><h1>This account has been suspended</h1><p>Contact your hosting provider.",
	},
	{"too many requests", convert.WarnError, "<title>Too Many Requests</title><p>Slow down."},
	{"documentation of an error", "", "<title>502 Bad Gateway - Web docs</title><h1>502 Bad Gateway</h1>" + story},
	{"a post about a broken night", "", "<title>Something went wrong</title><h1>Something went wrong on our boat</h1>" +
		story},
	{"a status page", "", "<title>Status</title><h1>All systems operational</h1>" + teaser},
	{"an advice about maintenance", "", "<title>Engine care</title><h1>Scheduled service of engines</h1>" + teaser},

	{
		"not found with success", convert.WarnSoft404,
		"<title>Page not found | Shop</title><h1>Oops!</h1><p>We could not find what you were looking for. Try our search or go home.",
	},
	{"404 in the heading", convert.WarnSoft404, "<title>Shop</title><h1>404</h1><p>This page is gone."},
	{
		"a product no longer there", convert.WarnSoft404,
		"<title>Anchor</title><h1>This item is no longer available</h1><p>See similar ones.",
	},
	{"a German one not found", convert.WarnSoft404, "<title>Seite nicht gefunden</title><p>Leider."},
	{"a guide to 404", "", "<title>How to fix a 404</title><h1>How to fix a 404</h1>" + story},
	{"a model number", "", "<title>Pump 4040</title><h1>Pump 4040</h1>" + teaser},
	{"a question in a forum", "", "<title>Module not found</title><h1>Module not found</h1><article>" + story +
		"</article>"},
	{"code about it", "", "<title>Not found errors</title><h1>Not found errors</h1><p>Return this." +
		"<pre>return 404</pre>"},

	{
		"a shell of React", convert.WarnShell,
		`<title>App</title><div id="root"></div><script src=/static/js/main.js></script><noscript>You need to enable JavaScript to run this app.</noscript>`,
	},
	{
		"a shell of Vue with a spinner", convert.WarnShell,
		`<title>App</title><div id=app><div class=spinner>Loading…</div></div><script type=module src=/assets/index.js></script>`,
	},
	{
		"a shell under a menu", convert.WarnShell,
		`<title>App</title><nav>` + strings.Repeat("<a href=/x>Menu item</a> ", 30) +
			`</nav><div id="__next"></div><script src=/_next/static/x.js></script>`,
	},
	{"a page with little and no script", convert.WarnThin, `<title>Note</title><p>Closed today.`},
	{"a story with scripts", "", `<title>S</title><div id=app><h1>Storm</h1>` + story +
		`</div><script src=x.js></script><noscript>Please enable JavaScript</noscript>`},
	{"a story rendered on the server", "", `<title>S</title><div id=__next><h1>Storm</h1>` + story + `</div><script>` +
		strings.Repeat("x;", 40000) + `</script>`},
}

var wallWarnings = []string{
	convert.WarnLogin, convert.WarnPaywall, convert.WarnError, convert.WarnSoft404,
	convert.WarnShell,
}

func TestWallsAreDistinguishedFromContent(t *testing.T) {
	for _, tt := range walls {
		t.Run(tt.name, func(t *testing.T) {
			warnings := convertPage(t, tt.html, convert.Options{}).Warnings
			if tt.label != "" && !slices.Contains(warnings, tt.label) {
				t.Errorf("warnings %q lack %s", warnings, tt.label)
			}
			for _, w := range wallWarnings {
				if w != tt.label && slices.Contains(warnings, w) {
					t.Errorf("warnings %q have %s, want %q", warnings, w, tt.label)
				}
			}
		})
	}
}

// TestDetectorsRarelyFireOnContent checks that each detector takes fewer than 2 in 100 pages of a corpus for a wall or
// an error. All pages of the corpus are content.
func TestDetectorsRarelyFireOnContent(t *testing.T) {
	pages := readCorpus(t)
	alarms := map[string]int{}
	for _, p := range pages {
		u, _ := url.Parse(p.URL)
		doc, err := convert.Parse(context.Background(), p.content, "text/html", u)
		if err != nil {
			t.Fatal(err)
		}
		s := doc.Signs()
		for name, said := range map[string]string{
			"wall": s.Wall, "login": s.Login, "paywall": s.Paywall,
			"error page": s.ErrorPage, "soft 404": s.SoftError, "shell": map[bool]string{true: "shell"}[s.JSShell],
		} {
			if said != "" {
				alarms[name]++
				t.Logf("%s: %q, %d words: %s/%s %s", name, said, s.Words, p.Set, p.ID, p.URL)
			}
		}
	}
	for name, n := range alarms {
		if t.Logf("%s: %d alarms in %d pages", name, n, len(pages)); n*50 >= len(pages) {
			t.Errorf("%s: %d alarms in %d pages", name, n, len(pages))
		}
	}
}
