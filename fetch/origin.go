package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// What is asked of origins (RFC 9110 §12.5.1). Never markdown alone: a strict origin would answer 406, and its HTML is
// needed then anyway.
const (
	acceptMarkdown = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.1"
	// for what is to be read in HTML.
	acceptHTML = "text/html, application/xhtml+xml;q=0.9, text/markdown;q=0.5, */*;q=0.1"
	// after a 406, and for pages and hosts whose markdown was rejected.
	acceptNoMD = "text/html, application/xhtml+xml;q=0.9, */*;q=0.1"
)

// maxRedirects is how many redirects an own fetch follows.
const maxRedirects = 10

// accept returns the Accept that the origin of an attempt is sent: by what was learnt of the host, and by what the
// request needs of the HTML.
func (f *Fetcher) accept(a *attempt) string {
	switch {
	case a.host.Knows(store.StrictAccept, a.started) || f.prefersHTML(a):
		return acceptNoMD
	case a.req.HTML || a.req.Source || a.req.Trimmed || a.req.View.chooses():
		return acceptHTML
	}
	return acceptMarkdown
}

// RequestFor returns the request that an own fetch of u would send to the cache and its origin now.
func (f *Fetcher) RequestFor(ctx context.Context, u *url.URL) *http.Request {
	f = f.newest.Load()
	a := f.newAttempt(Request{URL: u, Own: true}, f.addressOf(u), time.Now())
	a.host, _ = f.o.Store.Host(u.Hostname()) // it never fails
	return f.request(transport.OwnPolicy(ctx), a.req, a.url, f.accept(a))
}

// ask gets the origin's response, through the cache: one request for a proxied page, with redirects followed for our
// own, and a second one without text/markdown when the origin answers 406.
func (f *Fetcher) ask(ctx context.Context, a *attempt) error {
	for hop := 0; ; hop++ {
		a.found = f.lookup(a)
		a.host, a.headOnly = a.found.Host, a.found.HeadOnly
		accept := f.accept(a)
		resp, err := f.o.Client.RoundTrip(f.request(cache.WithFound(ctx, a.found), a.req, a.url, accept))
		if err != nil {
			return err
		}
		if resp.StatusCode == http.StatusNotAcceptable && accept != acceptNoMD {
			accept = acceptNoMD
			resp = f.askAgain(a, f.request(ctx, a.req, a.url, accept), resp)
		}
		if resp, err = f.askWhole(ctx, a, accept, resp); err != nil { //nolint:bodyclose // the attempt's is closed
			return err
		}
		next, redirected := transport.Location(a.url, resp)
		if !a.req.Own || !redirected {
			f.look(a, resp)
			if a.page.Info.FetchMS = time.Since(a.started).Milliseconds(); a.outcome.Status != 0 {
				f.observe("origin", a.started)
			}
			return nil
		}
		transport.Discard(resp)
		a.moved = a.moved || resp.StatusCode != http.StatusMovedPermanently &&
			resp.StatusCode != http.StatusPermanentRedirect || page.Authority(next) != page.Authority(a.url)
		if hop == maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if err := f.follow(a, next); err != nil {
			return err
		}
	}
}

// lookup reads, before the origin is asked, what the store has for a request at once: stored responses, the host, the
// page and its renditions. The cache answers from it, and a page that is a hit needs no more.
func (f *Fetcher) lookup(a *attempt) *store.Found {
	q := store.Query{URI: a.at.uri, Host: a.url.Hostname(), Page: a.root}
	if a.recalls() {
		q.Recipes = func(r *store.Response) (ofPage, ofBody string) {
			if !media.Classify(a.req.Own, r.Status, r.Header).Converted() {
				return "", "" // it is no page: none is kept
			}
			ofBody = a.recipeFor(a.wanted, r.Header)
			return a.madeFrom(ofBody, r.Body), ofBody
		}
	}
	found := f.o.Store.Lookup(q)
	found.HeadOnly = (found.OfPage != nil || found.OfBody != nil) && !a.req.origins() && !a.req.whole
	return found
}

