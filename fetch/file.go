package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"readthru/page"
)

// fileRedirects is how many redirects are followed to a file (RFC 9309 §2.3.1.2 asks for at least five).
const fileRedirects = 5

// File is a file of a site that is not a page, such as a sitemap.
type File struct {
	URL  *url.URL      // after redirects
	Body io.ReadCloser // without content coding; as long as it comes, so readers set their limit
}

// File fetches a file through the cache, under the policy for own fetches. It does not make a page of it. The error is
// an [*Error], also for a status other than success. The caller closes the body, and ends ctx to stop reading.
func (f *Fetcher) File(ctx context.Context, u *url.URL) (*File, error) {
	if _, err := page.Parse(u.String()); err != nil {
		return nil, &Error{Kind: KindUnsupported, URL: page.Mask(u), Type: "http_request_error", Cause: err}
	}
	if err := f.Blocked(u); err != nil {
		return nil, err
	}
	resp, at, err := f.plainly(OwnPolicy(ctx), u, "*/*", nil)
	if err != nil {
		return nil, Explain(u, err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, &Error{Kind: KindHTTP, URL: page.Mask(at), Status: resp.StatusCode}
	}
	return &File{URL: at, Body: resp.Body}, nil
}

// plainly sends one request for what is no page and follows redirects. The response's body is decoded; at is where it
// came from. One redirect too many is the response.
func (f *Fetcher) plainly(ctx context.Context, u *url.URL, accept string,
	h http.Header,
) (resp *http.Response, at *url.URL, err error) {
	ask := Request{Own: true, Method: http.MethodGet, Header: h}
	for hop := 0; ; hop++ {
		resp, err := f.o.Client.RoundTrip(f.request(ctx, ask, u, accept))
		if err != nil {
			return nil, nil, err
		}
		next, redirected := location(u, resp)
		if !redirected || hop == fileRedirects || next.Scheme != "http" && next.Scheme != "https" || next.Hostname() == "" {
			return resp, u, decoded(resp)
		}
		resp.Body.Close()
		if err := f.Blocked(next); err != nil {
			return nil, nil, err
		}
		u = next
	}
}

// decoded takes the content coding off a response. On an error its body is closed.
func decoded(resp *http.Response) error {
	list := codings(resp.Header)
	if len(list) == 0 {
		return nil
	}
	body := resp.Body
	if len(list) > 1 {
		body.Close()
		return errUnknownCoding
	}
	r, err := decoder(body, list[0])
	if errors.Is(err, io.EOF) { // nothing is no file with a coding
		body.Close()
		resp.Body = http.NoBody
		return nil
	}
	if err != nil {
		body.Close()
		return err
	}
	resp.Body = replay{r, body}
	return nil
}
