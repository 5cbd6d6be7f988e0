// Package markdownnew asks markdown.new, or a service like it, for the markdown of a page.
//
// It knows URLs and bytes only: which pages the service may be asked for is decided before, by package gate, and
// whether its answer is the text of the page is judged after. [Client.Request] is what is sent and [Read] what is
// believed. [Client.Do] joins them, and sends nothing while the service fails or asks for a pause.
package markdownnew

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// Bounds of the requests to the service: how long one may take, and when none is sent.
const (
	timeout      = 15 * time.Second
	fewTrials    = 3           // failures in a row after which nothing is sent
	quiet        = time.Minute // for so long
	longestPause = 7 * 24 * time.Hour
)

// Methods of conversion, as the service names them.
const (
	Auto    = "auto"
	Browser = "browser" // the page needs its scripts
)

// Client asks one service. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	breaker *gobreaker.CircuitBreaker[*Answer]
	pause   atomic.Int64 // Unix time until which the service asked for no requests
}

// New returns a client of the service at an address; if empty, https://markdown.new.
func New(base string) (*Client, error) {
	if base == "" {
		base = "https://markdown.new"
	}
	u, err := page.Parse(base)
	if err != nil {
		return nil, err
	}
	u.Path = strings.TrimRight(u.Path, "/")
	c := &Client{base: u}
	c.breaker = gobreaker.NewCircuitBreaker[*Answer](gobreaker.Settings{
		Name:        "markdown.new",
		Timeout:     quiet,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= fewTrials },
		IsSuccessful: func(err error) bool {
			_, failed := errors.AsType[*ServiceError](err)
			return !failed
		},
	})
	return c, nil
}

// Base returns the address of the service.
func (c *Client) Base() *url.URL { return c.base }

// Paused reports whether the service asked for no requests now, by Retry-After or because today's are used up.
func (c *Client) Paused(now time.Time) bool { return now.Unix() < c.pause.Load() }

// Resting reports whether nothing is sent now, because the service fails or asked for that.
func (c *Client) Resting(now time.Time) bool {
	return c.breaker.State() == gobreaker.StateOpen || c.Paused(now)
}

// ServiceError is a failure of the service itself: it cannot be reached, or answered 429 or 5xx.
type ServiceError struct {
	Status int   // of its answer; 0: there is none
	Err    error // why there is none
}

// Error says how the service failed.
func (e *ServiceError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("markdown.new answered HTTP %d", e.Status)
	}
	return e.Err.Error()
}

// Unwrap returns why the service failed.
func (e *ServiceError) Unwrap() error { return e.Err }

// UnsentError is why no request was sent.
type UnsentError string

// Error says why no request was sent to the service.
func (e UnsentError) Error() string { return string(e) }

// ErrFailing is the error of a request that was not sent because the service fails.
const ErrFailing = UnsentError("the service fails: circuit open")

// UnfitError is why an answer is not the markdown of a page.
type UnfitError string

// Error says why the service's answer is not the markdown of a page.
func (e UnfitError) Error() string { return string(e) }

// An Ask is a page that the service is asked for.
type Ask struct {
	Page   *url.URL // without its fragment
	Method string   // of conversion
	Agent  string   // User-Agent
	Limit  int64    // bytes of the answer
	// Permit is called right before the request is sent. After an error, which Do returns, it is not.
	Permit func() error
}

// Do asks for a page through next. Its error is that of ctx, of Ask.Permit, an [UnsentError], a [*ServiceError] or an
// [UnfitError].
func (c *Client) Do(ctx context.Context, next http.RoundTripper, a Ask) (*Answer, error) {
	ans, err := c.breaker.Execute(func() (*Answer, error) { return c.send(ctx, next, a) })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return nil, ErrFailing
	}
	return ans, err
}

// send sends one request to the service and reads its answer. What is wrong with the service is a ServiceError, which
// the breaker counts; what is wrong with the answer is not.
func (c *Client) send(caller context.Context, next http.RoundTripper, a Ask) (*Answer, error) {
	trouble := func(err error) error {
		if caller.Err() != nil {
			return context.Cause(caller) // the client has gone; the service did not fail
		}
		return &ServiceError{Err: err}
	}
	req, err := c.Request(a.Page.String(), a.Method)
	if err != nil {
		return nil, UnsentError(err.Error())
	}
	req.Header.Set("User-Agent", a.Agent)
	// Last, because the permission is written into the ledger of what was disclosed.
	if err := a.Permit(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(transport.Endpoint(caller, c.base), timeout)
	defer cancel()
	resp, err := next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, trouble(err)
	}
	defer func(body io.Closer) { body.Close() }(resp.Body)
	failed := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500
	c.noteLimits(resp.Header, failed, time.Now())
	switch {
	case failed:
		return nil, &ServiceError{Status: resp.StatusCode}
	case resp.StatusCode != http.StatusOK:
		return nil, UnfitError(fmt.Sprintf("markdown.new answered HTTP %d", resp.StatusCode))
	}
	_, content, err := media.Read(resp, a.Limit)
	if err != nil {
		return nil, trouble(err)
	}
	// The service may have met a wall at the origin, and converted that.
	if convert.Wall(resp.StatusCode, resp.Header, content) != "" {
		return nil, UnfitError("markdown.new returned a bot wall")
	}
	return Read(resp.Header, content)
}

// noteLimits records the limits in a response of the service: Retry-After of one that failed, and the number of
// requests that remain today. Without any left, the pause lasts until the next day begins in UTC.
func (c *Client) noteLimits(h http.Header, failed bool, now time.Time) {
	until := time.Time{}
	if wait, _ := httpfield.RetryAfter(h, now, longestPause); failed && wait > 0 {
		until = now.Add(wait)
	}
	if n, err := strconv.Atoi(h.Get("X-Rate-Limit-Remaining")); err == nil && n <= 0 && until.IsZero() {
		until = now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	if until.After(now) {
		c.pause.Store(until.Unix())
	}
}