// askAgain sends a second request to the origin after a 406. It returns the first response when that helps nothing, and
// learns it of the host when it does, unless some page of the host is known to be markdown.
func (f *Fetcher) askAgain(a *attempt, req *http.Request, first *http.Response) *http.Response {
	again, err := f.o.Client.RoundTrip(req)
	if err != nil {
		return first
	}
	if again.StatusCode == http.StatusNotAcceptable {
		again.Body.Close()
		return first
	}
	first.Body.Close()
	cache.OutcomeOf(first).Precede(again)
	if again.StatusCode < 400 && !a.host.Knows(store.Negotiates, a.started) {
		f.learn(a, store.StrictAccept)
	}
	return again
}

// askHTML asks the origin once more, for the HTML of a page whose markdown was not taken, and puts it in the place of
// that. It reports whether there is HTML now; the markdown stays in hand when there is not.
func (f *Fetcher) askHTML(ctx context.Context, a *attempt) bool {
	if a.req.Own {
		ctx = transport.OwnPolicy(ctx)
	}
	// Without a word of markdown: an origin that looks for the name and not for weights would send it again.
	resp, err := f.o.Client.RoundTrip(f.request(ctx, a.req, a.url, acceptNoMD))
	if err != nil {
		return false
	}
	body := resp.Body
	defer body.Close()
	b := *a
	b.response = response{noTransform: a.noTransform}
	f.look(&b, resp)
	if b.kind != media.HTML || b.status != http.StatusOK || b.read(f.o.MaxBody) != nil ||
		convert.Wall(b.status, resp.Header, b.content) != "" {
		return false
	}
	head := *resp
	head.Body = a.resp.Body // to be closed; all of the new one is in hand
	b.resp = &head
	a.response, a.private, a.memorable = b.response, b.private, b.memorable
	return true
}

