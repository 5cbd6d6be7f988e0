package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/store"

	"github.com/readthru/readthru/cache"
)

// When a page is rendered: the values of render.mode, of a rule's render and of [Request.Render].
const (
	// RenderAuto renders a page if the local result is a JavaScript shell, or thin while something in the page runs,
	// or if rendering helped on the host before.
	RenderAuto   = "auto"
	RenderAlways = "always" // whatever the local result
	RenderNever  = "never"
)

// Bounds of rendering, beside those of package render.
const (
	minRenderedWords = 50              // a rendered page with fewer is thin
	renderReserve    = 2 * time.Second // the time left to fall back
)

// browser is the step that renders the page in a browser and converts the result (rules C2 to C4, AD3).
type browser struct{ f *Fetcher }

// Name implements [Step].
func (browser) Name() string { return "browser" }

// Try renders the page, converts what the browser shows, and notes what the rendering says of the page and its host. A
// failure, and a page that did not settle, set missed; what is left out of a rendition is a warning of it.
func (s browser) Try(ctx context.Context, a *attempt) result {
	if no := s.refusal(a); no != "" {
		if no == still {
			s.f.noteInVain(renderKey(a), stillTime)
		}
		return skipped(no)
	}
	// Another node may have rendered it, even if this one cannot.
	st := s.f.browserState()
	if res, ok := s.f.ofPeer(ctx, a, st.Mode == "browser"); ok {
		return res
	}
	if st.Mode != "browser" {
		s.warnAbsent(a)
		a.missed = true
		return skipped("no browser: " + st.Reason)
	}
	ctx, cancel := context.WithTimeout(ctx, s.f.renderBudget(ctx, a))
	defer cancel()
	begun := time.Now()
	seen, err := s.f.o.Browser.Render(ctx, a.rendering())
	a.page.Info.RenderMS = s.f.observe("render", begun)
	if err != nil {
		a.missed = true
		if errors.Is(err, render.ErrNoBrowser) {
			s.warnAbsent(a)
		} else {
			a.warn("browser-failed")
		}
		return failedWith(err)
	}
	// What was waited for in vain is remembered of the host, so that its other pages are rendered sooner.
	a.seen, a.page.Info.RenderEnd = seen, seen.Ended
	if seen.Vain.Loading {
		s.f.learn(a, store.LoadsInVain)
	}
	if seen.Vain.Events {
		s.f.learn(a, store.SilentEvents)
	}
	if seen.Vain.Workers {
		s.f.learn(a, store.VainWorkers)
	}
	r, err := s.convert(ctx, a, seen)
	elsewhere := seen.Navigated && withoutFragment(seen.URL) != a.at.plain
	if err == nil && elsewhere {
		err = s.follow(a, seen.URL)
	}
	if err != nil {
		a.missed = true
		a.warn("browser-failed")
		return failedWith(err)
	}
	switch {
	case elsewhere:
		r.Warnings = page.AddWarning(r.Warnings, warnRedirect)
	case seen.Unsettled == "":
		s.learn(a, r)
	}
	if soon := time.Now().Add(computingTime); seen.More == render.MoreComputing && soon.Before(r.Expires) {
		r.Expires = soon // another reading may show more
	}
	if seen.More != "" {
		r.Warnings = page.AddWarning(r.Warnings, warnMore+"="+seen.More)
	}
	if seen.FramesLeft > 0 {
		r.Warnings = page.AddWarning(r.Warnings, warnFrames+"="+strconv.Itoa(seen.FramesLeft))
	}
	if seen.StylesLeft > 0 {
		r.Warnings = page.AddWarning(r.Warnings, warnStyles+"="+strconv.Itoa(seen.StylesLeft))
	}
	good := !page.HasWarning(r.Warnings, weak...)
	// An incomplete rendition answers this request, and is not kept.
	if seen.Unsettled != "" {
		a.missed, r.Expires = true, a.started
		r.Warnings = page.AddWarning(r.Warnings, warnIncomplete)
		good = good && (a.best == nil || page.HasWarning(a.best.Warnings, weak...))
	} else if !good {
		s.f.noteInVain(renderKey(a), time.Until(r.Expires))
	}
	reason := reasonOf(r)
	if seen.Unsettled != "" {
		reason = strings.TrimPrefix(reason+", "+seen.Unsettled, ", ")
	}
	return result{rendition: r, good: good, reason: reason}
}

