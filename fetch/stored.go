package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Original is what an origin answered, as it is stored.
type Original struct {
	Content  []byte // text in UTF-8, without content coding
	Type     string // the field Content-Type
	Response *store.Response
}

// Original returns the newest stored response of a URL, whether it is fresh or not, unless it is a private one. uri is
// the key of the cache. The error wraps store.ErrNotFound if there is none.
func (f *Fetcher) Original(uri string) (*Original, error) {
	list, err := f.newest.Load().o.Store.Responses(uri)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r.Status == http.StatusOK && r.Partition == "" {
			return f.original(r)
		}
	}
	return nil, fmt.Errorf("the stored response of %s: %w", uri, store.ErrNotFound)
}

// ErrNotConverted is wrapped by the errors of [Fetcher.Convert] for pages that it does not make.
var ErrNotConverted = errors.New("cannot be converted again")

// Convert makes a page again from what its origin answered, as it is stored, whether that is fresh or not, with the
// converter and the options of now. It asks nobody and counts no visit. p is the page as it is stored. The error wraps
// store.ErrNotFound if the answer is not kept, and [ErrNotConverted] if the page is not made of it here.
func (f *Fetcher) Convert(ctx context.Context, p *page.Page) error {
	f = f.newest.Load()
	masked := page.MaskString(p.URL)
	switch {
	case p.GitHub != nil:
		return fmt.Errorf("%s %w: it was made of several answers: fetch it again", masked, ErrNotConverted)
	case p.Source == page.Browser:
		return fmt.Errorf("%s %w: a browser rendered it, of which only the text is kept: render it again", masked,
			ErrNotConverted)
	case p.Source != page.Local:
		return fmt.Errorf("%s %w: its markdown is not of our making (%s): fetch it again", masked, ErrNotConverted,
			p.Source)
	}
	a, err := f.keptAttempt(p)
	if err != nil {
		return err
	}
	var failure error
	err = f.detached(f.limit(&a.req), func(ctx context.Context) { //nolint:contextcheck // who leaves does not end it
		if a.wall = convert.Wall(a.status, a.resp.Header, a.content); a.wall != "" {
			failure = fmt.Errorf("%s %w: its origin answered with a wall for bots (%s)", masked, ErrNotConverted,
				a.wall)
			return
		}
		f.try(ctx, a, []string{"local"})
		if a.best == nil {
			failure = fmt.Errorf("%s %w: %w", masked, ErrNotConverted, a.failure)
			return
		}
		f.keep(a)
		f.answer(a, false)
		if !f.becomesPage(a) {
			failure = fmt.Errorf("%s %w: what its origin answered is no page (%s)", masked, ErrNotConverted,
				strings.Join(a.warnings, ", "))
		}
	})
	return cmp.Or(err, failure, context.Cause(ctx))
}

// keptAttempt returns an attempt at a page whose origin answered what is stored, for Convert. The response may be kept
// under the URL that redirects led to.
func (f *Fetcher) keptAttempt(p *page.Page) (*attempt, error) {
	u, err := page.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	urls := []*url.URL{u}
	if final, err := page.Parse(p.FinalURL); err == nil && final.String() != u.String() {
		urls = []*url.URL{final, u}
	}
	for _, at := range urls {
		list, err := f.o.Store.Responses(cacheKey(at))
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			if r.Status != http.StatusOK || r.Partition != "" {
				continue
			}
			a := f.newAttempt(Request{
				URL: u, Method: http.MethodGet, Own: true, CacheOnly: true, NoRemote: true, NoVisit: true,
			}, f.addressOf(u), time.Now())
			f.goTo(a, at)
			a.page.Error = p.Error // which is of a fetch since
			f.look(a, &http.Response{
				StatusCode: r.Status, Header: r.Header.Clone(), Body: http.NoBody, ContentLength: r.Length,
			})
			if !a.kind.Converted() || !a.memorable {
				continue
			}
			a.outcome.Hit, a.sum, a.hasSum = true, r.Body, true
			if a.raw, a.content, err = f.contentOf(r); err != nil {
				return nil, fmt.Errorf("read what the origin of %s answered: %w", page.Mask(at), err)
			}
			return a, nil
		}
	}
	return nil, fmt.Errorf("what the origin of %s answered, which may not be kept or was removed: %w", page.Mask(u),
		store.ErrNotFound)
}

