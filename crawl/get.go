package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"readthru/fetch"
	"readthru/page"
)

const (
	maxTries     = 3 // of one URL
	firstBackoff = 2 * time.Second
	patience     = 2 * time.Minute // the longest that an origin's Retry-After is waited for
	maxDelay     = 5 * time.Minute // the longest Crawl-delay that is obeyed by waiting
)

// result is what came of getting one URL.
type result struct {
	outcome   Outcome // Added for any page
	page      *Page
	links     []string
	canonical string
	moved     *url.URL
	err       error
	trouble   bool          // the origin's, and not the page's
	wait      time.Duration // what the origin asks for, if that is beyond our patience
}

// movedError ends a fetch that redirects: where to is fetched by itself, if at all.
type movedError struct{ to *url.URL }

func (e *movedError) Error() string { return "to " + page.Mask(e.to) }

// stay follows no redirect.
func stay(next *url.URL) error { return &movedError{next} }

// get gets a URL: when robots.txt allows, when it is its turn, and again after a while when the origin is in trouble.
func (r *run) get(ctx context.Context, it item) result {
	u, err := page.Parse(it.URL)
	if err != nil {
		return result{outcome: Failed, err: err}
	}
	host := page.Authority(u)
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
		if err := r.pacer.wait(ctx, host, v.Delay); err != nil {
			return result{outcome: Failed, err: err}
		}
		ans, err := r.Fetcher.Page(ctx, fetch.Request{
			URL: u, Own: true, Force: r.o.Refresh || try > 1, NoRemote: true, NoVisit: true, Links: true, Follow: stay,
			View: r.o.View, Render: r.o.Render, Source: r.o.Source, Trimmed: r.o.Trimmed,
		})
		if err == nil {
			if ans.Page != nil && ans.Page.Source == page.Alternate {
				r.pacer.charge(host, v.Delay) // its markdown twin was asked for, too
			}
			return arrived(it.URL, ans)
		}
		if moved, ok := errors.AsType[*movedError](err); ok {
			return result{outcome: Moved, moved: moved.to, err: fmt.Errorf("it redirects %w", moved)}
		}
		e, trouble := originTrouble(err)
		got := result{outcome: Failed, err: err, trouble: trouble}
		if !trouble || ctx.Err() != nil {
			return got
		}
		wait := max(e.RetryAfter, firstBackoff<<(try-1))
		if wait > patience {
			got.wait = wait
			return got
		}
		if try == maxTries {
			return got
		}
		r.pacer.pause(host, wait)
	}
}

// originTrouble reports whether an error is the origin's trouble, which passes, and not that of one page.
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

// arrived judges an answer.
func arrived(raw string, ans *fetch.Answer) result {
	p, err := pageOf(raw, ans)
	if _, none := errors.AsType[noPageError](err); none {
		return result{outcome: Skipped, err: err}
	}
	if err != nil {
		return result{outcome: Failed, err: err}
	}
	return result{outcome: Added, page: p, links: ans.Links, canonical: ans.Page.CanonicalURL}
}

// noPageError says that what came is no page.
type noPageError struct{ mediaType string }

func (e noPageError) Error() string { return "it is no page but " + e.mediaType }

func noPage(contentType string) error {
	mediaType, _, _ := strings.Cut(contentType, ";")
	if mediaType = strings.TrimSpace(mediaType); mediaType == "" {
		mediaType = "of no media type"
	}
	return noPageError{mediaType}
}

// pageOf makes a page of an answer, if that is one worth keeping (AD6).
func pageOf(raw string, ans *fetch.Answer) (*Page, error) {
	if ans.Page == nil {
		ans.Response.Body.Close()
		return nil, noPage(ans.Header.Get("Content-Type"))
	}
	for _, w := range ans.Page.Warnings {
		switch w {
		case "binary", "scanned", "encrypted":
			return nil, noPage(ans.Page.ContentType)
		case "bot-wall":
			return nil, errors.New("it is a bot wall")
		case "soft-404":
			return nil, errors.New("it says that there is no such page")
		}
	}
	_, content := page.SplitFrontMatter(ans.Body)
	if len(strings.TrimSpace(string(content))) == 0 {
		return nil, errors.New("it holds no text")
	}
	return &Page{
		URL: raw, Title: ans.Page.Title, Markdown: string(content), Metadata: ans.Page.Meta, Hash: ans.Page.ContentHash,
		Page:  ans.Page,
		Links: ans.Links, Source: ans.Source, Trimmed: ans.Trimmed,
	}, nil
}
