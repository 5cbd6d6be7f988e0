package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"readthru/convert"
	"readthru/httpfield"
	"readthru/page"
	"readthru/store"
)

// alternateLifetime is how long a twin stands in for the page that named it, before it is asked for again.
const alternateLifetime = time.Hour

// maxTwins is how many addresses are asked for the twin of a page.
const maxTwins = 2

// alternate asks for a markdown twin of an HTML page: one that the page names in a Link field or in its head, or, on
// hosts where one has worked before, the page's address with .md. A twin is asked for under the policy for own fetches,
// without the client's fields: a page decides that it is asked for, not the client.
type alternate struct{ f *Fetcher }

func (alternate) Name() string { return "alternate" }

func (s alternate) Try(ctx context.Context, a *attempt) result {
	if why := s.excluded(a); why != "" {
		return skipped(why)
	}
	doc, err := s.f.document(ctx, a)
	if err != nil {
		return skipped("the page cannot be parsed: " + err.Error())
	}
	signs := doc.Signs()
	host, _ := s.f.o.Store.Host(a.url.Hostname())
	candidates := twins(a.url, a.resp.Header, signs.MarkdownTwin, host.Twins)
	if len(candidates) == 0 {
		return skipped("the page names no markdown twin")
	}
	res := skipped("its twin failed a short while ago")
	for _, u := range candidates {
		if s.f.inVain("twin "+u.String(), a.started) {
			continue
		}
		r, err := s.fetch(ctx, a, u, signs)
		if err == nil {
			if t := guessed(a.url); u.Host == a.url.Host && t != nil && u.Path == t.Path && a.memorable {
				s.f.learn(a.url.Hostname(), func(h *store.Host) bool { return h.Twins }, func(h *store.Host) { h.Twins = true })
			}
			return result{rendition: r, good: true, reason: page.Mask(u)}
		}
		s.f.giveUp(ctx, "twin "+u.String())
		res = result{outcome: page.Failed, reason: err.Error()}
		if _, ok := errors.AsType[unfit](err); ok {
			res.outcome = page.Rejected
		}
	}
	return res
}

func (alternate) excluded(a *attempt) string {
	switch {
	case a.kind != htmlKind:
		return "the origin answered markdown"
	case a.status != http.StatusOK:
		return "the page is an error page"
	case a.wall != "":
		return "the page is a bot wall"
	case a.noTransform:
		return "the page must not be transformed"
	case a.credentials:
		return "the request carries credentials"
	}
	return ""
}

// unfit says why what a twin's address gave is not taken.
type unfit string

func (u unfit) Error() string { return string(u) }

func (s alternate) fetch(ctx context.Context, a *attempt, u *url.URL, signs convert.Signs) (*store.Rendition, error) {
	if err := s.f.Blocked(u); err != nil {
		return nil, err
	}
	ask := Request{Own: true, Method: http.MethodGet}
	resp, err := s.f.o.Client.RoundTrip(s.f.request(OwnPolicy(ctx), ask, u, acceptMarkdown))
	if err != nil {
		return nil, Explain(u, err)
	}
	body := resp.Body
	defer body.Close()
	twin := response{resp: resp}
	kind := classify(true, resp.StatusCode, resp.Header)
	if resp.StatusCode != http.StatusOK {
		return nil, unfit(fmt.Sprintf("the twin answered HTTP %d", resp.StatusCode))
	}
	if kind != markdownKind && kind != textKind {
		return nil, unfit("the twin is " + mediaType(resp.Header))
	}
	if httpfield.Directive(resp.Header, "no-store") || httpfield.Directive(resp.Header, "private") {
		return nil, unfit("the twin must not be stored")
	}
	if err := twin.read(s.f.o.MaxBody); err != nil {
		return nil, Explain(u, err)
	}
	if why := unfitTwin(twin.content, kind == markdownKind || markdownPath(u.Path), a.content, signs.Words); why != "" {
		return nil, unfit(why)
	}
	if wall := convert.Wall(resp.StatusCode, resp.Header, twin.content); wall != "" {
		return nil, unfit("the twin is a bot wall")
	}
	r := foreign(twin.content, resp.Header.Get("X-Markdown-Tokens"), page.Alternate)
	r.FinalURL, r.CanonicalURL, r.HTMLTokens, r.Expires = u.String(), signs.Canonical, convert.HTMLTokens(a.content),
		time.Now().Add(alternateLifetime)
	if signs.Canonical == "" {
		r.CanonicalURL = a.url.String()
	}
	return r, nil
}

// unfitTwin says why a twin is not taken for a page of which the HTML is in hand; empty when it is.
func unfitTwin(markdown []byte, labelled bool, html []byte, words int) string {
	switch {
	case len(bytes.TrimSpace(markdown)) == 0:
		return "the twin is empty"
	case disguised(markdown):
		return "the twin is HTML"
	case !labelled && !convert.LooksLikeMarkdown(markdown[:min(len(markdown), 16<<10)]):
		return "the twin does not look like markdown"
	}
	doubt := convert.DoubtMarkdown(markdown)
	if doubt == convert.NoDoubt {
		doubt = convert.DoubtAgainst(markdown, html, words)
	}
	if doubt != convert.NoDoubt {
		return "the twin is not taken: " + string(doubt)
	}
	return ""
}

// twins returns the addresses at which a page may have a markdown twin, the likeliest first: what the Link field names
// (RFC 8288), what the head names, and the guess; maxTwins at most. Never the page itself, never http for an https
// page, nothing with a secret.
func twins(u *url.URL, h http.Header, named string, guess bool) []*url.URL {
	var list []*url.URL
	self := *u
	self.Fragment, self.RawFragment = "", ""
	add := func(t *url.URL) {
		if len(list) == maxTwins || t == nil || t.Scheme != "https" && (t.Scheme != "http" || u.Scheme == "https") ||
			t.Hostname() == "" || page.HasSecret(t) {
			return
		}
		clean := *t
		clean.Fragment, clean.RawFragment = "", ""
		same := func(have *url.URL) bool { return have.String() == clean.String() }
		if !same(&self) && !slices.ContainsFunc(list, same) {
			list = append(list, &clean)
		}
	}
	for _, l := range parseLinks(h.Values("Link")) {
		if l.has("alternate") && strings.EqualFold(l.mediaType, "text/markdown") {
			if t, err := u.Parse(l.target); err == nil {
				add(t)
			}
		}
	}
	if named != "" {
		if t, err := u.Parse(named); err == nil {
			add(t)
		}
	}
	if guess {
		add(guessed(u))
	}
	return list
}

// guessed returns where sites with twins keep that of u: page.md, or index.md in a directory; nil for a page with a
// query.
func guessed(u *url.URL) *url.URL {
	if u.RawQuery != "" {
		return nil
	}
	t := *u
	t.Fragment, t.RawFragment, t.RawPath = "", "", ""
	switch ext := path.Ext(u.Path); {
	case u.Path == "" || strings.HasSuffix(u.Path, "/"):
		t.Path = u.Path + "index.md"
		if u.Path == "" {
			t.Path = "/index.md"
		}
	case ext == ".html" || ext == ".htm":
		t.Path = strings.TrimSuffix(u.Path, ext) + ".md"
	default:
		t.Path = u.Path + ".md"
	}
	return &t
}
