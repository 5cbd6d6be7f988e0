package fetch

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// becomesPage reports whether what was read is recorded as a page with a visit: a GET that may be kept, a page and no
// error, wall, form to sign in or "not found" in disguise (rules AD6, X6).
func (f *Fetcher) becomesPage(a *attempt) bool {
	_, unwanted := a.unwanted(a.page.Preferences)
	return !unwanted && a.memorable && a.req.Method != http.MethodHead && a.wall == "" &&
		!page.HasWarning(a.warnings, convert.WarnSoft404, convert.WarnError, convert.WarnLogin, convert.WarnBinary,
			convert.WarnScanned, convert.WarnEncrypted) &&
		(a.status == http.StatusOK || a.best.From == page.MarkdownNew)
}

// record writes the page, unless it is known with this very content, and counts the visit. A store that takes no writes
// loses the record and not the answer.
func (f *Fetcher) record(a *attempt, markdown []byte) {
	p := a.page
	known := f.name(a)
	same := known.ContentHash == p.ContentHash && (known.FinalURL == p.FinalURL || a.named != a.key) &&
		known.Title == p.Title && slices.Equal(known.Preferences, p.Preferences) &&
		page.HasWarning(known.Warnings, page.WarnNotIndexed) == page.HasWarning(a.warnings, page.WarnNotIndexed)
	// who chooses elements, or what a model sees, may have got another form
	other := a.req.View.chooses() || f.lowersHTMLLimit(a.req)
	// another node of a fleet, or a request of another form, has read it since
	older := a.outcome.Hit && p.FetchedAt.Before(known.FetchedAt)
	if known.NormalizedURL != "" && known.Error == nil && (same || other || older) {
		p.CreatedAt, p.UpdatedAt, p.Stored = known.CreatedAt, known.UpdatedAt, true
	} else if kept, err := f.put(a, markdown); err == nil {
		p.CreatedAt, p.UpdatedAt, p.Stored = kept.CreatedAt, kept.UpdatedAt, true
		known = &page.Page{Record: kept, Visits: known.Visits}
	} else if !errors.Is(err, store.ErrFull) {
		f.o.Log.Warn("page not stored", "url", page.Mask(a.url), "err", err)
	}
	if known.ContentHash == p.ContentHash {
		f.keepLinks(a, &known.Record)
	}
	p.VisitCount, p.LastVisitedAt, p.FirstVisitedAt = known.VisitCount, known.LastVisitedAt, known.FirstVisitedAt
	if a.req.NoVisit || a.req.Unread {
		return
	}
	if !a.at.hidden { // else it is in no list and no figure
		f.visit(a)
	}
	f.putFetched(a)
}

// visit counts a visit of the attempt's reader, at once or when it is told what that got.
func (f *Fetcher) visit(a *attempt) {
	p, now := a.page, time.Now().UTC().Truncate(time.Millisecond)
	p.VisitID, p.VisitCount, p.LastVisitedAt = store.NewID(), p.VisitCount+1, now
	p.FirstVisitedAt = cmp.Or(p.FirstVisitedAt, now)
	a.count = func() { f.o.Store.AddVisit(a.named, a.visit()) }
	if !a.req.Told {
		a.count()
	}
}

// visit returns the record of a visit of the attempt's reader for the store.
func (a *attempt) visit() store.Visit {
	p := a.page
	v := store.Visit{
		ID: p.VisitID, Time: p.LastVisitedAt, Doc: p.Doc, URL: p.URL,
		Agent: clip.Bytes(a.req.Agent, 120), Session: a.req.Session,
		User:   a.req.User,
		Source: p.Source, FromCache: p.FromCache, Stale: a.outcome.Hit && a.outcome.TTL < 0,
	}
	if !a.observed {
		v.Tokens, v.HTMLTokens = p.Tokens, p.Info.HTMLTokens
	}
	return v
}

// set returns, for the record, the name of the set of fetched pages that the page belongs to, by the request or its
// session; empty for none.
func (a *attempt) set() string { return cmp.Or(a.req.Set, a.req.Session) }

// known returns the page's record in the store before this visit; an empty one where there is none. It is read once.
func (f *Fetcher) known(a *attempt) *page.Page {
	if a.known == nil {
		a.known, _ = f.o.Store.Page(a.key) // nothing, where nothing is known
	}
	if a.known == nil {
		a.known = &page.Page{}
	}
	return a.known
}

// putFetched adds the page, as recorded, to the set of pages that the session has fetched (rule B37), and warns if
// others had to go for it.
func (f *Fetcher) putFetched(a *attempt) {
	set := a.set()
	if set == "" || !a.page.Stored {
		return
	}
	content, err := f.o.Store.Markdown(a.named)
	gone := 0
	if err == nil {
		gone, err = f.o.Store.PutFetched(set, &page.Page{Record: a.record(), Visits: a.page.Visits}, content)
	}
	if err != nil && !errors.Is(err, store.ErrFull) {
		f.o.Log.Debug("page not put into its session's set", "url", page.Mask(a.url), "err", err)
	}
	if gone > 0 {
		a.warn("context-full")
		a.page.Warnings = a.warnings
	}
}

// record returns what is kept of the attempt's page: the whole page in markdown, whatever was asked for.
func (a *attempt) record() page.Record {
	r := a.page.Record
	r.ContentFormat, r.Tokens, r.Warnings = "markdown", a.best.Tokens, a.best.Warnings
	r.Info.HTMLTokens = a.best.HTMLTokens
	if page.HasWarning(a.warnings, page.WarnNotIndexed) {
		r.Warnings = append(slices.Clip(r.Warnings), page.WarnNotIndexed)
	}
	return r
}

