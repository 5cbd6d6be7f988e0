package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Warnings of a page that a site recipe joins with the next ones.
const (
	warnJoined    = "pages-joined" // followed by =N, the further pages that were joined to the first
	warnPagesLeft = "pages-left"   // there are more pages than the recipe joins
	warnPagesCut  = "pages-cut"    // a further page could not be had, or there was no room for it
)

// maxJoined is the largest markdown of joined pages, in bytes.
const maxJoined = 4 << 20

// joins returns how many pages are shown as one, at most. It is 1 but for readers of our own fetches who see the whole
// page: a client of the proxy asked for one URL, a crawl comes to the others anyway, and nothing is asked for a request
// with credentials.
func (a *attempt) joins() int {
	v := a.req.View
	v.Start = 0 // such a request continues the answer to an earlier one
	if a.compacts() {
		v.Links = "" // all pages are shortened together
	}
	if !a.req.Own || a.req.NoVisit || a.req.CacheOnly || a.req.HTML || a.req.Method == http.MethodHead ||
		a.req.needsBrowser() || a.credentials || v != (View{}) || a.best == nil || a.best.Next == "" || a.shown != nil {
		return 1
	}
	return a.at.pages
}

// joinNext sets a.shown to the page with the next ones of the same content, if its site recipe joins pages. Each of
// them is read and stored as a page of its own; what is joined is not stored.
func (f *Fetcher) joinNext(ctx context.Context, a *attempt) {
	limit := a.joins()
	if limit < 2 {
		return
	}
	shown := *a.best
	shown.ContentHash = ""
	text := shown.Markdown
	title, _, _ := strings.Cut(string(text), "\n")
	seen := map[string]bool{a.at.plain: true}
	next, joined := a.best.Next, 0
	for ; next != "" && !seen[next] && joined+1 < limit; joined++ {
		seen[next] = true
		more, err := f.further(ctx, a, next)
		if err == nil && len(text)+len(more.Markdown) > maxJoined {
			err = fmt.Errorf("the pages have more than %d bytes", maxJoined)
		}
		if err != nil {
			f.o.Log.Debug("page not joined", "url", page.MaskString(next), "err", err)
			a.warn(warnPagesCut)
			next = ""
			break
		}
		part := string(more.Markdown)
		if first, rest, _ := strings.Cut(part, "\n"); first == title && strings.HasPrefix(title, "# ") {
			part = strings.TrimLeft(rest, "\n")
		}
		text = append(slices.Clip(text), "\n"+part...)
		next = more.Next
	}
	if joined > 0 {
		a.warn(warnJoined + "=" + strconv.Itoa(joined))
		shown.Markdown, shown.Tokens = text, convert.Tokens(string(text))
		a.shown = &shown
	}
	if next != "" && !seen[next] {
		a.warn(warnPagesLeft)
	}
}

// further reads a further page for joinNext, which must lie on the host of the first and be made by a site recipe.
func (f *Fetcher) further(ctx context.Context, a *attempt, next string) (*store.Rendition, error) {
	u, err := page.Parse(next)
	if err != nil {
		return nil, err
	}
	if err := a.mayJoin(u); err != nil {
		return nil, err
	}
	ans, err := f.Page(ctx, Request{
		URL: u, Method: http.MethodGet, Own: true, NoVisit: true, NoRemote: a.req.NoRemote, NoStore: a.req.NoStore,
		Force: a.req.Force, Agent: a.req.Agent, Session: a.req.Session, User: a.req.User, Render: a.req.Render,
		Follow: a.mayJoin,
	})
	switch {
	case err != nil:
		return nil, err
	case ans.Response != nil:
		ans.Response.Body.Close()
		return nil, errors.New("the answer is no page")
	case ans.made.SiteRecipe == "" || page.HasWarning(ans.Page.Warnings, convert.WarnRecipe, convert.WarnLogin,
		convert.WarnSoft404, convert.WarnError, page.WarnWall):
		return nil, errors.New("no recipe finds content on the page")
	}
	a.private = a.private || ans.Private
	if final, err := page.Parse(ans.Page.FinalURL); err != nil {
		return nil, err
	} else if err := a.mayJoin(final); err != nil { // a script led there
		return nil, err
	}
	return ans.made, nil
}

// mayJoin returns an error for the URL of a further page that is not on the host of the page, or that only its reader
// may ask for.
func (a *attempt) mayJoin(u *url.URL) error {
	switch {
	case page.Authority(u) != page.Authority(a.url) || a.url.Scheme == "https" && u.Scheme != "https":
		return fmt.Errorf("%s is on another host", page.Mask(u))
	case page.HasSecret(u):
		return errors.New("its URL has a secret")
	}
	return nil
}
