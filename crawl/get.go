package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
)

// How often the crawl asks for a URL, and how long it waits for an origin that asks it to.
const (
	maxTries     = 3 // requests for one URL
	firstBackoff = 2 * time.Second
	maxWait      = 2 * time.Minute // the longest Retry-After that is obeyed by waiting
	maxDelay     = 5 * time.Minute // the longest Crawl-delay that is obeyed by waiting
)

// result is the result of getting one URL of a crawl, before it is compared with what is known.
type result struct {
	outcome   Outcome // Added for every page; the caller tells new from known ones
	page      *Page
	header    string // front matter of the page's markdown
	links     []string
	canonical string
	moved     *url.URL
	err       error
	trouble   bool          // the origin is in trouble, not only this page
	wait      time.Duration // how long the origin asks to wait, if that is more than maxWait
}

// movedError ends a fetch that redirects. Its target is a URL of its own for the crawl.
type movedError struct{ to *url.URL }

// Error names where the fetch of a crawl was redirected to, masked.
func (e *movedError) Error() string { return "to " + page.Mask(e.to) }

// refuseRedirect is a [fetch.Request] Follow function that follows no redirect.
func refuseRedirect(next *url.URL) error { return &movedError{next} }

// get gets a URL of a crawl if robots.txt allows it and the origin does not deny the use. It waits for the host's turn
// and retries while the origin is in trouble. It runs in parallel with others, and touches nothing of the frontier.
func (r *run) get(ctx context.Context, it item) result {
	u, err := page.Parse(it.URL)
	if err != nil {
		return result{outcome: Failed, err: err}
	}
	host := page.Authority(u)
	// robots.txt is asked each time: it may have changed, and is in memory.
	for try := 1; ; try++ {
		v, err := r.Fetcher.Allowed(ctx, u)
		switch {
		case err != nil:
			return result{outcome: Failed, err: err}
		case !v.Allowed:
			return result{outcome: Forbidden, err: errors.New(v.Reason)}
		case v.Delay > maxDelay:
			return result{outcome: Forbidden, err: fmt.Errorf("%s asks for %v between requests, which is more than %v", v.URL,
				v.Delay, maxDelay)}
		}
		if err := r.Fetcher.Unwanted(u, v.Preferences); err != nil {
			return result{outcome: Forbidden, err: err}
		}
		if err := r.pacer.wait(ctx, host, v.Delay); err != nil {
			return result{outcome: Failed, err: err}
		}
		ask := fetch.Request{
			URL: u, Method: http.MethodGet, Own: true, Force: r.o.Refresh || try > 1, NoRemote: true, NoVisit: true,
			Links: true, Follow: refuseRedirect,
			Unattended: true,
			View:       r.o.View, Render: r.o.Render, Wait: r.o.Wait, Source: r.o.Source, Trimmed: r.o.Trimmed,
		}
		ans, err := r.fetch(ctx, ask)
		if err == nil {
			if ans.Page != nil {
				if err := r.Fetcher.Unwanted(u, ans.Page.Preferences); err != nil {
					return result{outcome: Forbidden, err: err, links: ans.Links}
				}
			}
			if ans.Page != nil && ans.Page.Source == page.Alternate {
				r.pacer.charge(ctx, host, v.Delay) // the fetch also requested the markdown twin
			}
			return arrived(it.URL, ans)
		}
		if moved, ok := errors.AsType[*movedError](err); ok {
			return result{outcome: Moved, moved: moved.to, err: fmt.Errorf("redirects %w", moved)}
		}
		if e, ok := errors.AsType[*fetch.Error](err); ok && e.Kind == fetch.KindHTTP && page.Gone(e.Status) {
			return result{outcome: Gone, err: err}
		}
		e, trouble := originTrouble(err)
		got := result{outcome: Failed, err: err, trouble: trouble}
		if !trouble || ctx.Err() != nil {
			return got
		}
		wait := max(e.RetryAfter, firstBackoff<<(try-1))
		if wait > maxWait {
			got.wait = wait
			return got
		}
		if try == maxTries {
			return got
		}
		r.pacer.pause(ctx, host, wait)
	}
}

// fetch gets a page for a crawl or a scrape, and tells the journal of it. A redirect is not told: its target is a URL
// of its own, which is.
func (l *local) fetch(ctx context.Context, ask fetch.Request) (*fetch.Answer, error) {
	told := fetch.Reading{Began: time.Now(), Asked: ask}
	told.Answer, told.Err = l.Fetcher.Page(ctx, ask)
	if _, moved := errors.AsType[*movedError](told.Err); !moved {
		l.Fetcher.Tell(journal.By(ctx, journal.DoorCrawl), told)
	}
	return told.Answer, told.Err
}

// originTrouble reports whether an error of getting a page says that the origin is in trouble, which may pass, rather
// than one page: it does not answer, or asks to be left alone. A name that cannot be resolved does not pass.
func originTrouble(err error) (*fetch.Error, bool) {
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return nil, false
	}
	switch e.Kind {
	case fetch.KindTimeout, fetch.KindConnect:
		return e, e.Type != "dns_error"
	case fetch.KindHTTP:
		switch e.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return e, true
		}
	}
	return e, false
}

// arrived turns an answer to a crawl into a result: a page, or why it is none.
func arrived(raw string, ans *fetch.Answer) result {
	p, err := pageOf(raw, ans)
	if _, none := errors.AsType[noPageError](err); none {
		return result{outcome: Skipped, err: err}
	}
	if err != nil {
		return result{outcome: Failed, err: err}
	}
	header, _ := page.SplitFrontMatter(ans.Body)
	return result{outcome: Added, page: p, header: string(header), links: ans.Links, canonical: ans.Page.CanonicalURL}
}

// noPageError reports an answer to a crawl that is not a page, by its media type.
type noPageError struct{ mediaType string }

// Error names the media type of the answer to the crawl.
func (e noPageError) Error() string { return "not a page but " + e.mediaType }

// noPage returns the error for an answer that a crawl got with a Content-Type that is not a page.
func noPage(contentType string) error {
	mediaType, _, _ := strings.Cut(contentType, ";")
	if mediaType = strings.TrimSpace(mediaType); mediaType == "" {
		mediaType = "content without a media type"
	}
	return noPageError{mediaType}
}

// pageOf returns the page of an answer that a crawl got, or an error if the answer is not worth keeping in a base
// (AD6): a bot wall, a page that says that it does not exist, one without text.
func pageOf(raw string, ans *fetch.Answer) (*Page, error) {
	if ans.Page == nil {
		ans.Response.Body.Close()
		return nil, noPage(ans.Header.Get("Content-Type"))
	}
	for _, w := range ans.Page.Warnings {
		switch w {
		case "binary", "scanned", "encrypted":
			return nil, noPage(ans.Page.ContentType)
		case page.WarnWall:
			return nil, errors.New("the answer is a bot wall")
		case "soft-404":
			return nil, errors.New("the page says that it does not exist")
		}
	}
	_, content := page.SplitFrontMatter(ans.Body)
	if len(strings.TrimSpace(string(content))) == 0 {
		return nil, errors.New("the page has no text")
	}
	return &Page{
		URL: raw, Title: ans.Page.Title, Markdown: string(content), Metadata: ans.Page.Meta, Hash: ans.Page.ContentHash,
		Page:  ans.Page,
		Links: ans.Links, Source: ans.Source, Trimmed: ans.Trimmed,
	}, nil
}
