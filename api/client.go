package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"readthru/page"
)

// Client asks a running daemon. Its operations are those of [Server].
type Client struct {
	base  string
	token string
	agent string
	http  *http.Client
}

// NewClient returns a Client of the daemon whose admin port is at addr (host:port). An empty token sends none. agent is
// the User-Agent field. The environment's proxy settings are ignored: they may name the daemon itself.
func NewClient(addr, token, agent string) *Client {
	t := &http.Transport{
		DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext, MaxIdleConnsPerHost: 4,
		IdleConnTimeout: 30 * time.Second,
	}
	return &Client{
		base: "http://" + addr, token: token, agent: agent,
		http: &http.Client{Transport: t, CheckRedirect: func(*http.Request,
			[]*http.Request,
		) error {
			return http.ErrUseLastResponse
		}},
	}
}

// Close frees the client's connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Fetch gets a page, as [Server.Fetch] does.
func (c *Client) Fetch(ctx context.Context, r FetchRequest) (*page.Page, error) {
	return c.page(c.do(ctx, http.MethodPost, "/api/v1/fetch", nil, r))
}

// page reads a page object, which comes with a failure's status too.
func (c *Client) page(resp *http.Response, err error) (*page.Page, error) {
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.Header.Get("Content-Type") != "application/json" {
		return nil, refusal(resp)
	}
	p := new(page.Page)
	if err := json.NewDecoder(resp.Body).Decode(p); err != nil {
		return nil, fmt.Errorf("read the daemon's answer: %w", err)
	}
	return p, nil
}

// Pages lists pages.
func (c *Client) Pages(ctx context.Context, q PageQuery) (*PageList, error) {
	return call[PageList](ctx, c, http.MethodGet, "/api/v1/pages",
		values("host", q.Host, "q", q.Text, "sort", q.Sort, "limit", number(q.Limit), "cursor", q.Cursor))
}

// Page returns a page with its content.
func (c *Client) Page(ctx context.Context, ref string) (*page.Page, error) {
	return call[page.Page](ctx, c, http.MethodGet, "/api/v1/pages/"+url.PathEscape(ref), nil)
}

// DeletePage forgets a page.
func (c *Client) DeletePage(ctx context.Context, ref string) error {
	_, err := call[deleted](ctx, c, http.MethodDelete, "/api/v1/pages/"+url.PathEscape(ref), nil)
	return err
}

// Versions lists the contents that a page has had.
func (c *Client) Versions(ctx context.Context, ref string) (*VersionList, error) {
	return call[VersionList](ctx, c, http.MethodGet, "/api/v1/pages/"+url.PathEscape(ref)+"/versions", nil)
}

// Diff compares two versions of a page.
func (c *Client) Diff(ctx context.Context, ref, a, b string) (*Diff, error) {
	return call[Diff](ctx, c, http.MethodGet, "/api/v1/pages/"+url.PathEscape(ref)+"/diff", values("a", a, "b", b))
}

// Changes tells which sections of a page changed.
func (c *Client) Changes(ctx context.Context, ref, since string) (*Changes, error) {
	return call[Changes](ctx, c, http.MethodGet, "/api/v1/pages/"+url.PathEscape(ref)+"/changes", values("since", since))
}

// Robots asks the robots.txt of a URL's site.
func (c *Client) Robots(ctx context.Context, raw string) (*Robots, error) {
	return call[Robots](ctx, c, http.MethodGet, "/api/v1/robots", values("url", raw))
}

// Visits lists deliveries of pages to readers.
func (c *Client) Visits(ctx context.Context, q VisitQuery) (*VisitList, error) {
	return call[VisitList](ctx, c, http.MethodGet, "/api/v1/visits",
		values("url", q.URL, "session", q.Session, "limit", number(q.Limit), "cursor", q.Cursor))
}

// Cached lists the stored responses of a URL.
func (c *Client) Cached(ctx context.Context, raw string) (*CacheEntries, error) {
	return call[CacheEntries](ctx, c, http.MethodGet, "/api/v1/cache", values("url", raw))
}