// put records the page in the store and returns it as stored. What others wrote is kept with absolute links: as it is
// read there, it no longer lies where it was. The content hash stays that of what they wrote.
func (f *Fetcher) put(a *attempt, markdown []byte) (page.Record, error) {
	kept := a.record()
	kept.ReadAt = a.outcome.Received
	at := a.req.URL
	if a.named != a.key {
		at = a.url
	}
	if kept.URL = withoutFragment(at); strings.Contains(kept.NormalizedURL, "#") {
		kept.URL = page.WithoutAnchor(at).String()
	}
	if a.best.From == page.Negotiated || a.best.From == page.Alternate || a.best.From == page.MarkdownNew {
		if base, err := url.Parse(a.best.FinalURL); err == nil {
			markdown = convert.AbsoluteLinks(markdown, base)
		}
	}
	_, err := f.o.Store.PutPage(&kept, markdown, a.sum)
	return kept, err
}

// name decides as which page the attempt's page is recorded, and returns what is known of that one; an empty page where
// there is none. A page has several names if the origin shows the same content at each of them: where it permanently
// redirects, in the slash or index.html at the end of the path, at each route of a page without scripts, and where the
// page names its canonical URL. All are on one host, and no other one differs in its route. Nothing that a page says
// makes it another page while their contents differ.
func (f *Fetcher) name(a *attempt) *page.Page {
	p, known := a.page, f.known(a)
	if known.NormalizedURL == p.NormalizedURL {
		return known
	}
	if known.NormalizedURL != "" && known.Error == nil && alike(known, p) { // it was found by another name
		a.takeName(known.NormalizedURL)
		return known
	}
	if a.private || a.credentials || a.req.View.chooses() || p.GitHub != nil || page.HasWarning(a.best.Warnings, weak...) {
		return &page.Page{}
	}
	for _, n := range a.otherNames() {
		other, err := f.o.Store.Page(page.KeyOf(n))
		if err == nil && other.Error == nil && alike(other, p) && f.join(a.key, other.NormalizedURL) {
			a.takeName(other.NormalizedURL)
			return other
		}
	}
	if n := a.finalName(); !a.moved && n != p.NormalizedURL && f.join(a.key, n) {
		a.takeName(n)
		if other, err := f.o.Store.Page(a.named); err == nil && other.NormalizedURL == n {
			return other
		}
	}
	return &page.Page{}
}

// finalName returns the normalised URL under which the page in hand is recorded. A page without scripts is the same at
// each route.
func (a *attempt) finalName() string {
	n := page.Normalize(a.url)
	if a.best.From != page.Browser && !a.routed() {
		return page.WithoutRoute(n)
	}
	return n
}

// alike reports whether two records are of the same content, and so may be names of one page.
func alike(one, other *page.Page) bool {
	return one.ContentHash == other.ContentHash && one.Title == other.Title
}

// otherNames returns the normalised URLs under which the attempt's page may be recorded too, without its own. All are
// on the host that was asked.
func (a *attempt) otherNames() (names []string) {
	add := func(u *url.URL) {
		if n := page.Normalize(u); page.Authority(u) == page.Authority(a.req.URL) && n != a.page.NormalizedURL &&
			!slices.Contains(names, n) && page.Route(u) == a.at.route {
			names = append(names, n)
		}
	}
	add(a.url)
	if u, err := page.Parse(a.page.CanonicalURL); err == nil {
		add(u)
	}
	for _, u := range page.Siblings(a.url) {
		add(u)
	}
	return names
}

// takeName makes the attempt's page one that is recorded under another name.
func (a *attempt) takeName(normalized string) {
	a.named = page.KeyOf(normalized)
	a.page.NormalizedURL, a.page.Doc = normalized, a.named.Doc()
}

// join records a key as another name of the page with a normalised URL, and reports whether it did.
func (f *Fetcher) join(k page.Key, normalized string) bool {
	err := f.o.Store.NamePage(k, page.KeyOf(normalized))
	if err != nil && !errors.Is(err, store.ErrFull) {
		f.o.Log.Warn("page not given another name", "page", normalized, "err", err)
	}
	return err == nil
}

// keep records as a rendition what the steps made of an attempt: under the bytes it was made of, or under the page
// where it was made of others. It reports whether it did the latter. Nothing is kept that another try may make better.
func (f *Fetcher) keep(a *attempt) (byPage bool) {
	f.complete(a)
	if a.best == nil || !a.memorable || a.wall != "" ||
		page.HasWarning(a.best.Warnings, convert.WarnSoft404, convert.WarnError) {
		return false
	}
	var err error
	switch a.best.From {
	case page.Local:
		if !a.kind.Converted() || a.status != http.StatusOK {
			return false
		}
		if page.HasWarning(a.best.Warnings, convert.WarnTruncated) {
			return false // there may be more time for it
		}
		if !withFramesIn(a.best) {
			err = f.o.Store.PutRendition(a.best)
			break
		}
		if page.HasWarning(a.best.Warnings, weak...) {
			return false // the next steps are tried again
		}
		fallthrough
	case page.Alternate, page.MarkdownNew, page.Browser, page.LLM:
		if !a.started.Before(a.best.Expires) {
			return false
		}
		a.best.Source, a.best.Recipe = a.sum, a.pageRecipe(a.recipe()) // complete made it ours
		err = f.o.Store.PutPageRendition(a.root, a.best)
		byPage = true
	}
	if err != nil && !errors.Is(err, store.ErrFull) {
		f.o.Log.Warn("rendition not stored", "url", page.Mask(a.url), "err", err)
	}
	return byPage
}