// original returns a stored response as Original, with its content as text.
func (f *Fetcher) original(r *store.Response) (*Original, error) {
	_, content, err := f.newest.Load().contentOf(r)
	if err != nil {
		return nil, err
	}
	contentType := r.Header.Get("Content-Type")
	return &Original{Content: media.InUTF8(content, contentType), Type: contentType, Response: r}, nil
}

// contentOf reads the content of a stored response, as it was received and decoded, up to Options.MaxBody.
func (f *Fetcher) contentOf(r *store.Response) (raw, content []byte, err error) {
	body, err := f.o.Store.Body(r.Body)
	if err != nil {
		return nil, nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	if raw, err = io.ReadAll(io.LimitReader(body, f.o.MaxBody)); err != nil {
		return nil, nil, err
	}
	content, err = media.Decode(raw, r.Header, f.o.MaxBody)
	return raw, content, err
}

// Limits of Anchors: the largest page that is read for it, in bytes, and how many pages' anchors are kept in memory.
const (
	maxAnchored  = 4 << 20
	keptAnchored = 64
)

// Anchors returns the anchors of a page, as the HTML has them that its origin answered and that is stored. There are
// none if no HTML is, or if it is long.
func (f *Fetcher) Anchors(k page.Key) []page.Anchor {
	f = f.newest.Load()
	p, err := f.o.Store.Page(k)
	if err != nil {
		return nil
	}
	for _, raw := range []string{p.FinalURL, p.URL} {
		u, err := url.Parse(raw)
		if err != nil || raw == "" {
			continue
		}
		list, err := f.o.Store.Responses(cacheKey(u))
		if err != nil {
			continue
		}
		for _, r := range list {
			if r.Status != http.StatusOK || r.Partition != "" || r.Length > maxAnchored ||
				page.KindOf(media.Type(r.Header)) != page.HTML {
				continue
			}
			if anchors, ok := f.anchors.Get(r.Body); ok {
				return anchors
			}
			_, content, err := f.contentOf(r)
			if err != nil || len(content) > maxAnchored {
				return nil
			}
			anchors := convert.Anchors(media.InUTF8(content, r.Header.Get("Content-Type")))
			f.anchors.Add(r.Body, anchors)
			return anchors
		}
	}
	return nil
}

// recall looks for a stored rendition of the bytes in hand, before they are read. A weak one is taken only when no
// other step would be tried for it.
func (f *Fetcher) recall(a *attempt) bool {
	var ofPage, ofBody *store.Rendition // nil if there is none
	if a.found != nil {
		ofPage, ofBody = a.found.OfPage, a.found.OfBody
	} else {
		recipe := a.recipe()
		ofPage, _ = f.o.Store.PageRendition(a.root, a.pageRecipe(recipe))
		ofBody, _ = f.o.Store.Rendition(a.sum, recipe)
	}
	if r := ofPage; r != nil && f.mayRecall(a, r) {
		if a.forced && (r.From != page.LLM || r.Rendered) {
			return false // it was made of more than the bytes in hand
		}
		a.best, a.kept = r, true
	} else if r := ofBody; r != nil && a.status == http.StatusOK && slices.Contains(a.cascade, "local") {
		if a.at.route != "" {
			return false // whether scripts show another page must be seen
		}
		if page.HasWarning(r.Warnings, weak...) && slices.Contains(a.cascade, "markdown_new") &&
			f.mdnew.disclosureOf(a).Refusal() == "" &&
			!f.failedRecently("markdown_new "+a.key.String(), a.started) {
			return false
		}
		if f.wouldRender(a, r) || f.wouldAskModel(a, r) {
			return false
		}
		a.best = r
	} else {
		return false
	}
	a.attempts = append(a.attempts, page.Attempt{
		Step: string(a.best.From), Outcome: page.Answered,
		Reason: strings.TrimSuffix("rendition from the store, "+a.best.SiteRecipe, ", "),
	})
	return true
}
