package fetch

import (
	"errors"
	"net/url"
	"slices"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// name decides as which page the attempt's page is kept, and returns what is known of that one; an empty page where
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

// finalName returns the normalised URL of the page in hand. A page without scripts is the same at each route.
func (a *attempt) finalName() string {
	n := page.Normalize(a.url)
	if a.best.From != page.Browser && !a.routed() {
		return page.WithoutRoute(n)
	}
	return n
}

// alike reports whether two pages have the same content.
func alike(one, other *page.Page) bool {
	return one.ContentHash == other.ContentHash && one.Title == other.Title
}

// otherNames returns the normalised URLs that may name the attempt's page too.
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

// takeName makes the page one that is kept under another name.
func (a *attempt) takeName(normalized string) {
	a.named = page.KeyOf(normalized)
	a.page.NormalizedURL, a.page.Doc = normalized, a.named.Doc()
}

// join makes a key another name of the page with a normalised URL, and reports whether it did.
func (f *Fetcher) join(k page.Key, normalized string) bool {
	err := f.o.Store.NamePage(k, page.KeyOf(normalized))
	if err != nil && !errors.Is(err, store.ErrFull) {
		f.o.Log.Warn("page not given another name", "page", normalized, "err", err)
	}
	return err == nil
}
