package fetch

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch/cause"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
)

// Kinds of an [Error], as in the page object.
const (
	KindBlocked     = cause.Blocked
	KindTimeout     = cause.Timeout
	KindHTTP        = cause.HTTP
	KindConnect     = cause.Connect
	KindTLS         = cause.TLS
	KindTooLarge    = cause.TooLarge
	KindUnsupported = cause.Unsupported
	KindOffline     = cause.Offline
)

// Error describes why a fetch failed. Its text is one plain sentence.
type Error struct {
	Kind   string // one of the Kind constants
	URL    string // secrets masked
	Status int    // KindHTTP: the origin's status
	Type   string // error type for Proxy-Status (RFC 9209 §2.3): dns_error, connection_refused …; empty for KindHTTP
	Cause  error  // with a readable text; nil if Kind is sufficient
	advice string // what to do about it; empty if nothing is known

	outcome cache.Outcome // KindHTTP: the cache's
	again   bool          // it is that of an earlier request, and the origin was not asked

	Payment    []page.Payment // KindHTTP: how the origin offers to be paid for the page
	RetryAfter time.Duration  // KindHTTP: the delay that the origin asks for, at most a week; 0: none
}

func (e *Error) Error() string {
	message, _ := e.say()
	return message
}

// say returns the text of the error, and why it is without the URL.
func (e *Error) say() (message, reason string) {
	switch e.Kind {
	case KindTimeout:
		message, reason = "Timeout fetching "+e.URL, "Timeout"
	case KindHTTP:
		reason = "HTTP " + strconv.Itoa(e.Status)
		message = reason + " fetching " + e.URL
		if len(e.Payment) > 0 {
			asks := ": its origin asks for payment: " + e.Payment[0].String() + "; nothing was paid"
			message, reason = message+asks, reason+asks
		}
	case KindBlocked:
		message, reason = "Blocked: "+e.URL+": "+e.cause(), "Blocked: "+e.cause()
	case KindTooLarge:
		message, reason = "Too large: "+e.URL+": "+e.cause(), "Too large: "+e.cause()
	case KindOffline:
		const state = " is not stored, and readthru asks no origin while it is offline"
		message, reason = "Offline: "+e.URL+state, "Offline: it"+state
	case KindUnsupported:
		message, reason = "Cannot fetch "+e.URL+": "+e.cause(), e.cause()
	default:
		message, reason = "Connection error fetching "+e.URL+": "+e.cause(), e.cause()
	}
	if e.advice != "" {
		message, reason = message+" ("+e.advice+")", reason+" ("+e.advice+")"
	}
	return message, reason
}

func (e *Error) cause() string {
	if e.Cause == nil {
		return "no cause given"
	}
	return e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// HTTPStatus returns the status for the response that reports the error: 403 for KindBlocked, 504 for KindTimeout and
// KindOffline, the origin's status for KindHTTP, and otherwise 502.
func (e *Error) HTTPStatus() int {
	switch e.Kind {
	case KindBlocked:
		return http.StatusForbidden
	case KindTimeout, KindOffline:
		return http.StatusGatewayTimeout
	case KindHTTP:
		if e.Status >= 400 && e.Status <= 599 {
			return e.Status
		}
	}
	return http.StatusBadGateway
}

// Page returns the error in the form that a page has it in.
func (e *Error) Page() *page.Error {
	message, reason := e.say()
	return &page.Error{Kind: e.Kind, Message: message, Reason: reason, Status: e.Status, Payment: e.Payment}
}

// plainError is a cause with a readable text. It wraps the original error for errors.Is and errors.As.
type plainError struct {
	text string
	err  error
}

func (p *plainError) Error() string { return p.text }
func (p *plainError) Unwrap() error { return p.err }

// errTimeout is the cancellation cause of a page that took too long.
var errTimeout = cause.ErrTimeout

// Explain converts an error of a round trip, or of reading a body, to an [*Error]. u may be nil.
func Explain(u *url.URL, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	c := cause.Of(err)
	e := &Error{Kind: c.Kind, Type: c.Type, Cause: err, advice: c.Advice}
	if u != nil {
		e.URL = page.Mask(u)
	}
	if c.Text != "" {
		e.Cause = &plainError{c.Text, err}
	}
	return e
}

// Untrusted reports whether an error of a round trip means that TLS with the origin failed, so that nobody knows who
// answered.
func Untrusted(err error) bool { return Explain(nil, err).Kind == KindTLS }

// maxRetryAfter is the longest delay accepted from a response.
const maxRetryAfter = 7 * 24 * time.Hour

// retryAfter returns the delay that a response with status 429 or 5xx asks for, at most maxRetryAfter, or 0 if it asks
// for none.
func retryAfter(resp *http.Response, now time.Time) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < 500 {
		return 0
	}
	wait, _ := httpfield.RetryAfter(resp.Header, now, maxRetryAfter)
	return wait
}