// warnStyles is the warning of a page whose scripts made more style sheets than are read. Text that those would hide
// comes.
const warnStyles = "styles-left-out"

// warnRedirect is the warning of a page that a script or a meta element of the page that was asked for led to.
const warnRedirect = "script-redirect"

// follow takes note that the page led the browser to another one. What the new URL says about the page holds, as after
// a redirect; its host may be another, of which this page says nothing.
func (s browser) follow(a *attempt, next *url.URL) error {
	b := *a
	if err := s.f.follow(&b, next); err != nil {
		return err
	}
	a.credentials, a.memorable, a.warnings = b.credentials, b.memorable, b.warnings
	return nil
}

// warnIncomplete is the warning of a page that the browser was still working on.
const warnIncomplete = "render-incomplete"

// computingTime is for how long the rendition of a page is kept that had a worker which did not answer in time.
const computingTime = 10 * time.Minute

// warnMore is the warning of a page that has more than was loaded; followed by what there is more of: see
// [render.MoreScrolling].
const warnMore = "more"

// refusal returns why the page of an attempt is not rendered, or "" if it is. Its order is that of certainty: what
// forbids it, what demands it, and then what the local result says.
func (s browser) refusal(a *attempt) string {
	mode := a.renderMode()
	switch {
	case mode == RenderNever:
		return "rendering is switched off"
	case a.kind != media.HTML || a.status != http.StatusOK:
		return "the response is not a page to render"
	case a.wall != "":
		return "a bot wall is not rendered"
	case a.credentials:
		return "the request carries credentials, which the browser does not have"
	case len(a.content) > gate.LargePage && (a.best == nil || !page.HasWarning(a.best.Warnings, weak...)):
		return "the page is too large to render"
	case mode == RenderAlways || s.f.rendersHost(a):
		return ""
	case a.signs != nil && a.signs.Still && (a.framed == nil || a.framed.ours == 0):
		return still
	case a.best == nil || page.HasWarning(a.best.Warnings, weak...) || a.routed():
		return ""
	}
	return "not needed"
}

// A page in which nothing runs shows the same in a browser.
const (
	still     = "nothing in the page runs"
	stillTime = 24 * time.Hour // for which the stored rendition of such a page is not doubted
)

// warnAbsent warns if the page would need a browser and there is none (rule C4).
func (s browser) warnAbsent(a *attempt) {
	if a.best == nil || page.HasWarning(a.best.Warnings, convert.WarnShell) || a.renderMode() == RenderAlways ||
		a.routed() {
		a.warn("no-browser")
	}
}

// rendering returns the request to the browser for an attempt's page: the response in hand, so that the origin is not
// asked again, with the fields that matter to a document.
func (a *attempt) rendering() render.Request {
	h := http.Header{}
	for _, name := range []string{
		"Content-Type", "Content-Language", "Content-Security-Policy", "Set-Cookie",
		"Referrer-Policy",
	} {
		if v := a.resp.Header[name]; v != nil {
			h[name] = v
		}
	}
	// labelled as something else, which a browser shows as its source
	if page.KindOf(h.Get("Content-Type")) != page.HTML {
		h = h.Clone()
		h.Set("Content-Type", "text/html")
		if name := media.Charset(a.resp.Header); name != "" {
			h.Set("Content-Type", "text/html; charset="+name)
		}
	}
	return render.Request{
		URL: page.WithoutAnchor(a.url), Status: a.status, Header: h, Body: a.content,
		Selector: cmp.Or(a.req.WaitFor, a.at.wait), Screenshot: a.req.Screenshot, Console: a.req.Console, Fresh: a.forced,
		Wait: a.req.Wait, Vain: render.Vain{
			Loading: a.host.Knows(store.LoadsInVain, a.started), Events: a.host.Knows(store.SilentEvents, a.started),
			Workers: a.host.Knows(store.VainWorkers, a.started),
		},
	}
}

