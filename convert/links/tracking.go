package links

import (
	"net/url"
	"strings"

	"github.com/readthru/readthru/page"
)

// redirectors are addresses that count visitors and redirect to the target in their parameter. Host and path must be
// equal. Subdomains of the host count; an empty path stands for any, and an empty parameter for the whole query.
var redirectors = []struct{ host, path, parameter string }{
	{"google.com", "/url", "q"},
	{"google.com", "/url", "url"},
	{"l.facebook.com", "/l.php", "u"},
	{"lm.facebook.com", "/l.php", "u"},
	{"l.instagram.com", "/", "u"},
	{"youtube.com", "/redirect", "q"},
	{"out.reddit.com", "", "url"},
	{"t.umblr.com", "/redirect", "z"},
	{"href.li", "/", ""},
	{"steamcommunity.com", "/linkfilter/", "url"},
	{"steamcommunity.com", "/linkfilter/", "u"},
	{"vk.com", "/away.php", "to"},
	{"linkedin.com", "/redir/redirect", "url"},
	{"slack-redir.net", "/link", "url"},
	{"duckduckgo.com", "/l/", "uddg"},
	{"safelinks.protection.outlook.com", "/", "url"},
	{"adclick.g.doubleclick.net", "", "adurl"},
	{"googleadservices.com", "/pagead/aclk", "adurl"},
	{"redirect.viglink.com", "/", "u"},
	{"go.skimresources.com", "/", "url"},
	{"click.linksynergy.com", "", "murl"},
	{"curseforge.com", "/linkout", "remoteurl"},
}

// adHosts serve advertisements. A link to one of them without a visible target is not a link of the page. Their
// subdomains count, too.
var adHosts = []string{
	"doubleclick.net", "googleadservices.com", "googlesyndication.com", "adnxs.com", "taboola.com",
	"outbrain.com", "criteo.com",
}

// Untracked returns an absolute link without tracking: the target of a redirector if the link holds it, the link
// without tracking parameters and the reader's session, and "" for a link into an advertisement. A link with a
// signature or another secret stays unchanged, because each of its bytes may count. link is absolute, as [Absolute]
// returns it.
func Untracked(link string) string {
	if !strings.HasPrefix(link, "http") || !strings.ContainsAny(link, "?;") && !strings.Contains(link, "ad") &&
		!strings.Contains(link, "click") && !strings.Contains(link, "taboola") && !strings.Contains(link, "outbrain") &&
		!strings.Contains(link, "criteo") {
		return link
	}
	for range 3 { // a redirector may lead to another
		u, err := url.Parse(link)
		if err != nil {
			return link
		}
		target := ledTo(u)
		if target == "" {
			if plain, ok := page.WithoutSession(link); ok {
				if v, err := url.Parse(plain); err == nil && !page.HasSecret(v) {
					link, u = plain, v
				}
			}
			if page.OnHost(strings.ToLower(u.Hostname()), adHosts...) {
				return ""
			}
			return withoutTracking(u, link)
		}
		link = target
	}
	return link
}

// ledTo returns the target of a redirector that tracks readers, or "" if u is not one. A target with a user name is
// none: it would hide where the link leads.
func ledTo(u *url.URL) string {
	for _, r := range redirectors {
		if !page.OnHost(strings.ToLower(u.Hostname()), r.host) || r.path != "" && u.Path != r.path {
			continue
		}
		target := u.RawQuery
		if r.parameter != "" {
			target = u.Query().Get(r.parameter)
		}
		if t, err := url.Parse(target); err == nil && (t.Scheme == "http" || t.Scheme == "https") && t.Host != "" &&
			t.User == nil {
			return Escape(target)
		}
	}
	return ""
}

// withoutTracking returns link, whose parsed form is u, without its tracking parameters. Other bytes stay unchanged.
// Which parameters track, package page knows.
func withoutTracking(u *url.URL, link string) string {
	if u.RawQuery == "" || page.HasSecret(u) {
		return link
	}
	head, rest, _ := strings.Cut(link, "?")
	query, fragment, hasFragment := strings.Cut(rest, "#")
	var kept []string
	for parameter := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if !page.Tracks(strings.TrimPrefix(name, "amp;")) {
			kept = append(kept, parameter)
		}
	}
	if clean := strings.Join(kept, "&"); clean == query {
		return link
	} else if clean != "" {
		head += "?" + clean
	}
	if hasFragment {
		head += "#" + fragment
	}
	return head
}
