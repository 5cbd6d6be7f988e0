package fetch

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
)

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

// wholeRequest returns the request of the attempt without conditions and ranges.
func (f *Fetcher) wholeRequest(ctx context.Context, a *attempt, accept string) *http.Request {
	req := f.request(ctx, a.req, a.url, accept)
	for _, name := range []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since"} {
		req.Header.Del(name)
	}
	return req
}

// partOfPage reports whether first, a 206, 304 or 416, is about a page that we would convert. If neither first nor the
// store tells, it sends a HEAD.
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

// becomesMarkdown reports whether content with these fields becomes markdown for clients of the proxy.
func becomesMarkdown(h http.Header) bool {
	return page.IsPage(h.Get("Content-Type")) && !httpfield.Directive(h, "no-transform")
}