// renderBudget returns the time that the browser has for rendering: fetch.timeout, less what was needed before and is
// needed to fall back.
func (f *Fetcher) renderBudget(ctx context.Context, a *attempt) time.Duration {
	end := a.started.Add(f.o.Timeout)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		end = deadline
	}
	return max(time.Until(end)-renderReserve, time.Second)
}

// convert converts the page that a browser saw, and makes a rendition of it that is fresh for as long as the responses
// allow that it was made of.
func (s browser) convert(ctx context.Context, a *attempt, seen *render.Page) (*store.Rendition, error) {
	var res *convert.Result
	var signs convert.Signs
	if err := s.f.rendered(ctx, seen, func(doc *convert.Document) (err error) {
		if signs = doc.Signs(); signs.Wall != "" {
			return errors.New("the rendered page is a bot wall")
		}
		res, err = doc.Convert(ctx, a.convert)
		return err
	}); err != nil {
		return nil, err
	}
	if i := slices.Index(res.Warnings, convert.WarnShell); i >= 0 { // its scripts have run
		res.Warnings = slices.Delete(res.Warnings, i, i+1)
		if signs.Words < minRenderedWords {
			res.Warnings = page.AddWarning(res.Warnings, convert.WarnThin)
		}
	}
	r := &store.Rendition{
		Source: a.sum, Recipe: a.pageRecipe(a.recipe()), Markdown: []byte(res.Markdown), From: page.Browser,
		Expires: time.Now().Add(s.f.lifetime(a, seen.Responses)), Rendered: true,
		Title: res.Title, Description: res.Description, CanonicalURL: res.CanonicalURL, PageType: res.PageType,
		Meta:   res.Meta,
		Tokens: res.Tokens, HTMLTokens: res.HTMLTokens, HTMLChars: res.HTMLChars, Warnings: res.Warnings,
		FinalURL: seen.URL.String(), Links: linksSeen(seen),
	}
	if withoutFragment(seen.URL) == a.at.plain {
		r.FinalURL = a.url.String() // a script that changes the fragment leads nowhere: see strays
	}
	noteRecipe(r, res.Recipe)
	return r, nil
}

// maxLinkBytes is how long the links of a rendered page that are kept with it may be together, in bytes.
const maxLinkBytes = 256 << 10

// linksSeen returns the links of a page that a browser rendered, of whose document only the markdown is stored.
func linksSeen(seen *render.Page) *store.Links {
	urls, more := convert.Links(seen.HTML, "text/html; charset=utf-8", seen.URL)
	total := 0
	for i, u := range urls {
		if total += len(u); total > maxLinkBytes {
			return &store.Links{URLs: slices.Clone(urls[:i]), Cut: true}
		}
	}
	return &store.Links{URLs: urls, Cut: more}
}

// PageClient returns the transport for the requests that the browser's page makes: through client, under the policy for
// own fetches, and never to a blocked domain. It removes content codings.
func PageClient(client http.RoundTripper, blocked func(host string) bool) http.RoundTripper {
	return pageClient{client, blocked}
}

// pageClient is the transport that PageClient returns.
type pageClient struct {
	client  http.RoundTripper
	blocked func(host string) bool
}

// RoundTrip sends a request that a page in the browser makes, and gives the response decoded and without the fields
// that are no longer true of it. The error for a blocked domain is the page's to see, as a failed request.
func (c pageClient) RoundTrip(req *http.Request) (*http.Response, error) {
	if c.blocked(req.URL.Hostname()) {
		return nil, fmt.Errorf("%s is on the list of blocked domains", req.URL.Hostname())
	}
	req = req.Clone(transport.OwnPolicy(req.Context()))
	// The browser is answered with decoded content, whatever it would accept; gzip is decoded here.
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := c.client.RoundTrip(req)
	if err != nil || len(media.Codings(resp.Header)) == 0 {
		return resp, err
	}
	if err := media.DecodeBody(resp); err != nil {
		return nil, err
	}
	resp.Header = resp.Header.Clone()
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	return resp, nil
}

