package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/fetch/twins"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// alternateLifetime is how long a markdown twin replaces its page before it is fetched again.
const alternateLifetime = time.Hour

// alternate fetches a markdown twin of an HTML page: one that the page names in a Link field or in its head, or the
// page's address with .md on hosts where that has worked before, or whose list for models has such. It fetches under
// the policy for own fetches and without the client's fields, because the page and not the client chose the address.
type alternate struct{ f *Fetcher }

// Name implements [Step].
func (alternate) Name() string { return "alternate" }

// Try asks for the markdown twins that the page names, or that are usual on its host, one after the other, and returns
// the first that is fit. A twin at a usual address is remembered of the host; one that failed is not asked for again
// for a while.
func (s alternate) Try(ctx context.Context, a *attempt) result {
	if why := s.excluded(a); why != "" {
		return skipped(why)
	}
	doc, err := s.f.document(ctx, a)
	if err != nil {
		return skipped("the page cannot be parsed: " + err.Error())
	}
	if a.routed() {
		return skipped("a twin would be that of the page without its route")
	}
	signs := doc.Signs()
	host, _ := s.f.o.Store.Host(a.url.Hostname())
	guess := host.Knows(store.Twins, a.started)
	if !guess && signs.MarkdownTwin == "" && s.f.listsTwins(a.url) {
		guess = true
		s.f.learn(a, store.Twins)
	}
	candidates := twins.Find(a.url, a.resp.Header, signs.MarkdownTwin, guess)
	if len(candidates) == 0 {
		return skipped("the page names no markdown twin")
	}
	// The twin is waited for, and the page's tree takes memory that others may need.
	a.rest()
	res := skipped("its twin failed recently")
	for _, u := range candidates {
		if s.f.failedRecently("twin "+u.String(), a.started) {
			continue
		}
		r, err := s.fetch(ctx, a, u, signs)
		if err == nil {
			usual := func(t *url.URL) bool { return u.Host == t.Host && u.Path == t.Path }
			if slices.ContainsFunc(twins.Guesses(a.url), usual) {
				s.f.learn(a, store.Twins)
			}
			return result{rendition: r, good: true, reason: page.Mask(u)}
		}
		s.f.noteFailedStep(ctx, "twin "+u.String())
		res = result{outcome: page.Failed, reason: err.Error()}
		if _, ok := errors.AsType[unfit](err); ok {
			res.outcome = page.Rejected
		}
	}
	return res
}

// excluded returns why the step alternate is not tried for a page, or "".
func (alternate) excluded(a *attempt) string {
	switch {
	case a.kind != media.HTML:
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

// unfit is the reason why a fetched twin or an answer of a third party is rejected: the text is not the page's.
type unfit string

// Error says why a markdown alternate was refused.
func (u unfit) Error() string { return string(u) }

// fetch fetches the markdown twin at u of an attempt's page and returns it as a rendition. The error is unfit if what
// came is no twin of the page. signs are those of the page, against which the twin is compared.
func (s alternate) fetch(ctx context.Context, a *attempt, u *url.URL, signs convert.Signs) (*store.Rendition, error) {
	if err := s.f.Blocked(u); err != nil {
		return nil, err
	}
	ask := Request{Own: true, Method: http.MethodGet}
	resp, err := s.f.o.Client.RoundTrip(s.f.request(transport.OwnPolicy(ctx), ask, u, acceptMarkdown))
	if err != nil {
		return nil, Explain(u, err)
	}
	body := resp.Body
	defer body.Close()
	twin := response{resp: resp}
	kind := media.Classify(true, resp.StatusCode, resp.Header)
	if resp.StatusCode != http.StatusOK {
		return nil, unfit(fmt.Sprintf("the twin answered HTTP %d", resp.StatusCode))
	}
	// Servers that know no type for files of markdown send them as HTML, or as octets.
	mislabelled := kind != media.Markdown && kind != media.Text
	if mislabelled && (!media.MarkdownPath(u.Path) || kind == media.Opaque) {
		return nil, unfit("the twin is " + media.Type(resp.Header))
	}
	// A twin is kept under its page, which everybody gets.
	if httpfield.Directive(resp.Header, "no-store") || httpfield.Directive(resp.Header, "private") {
		return nil, unfit("the twin must not be stored")
	}
	if err := twin.read(s.f.o.MaxBody); err != nil {
		return nil, Explain(u, err)
	}
	if mislabelled && !convert.IsMislabelledMarkdown(twin.content, true) {
		return nil, unfit("the twin is " + media.Type(resp.Header))
	}
	c := convert.CleanMarkdown(twin.content, resp.Header.Get("Content-Type"), u)
	if why := twins.Unfit(c.Text, kind == media.Markdown || media.MarkdownPath(u.Path), a.content,
		signs.Words); why != "" {
		return nil, unfit(why)
	}
	if wall := convert.Wall(resp.StatusCode, resp.Header, twin.content); wall != "" {
		return nil, unfit("the twin is a bot wall")
	}
	folder := &url.URL{Path: "."}
	if *a.url.ResolveReference(folder) != *u.ResolveReference(folder) {
		// Its reader resolves links against the page's address, where the twin does not lie.
		text := convert.AbsoluteLinks(c.Text, u)
		c.Text, c.Changed = text, c.Changed || !bytes.Equal(text, c.Text)
	}
	a.noteRemoved(c)
	r := foreign(c, resp.Header.Get("X-Markdown-Tokens"), page.Alternate)
	r.FinalURL, r.CanonicalURL = u.String(), cmp.Or(signs.Canonical, a.url.String())
	r.HTMLTokens, r.Expires = convert.HTMLTokens(a.content), time.Now().Add(alternateLifetime)
	return r, nil
}

// listsTwins reports whether the llms.txt of a page's host, if somebody has read it, names pages by their markdown, so
// that a markdown alternate is worth a try. Nothing is asked for that.
func (f *Fetcher) listsTwins(u *url.URL) bool {
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/llms.txt"}
	known, err := f.Original(cacheKey(at))
	return err == nil && len(known.Content) <= twins.LongestList && page.KindOf(known.Type) != page.HTML &&
		twins.Listed(at, known.Content)
}
