package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// failureLifetime is how long a failed fetch of our own is remembered (rule X6, which allows 30 s). A retry within it
// gets the same failure and does not reach the origin, unless a reader has got the page since.
const failureLifetime = 5 * time.Second

// failure is why an own fetch gave nothing, and when that was.
type failure struct {
	err *Error
	at  time.Time
}

// failureKey names what fails alike.
func (r Request) failureKey() string {
	return digest(fmt.Sprintf("%s %t %s", cmp.Or(r.Method, http.MethodGet), r.NoRemote, r.URL))
}

// failedBefore returns why the same own fetch failed a moment ago; nil if it did not.
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

// forgetFailures forgets that own fetches of a page failed.
func (f *Fetcher) forgetFailures(r Request) {
	r.Method = http.MethodGet
	for _, r.NoRemote = range []bool{false, true} {
		f.failed.Remove(r.failureKey())
	}
}

// noteFailure returns the error of a page that was not obtained. It notes the error with the page, and for a retry.
func (f *Fetcher) noteFailure(ctx context.Context, a *attempt, err error, clientLeft bool) *Error {
	if cause := context.Cause(ctx); errors.Is(cause, errTimeout) {
		err = fmt.Errorf("%w: %w", errTimeout, err)
	}
	e := Explain(a.url, err)
	// that a client left, or that nobody may be asked, says nothing of the page
	if _, caller := errors.AsType[*unfollowedError](err); caller || a.req.CacheOnly || clientLeft ||
		e.Kind == KindOffline {
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

// meetsAll reports whether a failure is one that the next reader would meet, too. One with credentials, with less time
// or who wants nothing kept may have met it alone, and for how long an origin's answer holds is the cache's to say.
func meetsAll(a *attempt, e *Error) bool {
	busy := e.Status == 0 || e.Status >= 500 || e.Status == http.StatusTooManyRequests
	return busy && !httpfield.HasCredentials(a.req.Header) && !httpfield.Directive(a.req.Header, "no-store") &&
		(a.req.Timeout == 0 || e.Kind != KindTimeout)
}

// noteGone notes with a page that its origin calls it gone, which takes it out of search (rule X6). A response that may
// not be kept says so, too, if its request was one that everybody may make. A HEAD is not trusted: some origins know
// only GET.
func (f *Fetcher) noteGone(a *attempt, status int) {
	if page.Gone(status) && a.everybody && a.req.Method != http.MethodHead {
		f.notePageError(a, &Error{Kind: KindHTTP, URL: page.Mask(a.url), Status: status})
	}
}

// notePageError sets the error of a page on its record, if it has one.
func (f *Fetcher) notePageError(a *attempt, e *Error) {
	if err := f.o.Store.PageFailed(a.key, *e.Page()); err != nil && !errors.Is(err, store.ErrNotFound) {
		f.o.Log.Debug("page error not noted", "url", e.URL, "err", err)
	}
}