// renderState returns the browser's state for [Stats].
func (f *Fetcher) renderState() render.State {
	if f.o.Render == RenderNever {
		return render.State{Mode: "http", Reason: "render.mode is never"}
	}
	return f.browserState()
}

// browserState returns the state of the browser, or of none.
func (f *Fetcher) browserState() render.State {
	if f.o.Browser == nil {
		return render.State{Mode: "http", Reason: "no browser is configured"}
	}
	return f.o.Browser.State()
}

// renderKey identifies the rendering of a page by the browser among failed steps (failedSteps).
func renderKey(a *attempt) string { return "browser " + a.key.String() }

// wouldRender reports whether a page with a weak stored local rendition would be rendered by the browser now, so that
// the rendition is no answer. If only the browser is missing, it adds a warning.
func (f *Fetcher) wouldRender(a *attempt, r *store.Rendition) bool {
	if !slices.Contains(a.cascade, "browser") {
		return false
	}
	s, b := browser{f}, *a
	b.best = r
	if s.refusal(&b) != "" || !a.forced && f.failedRecently(renderKey(a), a.started) {
		return false
	}
	if f.browserState().Mode == "browser" {
		return true
	}
	a.missed = true
	b.warnings = nil
	s.warnAbsent(&b)
	for _, w := range b.warnings {
		a.warn(w)
	}
	return false
}

// needsBrowser reports whether the request needs a browser: it asks for a screenshot, the console, or to wait in the
// page. Nothing stored answers it then.
func (r *Request) needsBrowser() bool {
	return r.Screenshot || r.Console || r.WaitFor != "" || r.Wait > 0
}

// renderMode returns the render mode for the page, which says when the browser is used: the request's, else the rule's,
// else that of a site recipe, else the configured one.
func (a *attempt) renderMode() string {
	switch {
	case a.req.Render != "":
		return a.req.Render
	case a.req.needsBrowser():
		return RenderAlways
	}
	return a.at.render
}

// rendersHost reports whether rendering in the browser recently gave much more text on this host than local conversion.
func (f *Fetcher) rendersHost(a *attempt) bool {
	return a.host.Knows(store.NeedsBrowser, a.started)
}

// wantsMore reports whether the page is to be rendered by the browser even though its local result is good.
func (f *Fetcher) wantsMore(a *attempt) bool {
	switch a.renderMode() {
	case RenderAlways:
		return true
	case RenderNever:
		return false
	}
	return a.routed() || f.rendersHost(a) && f.browserState().Mode == "browser"
}

// learn notes whether rendering gives more than twice the text on the page's host, by one of its pages. The first page
// for which it does not ends it.
func (s browser) learn(a *attempt, r *store.Rendition) {
	if a.best == nil {
		return
	}
	if r.Tokens > 2*a.best.Tokens && r.Tokens-a.best.Tokens > 50 {
		s.f.learn(a, store.NeedsBrowser)
		return
	}
	s.f.unlearn(a, store.NeedsBrowser)
}

// lifetime returns how long a page is fresh that a browser made of other responses than its own: as long as each of
// them says, and at most Options.PageLifetime. It is 0 for what its site failed to answer. A rule's TTL overrides them
// all.
func (f *Fetcher) lifetime(a *attempt, made []render.Response) time.Duration {
	if a.at.lifetime > 0 {
		return a.at.lifetime
	}
	life, now := f.o.PageLifetime, time.Now()
	for _, r := range made {
		switch {
		case r.Status == 0, r.Status == http.StatusTooManyRequests, r.Status >= 500:
			if page.SameSite(r.URL.Hostname(), a.url.Hostname()) {
				return 0
			}
		case !r.Empty:
			if left, ok := cache.Stated(r.Header, !f.o.Private, now); ok {
				life = min(life, left)
			}
		}
	}
	return life
}

