package fetch

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/store"
)

// lifetime returns how long a page is fresh that was made of other responses than its own: as long as each of them
// says, and at most Options.PageLifetime. It is 0 for what its site failed to answer. A rule's TTL overrides them all.
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