// Uncache removes stored responses.
func (c *Client) Uncache(ctx context.Context, sel Selection) (*Removed, error) {
	return call[Removed](ctx, c, http.MethodDelete, "/api/v1/cache",
		values("url", sel.URL, "host", sel.Host, "prefix", sel.Prefix, "tag", sel.Tag))
}

// ClearCache removes all stored responses.
func (c *Client) ClearCache(ctx context.Context) (*Removed, error) {
	return call[Removed](ctx, c, http.MethodPost, "/api/v1/cache/clear", nil)
}

// SweepCache removes what is of no more use.
func (c *Client) SweepCache(ctx context.Context) (*Removed, error) {
	return call[Removed](ctx, c, http.MethodPost, "/api/v1/cache/gc", nil)
}

// Disclosures lists what was sent to third parties.
func (c *Client) Disclosures(ctx context.Context, cursor string, limit int) (*DisclosureList, error) {
	return call[DisclosureList](ctx, c, http.MethodGet, "/api/v1/disclosures",
		values("cursor", cursor, "limit", number(limit)))
}

// Stats returns the daemon's figures.
func (c *Client) Stats(ctx context.Context) (*Stats, error) {
	return call[Stats](ctx, c, http.MethodGet, "/api/v1/stats", nil)
}

// Liveness says who answers.
func (c *Client) Liveness(ctx context.Context) (*Liveness, error) {
	return call[Liveness](ctx, c, http.MethodGet, "/healthz", nil)
}

// Readiness tells the state of each part.
func (c *Client) Readiness(ctx context.Context) (*Readiness, error) {
	resp, err := c.do(ctx, http.MethodGet, "/readyz", nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusServiceUnavailable {
		return nil, refusal(resp)
	}
	rd := new(Readiness)
	if err := json.NewDecoder(resp.Body).Decode(rd); err != nil {
		return nil, fmt.Errorf("read the daemon's answer: %w", err)
	}
	return rd, nil
}

// Backup writes a consistent copy of the daemon's store to w.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	return c.download(ctx, "/api/v1/backup", "backup", w)
}

// download writes what stands at a path to w.
func (c *Client) download(ctx context.Context, path, what string, w io.Writer) error {
	resp, err := c.do(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("read the daemon's %s: %w", what, err)
	}
	return nil
}

// call makes a request and reads its JSON answer.
func call[T any](ctx context.Context, c *Client, method, path string, q url.Values, content ...io.Reader) (*T, error) {
	var body any
	if len(content) > 0 {
		body = content[0]
	}
	return read[T](c.do(ctx, method, path, q, body)) //nolint:bodyclose // read closes it
}

// send makes a POST request with a JSON object and reads its JSON answer.
func send[T any](ctx context.Context, c *Client, path string, v any) (*T, error) {
	return read[T](c.do(ctx, http.MethodPost, path, nil, v)) //nolint:bodyclose // read closes it
}

func read[T any](resp *http.Response, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(resp)
	}
	v := new(T)
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		return nil, fmt.Errorf("read the daemon's answer: %w", err)
	}
	return v, nil
}

// do sends a request; body is JSON to be, or an io.Reader of what is not. The caller closes the response.
func (c *Client) do(ctx context.Context, method, path string, q url.Values, body any) (*http.Response, error) {
	var content io.Reader
	kind := "application/json"
	if r, ok := body.(io.Reader); ok {
		content, kind = r, "application/octet-stream"
	} else if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(b)
	}
	target := c.base + path
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.agent)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return nil, fmt.Errorf("ask the daemon at %s: %w", c.base, err)
	}
	return resp, nil
}

// refusal reads a problem document.
func refusal(resp *http.Response) error {
	e := &Error{Status: resp.StatusCode, Title: http.StatusText(resp.StatusCode)}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxRequest)).Decode(e); err != nil || e.Detail == "" {
		e.Detail = "the daemon answered " + resp.Status
	}
	return e
}

// values makes a query of name and value pairs, empty values left out.
func values(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