// preferComplete puts the page as it was rendered last in the place of what was made without the browser that it needs,
// or with a browser that was not done: what is incomplete is never preferred to what is complete (rule C3).
func (f *Fetcher) preferComplete(a *attempt) {
	if !a.missed && !a.req.CacheOnly || a.best == nil || !a.memorable || a.status != http.StatusOK || a.wall != "" ||
		a.best.From != page.Local && a.best.From != page.Browser || !incomplete(a.best) ||
		!slices.Contains(a.cascade, "browser") || a.renderMode() == RenderNever {
		return
	}
	known := f.known(a)
	if known.Source != page.Browser || known.StatusCode != http.StatusOK ||
		page.HasWarning(known.Warnings, warnIncomplete) || page.HasWarning(known.Warnings, weak...) ||
		a.strays(known.FinalURL) {
		return
	}
	markdown, err := f.o.Store.Markdown(page.KeyOf(known.NormalizedURL)) // the page may have another name
	if err != nil {
		return
	}
	a.kept = true
	a.warn("stale")
	links, _ := f.o.Store.PageRendition(linksKey(&known.Record)) // nil if there are none
	if links == nil || links.ContentHash != known.ContentHash {
		links = new(store.Rendition)
	}
	a.best, a.seen, a.shown = &store.Rendition{
		Markdown: markdown, From: page.Browser, Rendered: true,
		Title: known.Title, Description: known.Description, CanonicalURL: known.CanonicalURL, Meta: known.Meta,
		Tokens: known.Tokens, HTMLTokens: known.Info.HTMLTokens, HTMLChars: known.Info.HTMLChars,
		Warnings: known.Warnings,
		FinalURL: known.FinalURL, FetchedAt: known.FetchedAt, ContentHash: known.ContentHash,
		MarkdownChars: known.Info.MarkdownChars, Excerpt: known.Excerpt, Links: links.Links,
	}, nil, nil
}

// linksKey returns where the links of a page are kept as it was rendered last: its rendition ends with the responses
// that it was made of, and is another one for other bytes.
func linksKey(r *page.Record) (root page.Key, recipe string) {
	return page.KeyOf(page.WithoutRoute(r.NormalizedURL)), digest("links as rendered\n" + r.NormalizedURL)
}

// keepLinks keeps the links of a page that a browser has just made, for as long as the page.
func (f *Fetcher) keepLinks(a *attempt, r *page.Record) {
	if a.seen == nil || a.best.From != page.Browser || a.best.Links == nil {
		return
	}
	root, recipe := linksKey(r)
	err := f.o.Store.PutPageRendition(root, &store.Rendition{
		Recipe: recipe, From: page.Browser, ContentHash: r.ContentHash, Links: a.best.Links,
	})
	if err != nil && !errors.Is(err, store.ErrFull) {
		f.o.Log.Warn("links of a page not stored", "url", page.Mask(a.url), "err", err)
	}
}

// strays reports whether final, where a browser came to, is another route of the page. Programs that did not tell the
// routes of a page apart kept what they had rendered last for all of them.
func (a *attempt) strays(final string) bool {
	u, err := url.Parse(final)
	return err == nil && page.Route(u) != a.at.route && withoutFragment(u) == a.at.plain
}

// routed reports whether the scripts of the page in hand may show another page, because its URL names a route.
func (a *attempt) routed() bool {
	return a.at.route != "" && a.kind == media.HTML && (a.signs == nil || !a.signs.Still)
}

// incomplete reports whether a rendition lacks what a browser would show, or may lack it, by its warnings.
func incomplete(r *store.Rendition) bool {
	return page.HasWarning(r.Warnings, warnIncomplete, convert.WarnShell) || page.HasWarning(r.Warnings, weak...)
}
