package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// fileRedirects is the maximal number of redirects to a file (RFC 9309 §2.3.1.2 requires at least five).
const fileRedirects = 5

// File is a file that is not a page, such as a sitemap.
type File struct {
	URL  *url.URL      // after redirects
	Type string        // its media type, in lower case; may be empty
	Body io.ReadCloser // without content coding; its length is not limited
}

// File fetches a file through the cache, under the policy for own fetches, without making a page of it. The error is an
// [*Error]; any status but 200 is an error. The caller closes the body, and cancels ctx to stop reading.
func (f *Fetcher) File(ctx context.Context, u *url.URL) (*File, error) {
	f = f.newest.Load()
	if _, err := page.Parse(u.String()); err != nil {
		return nil, &Error{Kind: KindUnsupported, URL: page.Mask(u), Type: "http_request_error", Cause: err}
	}
	if err := f.Blocked(u); err != nil {
		return nil, err
	}
	resp, at, err := f.getFile(transport.OwnPolicy(ctx), u, "*/*", nil)
	if err != nil {
		return nil, Explain(u, err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, &Error{Kind: KindHTTP, URL: page.Mask(at), Status: resp.StatusCode}
	}
	return &File{URL: at, Type: page.MediaType(resp.Header.Get("Content-Type")), Body: resp.Body}, nil
}

// getFile requests a file that is not a page, through the cache and under the policy of ctx, and follows redirects. It
// returns the response and its final URL. The body is decoded if the status is a success. If there are too many
// redirects, it returns the last redirect response. The caller closes the body.
func (f *Fetcher) getFile(ctx context.Context, u *url.URL, accept string,
	h http.Header,
) (resp *http.Response, at *url.URL, err error) {
	ask := Request{Own: true, Method: http.MethodGet, Header: h}
	for hop := 0; ; hop++ {
		resp, err := f.o.Client.RoundTrip(f.request(ctx, ask, u, accept))
		if err != nil {
			return nil, nil, err
		}
		next, redirected := transport.Location(u, resp)
		if !redirected || hop == fileRedirects || !fetchable(next) {
			if resp.StatusCode/100 != 2 { // some say gzip of an error that is not: its status counts all the same
				return resp, u, nil
			}
			return resp, u, media.DecodeBody(resp)
		}
		transport.Discard(resp)
		if err := f.Blocked(next); err != nil {
			return nil, nil, err
		}
		u = next
	}
}

// Ask asks for a file, or another answer, that is neither page nor stored: it sends an own request past the cache, and
// returns status, header and decoded content of the response, of at most limit bytes. It follows no redirect.
func (f *Fetcher) Ask(req *http.Request, limit int64) (status int, h http.Header, content []byte, err error) {
	f = f.newest.Load()
	if err := f.Blocked(req.URL); err != nil {
		return 0, nil, nil, err
	}
	if f.o.UserAgent != "" {
		req.Header.Set("User-Agent", f.o.UserAgent)
	}
	resp, err := f.o.Direct.RoundTrip(req.WithContext(transport.OwnPolicy(req.Context())))
	if err != nil {
		return 0, nil, nil, Explain(req.URL, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = media.ErrTooLarge
	}
	if err == nil {
		raw, err = media.Decode(raw, resp.Header, limit)
	}
	if err != nil {
		return 0, nil, nil, fmt.Errorf("read %s: %w", page.Mask(req.URL), err)
	}
	return resp.StatusCode, resp.Header, raw, nil
}
