package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch/cause"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
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

	outcome cache.Outcome // KindHTTP, and the cause convert.UnreadableError: the cache's
	fetchMS int64         // likewise, how long the origin took, and the bytes of its answer
	bytes   int64
	again   bool // it is that of an earlier request, and the origin was not asked

	Payment    []page.Payment // KindHTTP: how the origin offers to be paid for the page
	RetryAfter time.Duration  // KindHTTP: the delay that the origin asks for, at most a week; 0: none
}

// Error returns the text of the error with the URL whose fetch failed.
func (e *Error) Error() string {
	message, _ := e.say()
	return message
}

// say returns the text of the error, and the same without the URL, for lists that show that beside it.
func (e *Error) say() (message, reason string) {
	switch e.Kind {
	case KindTimeout:
		message, reason = "Timeout fetching "+e.URL, "Timeout"
	case KindHTTP:
		reason = "HTTP " + strconv.Itoa(e.Status)
		message = reason + " fetching " + e.URL
		if e.Status == http.StatusPaymentRequired {
			asks := ": its origin asks for payment, in no form that is known; nothing was paid"
			if len(e.Payment) > 0 {
				asks = ": its origin asks for payment: " + e.Payment[0].String() + "; nothing was paid"
			}
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

// cause returns the text of what caused the error.
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

// plainError is a cause of a failed fetch with a readable text. It wraps the original error for errors.Is and
// errors.As.
type plainError struct {
	text string
	err  error
}

// Error returns the readable text.
func (p *plainError) Error() string { return p.text }

// Unwrap returns the original error.
func (p *plainError) Unwrap() error { return p.err }

// errTimeout is the cancellation cause of a page that took too long, which tells it from a client that has gone.
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

// maxRetryAfter is the longest delay that is accepted from an origin's response.
const maxRetryAfter = 7 * 24 * time.Hour

// retryAfter returns, for an [Error], the delay that an origin's response with status 429 or 5xx asks for, at most
// maxRetryAfter, or 0 if it asks for none.
func retryAfter(resp *http.Response, now time.Time) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < 500 {
		return 0
	}
	wait, _ := httpfield.RetryAfter(resp.Header, now, maxRetryAfter)
	return wait
}

// failureLifetime is how long a failed fetch of our own is remembered (rule X6, which allows 30 s). A retry within it
// gets the same failure and does not reach the origin, unless a reader has got the page since.
const failureLifetime = 5 * time.Second

// failure is why an own fetch gave nothing, and when that was, for retries within failureLifetime.
type failure struct {
	err *Error
	at  time.Time
}

// failureKey names own fetches that fail alike, for the errors that are remembered: of one URL by one method, with the
// same third parties allowed.
func (r Request) failureKey() string {
	return digest(fmt.Sprintf("%s %t %s", cmp.Or(r.Method, http.MethodGet), r.NoRemote, r.URL))
}

// failedBefore returns the error with which the same own fetch failed a moment ago; nil if it did not. A forced fetch
// asks the origin in any case.
func (f *Fetcher) failedBefore(r Request) *Error {
	if !r.Own || r.Force || r.CacheOnly || httpfield.HasCredentials(r.Header) {
		return nil
	}
	if e, ok := f.failed.Get(r.failureKey()); ok && time.Since(e.at) < failureLifetime {
		again := *e.err
		again.again = true
		return &again
	}
	return nil
}

// forgetFailures forgets the errors of own fetches of a page, since somebody has got it.
func (f *Fetcher) forgetFailures(r Request) {
	if f.failed.Len() == 0 { // as nearly always
		return
	}
	r.Method = http.MethodGet
	for _, r.NoRemote = range []bool{false, true} {
		f.failed.Remove(r.failureKey())
	}
}

// noteFailure returns the error of a page that was not obtained. It notes the error with the page, and for a retry,
// unless the failure is the caller's own.
func (f *Fetcher) noteFailure(ctx context.Context, a *attempt, err error, clientLeft bool) *Error {
	if errors.Is(context.Cause(ctx), errTimeout) {
		err = fmt.Errorf("%w: %w", errTimeout, err)
	}
	e := Explain(a.url, err)
	_, caller := errors.AsType[*unfollowedError](err)
	// that a client left, that nobody may be asked or that a file is bad says nothing of how the origin answers
	if caller || a.req.CacheOnly || clientLeft || e.Kind == KindOffline ||
		e.Kind == KindUnsupported {
		return e
	}
	if a.req.Own && meetsAll(a, e) {
		f.failed.Add(a.req.failureKey(), failure{e, time.Now()})
	}
	if a.memorable && !page.Gone(e.Status) {
		f.notePageError(a, e)
	}
	f.noteGone(a, e.Status)
	return e
}

// meetsAll reports whether an error is one that the next reader would meet, too. One with credentials, with less time
// or who wants nothing kept may have met it alone, and for how long an origin's answer holds is the cache's to say.
func meetsAll(a *attempt, e *Error) bool {
	busy := e.Status == 0 || e.Status >= 500 || e.Status == http.StatusTooManyRequests
	return busy && !httpfield.HasCredentials(a.req.Header) && !httpfield.Directive(a.req.Header, "no-store") &&
		(a.req.Timeout == 0 || e.Kind != KindTimeout)
}

// noteGone notes as the error of a page that its origin calls it gone, which takes it out of search (rule X6). A
// response that may not be kept says so, too, if its request was one that everybody may make. A HEAD is not trusted:
// some origins know only GET.
func (f *Fetcher) noteGone(a *attempt, status int) {
	if page.Gone(status) && a.everybody && a.req.Method != http.MethodHead {
		f.notePageError(a, &Error{Kind: KindHTTP, URL: page.Mask(a.url), Status: status})
	}
}

// notePageError sets the error of a page on its record in the store, if it has one.
func (f *Fetcher) notePageError(a *attempt, e *Error) {
	if err := f.o.Store.PageFailed(a.key, *e.Page()); err != nil && !errors.Is(err, store.ErrNotFound) {
		f.o.Log.Debug("page error not noted", "url", e.URL, "err", err)
	}
}