// request returns the request for a URL to send to its origin: the client's fields, or ours, and the Accept that we
// want. It asks only for content codings that the client accepts, because a response that is not a page passes to the
// client unchanged.
func (f *Fetcher) request(ctx context.Context, r Request, to *url.URL, accept string) *http.Request {
	h := http.Header{}
	maps.Copy(h, r.Header.Clone())
	h.Set("Accept", accept)
	httpfield.RemoveOurTags(h)
	if r.Own {
		if h.Get("User-Agent") == "" && f.o.UserAgent != "" {
			h.Set("User-Agent", f.o.UserAgent)
		}
		if h.Get("Accept-Encoding") == "" {
			h.Set("Accept-Encoding", "gzip")
		}
	}
	if r.Force && !httpfield.Directive(h, "no-cache") {
		h.Add("Cache-Control", "no-cache")
	}
	if r.CacheOnly {
		h.Add("Cache-Control", "only-if-cached")
	}
	u := *to
	if u.User != nil {
		password, _ := u.User.Password()
		req := http.Request{Header: h}
		if h.Get("Authorization") == "" {
			req.SetBasicAuth(u.User.Username(), password)
		}
		u.User = nil
	}
	method := cmp.Or(r.Method, http.MethodGet)
	req := &http.Request{
		Method: method, URL: page.WithoutFragment(&u), Host: u.Host, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return req.WithContext(ctx)
}

// fetchable reports whether u, to which an origin redirects or a frame points, is an http or https URL with a host.
func fetchable(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// unfollowedError is a caller's refusal of a redirect (Request.Follow): it says nothing of the page.
type unfollowedError struct{ cause error }

// Error says that a redirect of the origin was not followed.
func (e *unfollowedError) Error() string { return "it redirects: " + e.cause.Error() }

// Unwrap returns why the redirect was not followed.
func (e *unfollowedError) Unwrap() error { return e.cause }

// follow moves an own fetch to where its origin redirected it. What the new URL says about the page holds from then on.
func (f *Fetcher) follow(a *attempt, next *url.URL) error {
	if !fetchable(next) {
		return &Error{
			Kind: KindUnsupported, URL: page.Mask(a.req.URL), Type: "http_protocol_error",
			Cause: errors.New("it redirects to what is not an http or https URL: " + page.Mask(next)),
		}
	}
	at := f.addressOf(next)
	if err := refused(next, at.blocked); err != nil {
		return err
	}
	if a.req.Follow != nil {
		if err := a.req.Follow(next); err != nil {
			return &Error{
				Kind: KindBlocked, URL: page.Mask(a.req.URL), Type: "http_request_denied",
				Cause: &unfollowedError{err},
			}
		}
	}
	if a.url.Scheme == "https" && next.Scheme == "http" {
		a.warn("insecure-redirect")
		a.memorable, a.everybody = false, false
	}
	// Nothing of what a secret in the URL leads to may be kept, nor told to others.
	if at.secret {
		a.credentials, a.memorable, a.everybody = true, false, false
	}
	a.url, a.at = next, at
	return nil
}

// askWhole returns the origin's whole response to a request for a page, in place of first. A client that wants markdown
// has conditions and ranges of the rendition, and those of the HTML say nothing about it: bytes of the two must never
// be joined. For what is not a page first is the answer.
func (f *Fetcher) askWhole(ctx context.Context, a *attempt, accept string, first *http.Response) (
	*http.Response, error,
) {
	switch first.StatusCode {
	case http.StatusPartialContent, http.StatusNotModified, http.StatusRequestedRangeNotSatisfiable:
	default:
		return first, nil
	}
	if a.req.Own || !f.partOfPage(ctx, a, accept, first) {
		return first, nil
	}
	first.Body.Close()
	whole, err := f.o.Client.RoundTrip(f.wholeRequest(ctx, a, accept))
	if err != nil {
		return nil, err
	}
	cache.OutcomeOf(first).Precede(whole)
	return whole, nil
}

// wholeRequest returns the request of the attempt to the origin without conditions and ranges.
func (f *Fetcher) wholeRequest(ctx context.Context, a *attempt, accept string) *http.Request {
	req := f.request(ctx, a.req, a.url, accept)
	for _, name := range []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since"} {
		req.Header.Del(name)
	}
	return req
}

// partOfPage reports whether first, a 206, 304 or 416 of the origin, is about a page that we would convert. If neither
// first nor the store tells, it sends a HEAD.
func (f *Fetcher) partOfPage(ctx context.Context, a *attempt, accept string, first *http.Response) bool {
	h := first.Header
	if httpfield.Directive(a.req.Header, "no-transform") || httpfield.Directive(h, "no-transform") {
		return false
	}
	if first.StatusCode == http.StatusPartialContent && !strings.HasPrefix(media.Type(h), "multipart/") {
		_, total, _ := strings.Cut(h.Get("Content-Range"), "/")
		if size, err := strconv.ParseInt(total, 10, 64); err == nil && size > f.o.MaxBody {
			return false // too large for a rendition
		}
		return becomesMarkdown(h)
	}
	if a.found != nil {
		for _, r := range a.found.Responses {
			if r.Status == http.StatusOK || r.Status == http.StatusPartialContent {
				return becomesMarkdown(r.Header)
			}
		}
	}
	req := f.wholeRequest(ctx, a, accept)
	req.Method = http.MethodHead
	head, err := f.o.Client.RoundTrip(req)
	if err != nil {
		return false
	}
	head.Body.Close()
	return head.StatusCode == http.StatusOK && becomesMarkdown(head.Header)
}

// becomesMarkdown reports whether an origin's content with these fields becomes markdown for clients of the proxy.
func becomesMarkdown(h http.Header) bool {
	return page.IsPage(h.Get("Content-Type")) && !httpfield.Directive(h, "no-transform")
}
