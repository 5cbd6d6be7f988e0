package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/cause"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Page gets a page for a client that wants markdown. The error is always an [*Error]. When the answer is the origin's
// response (Answer.Response), the caller closes its body; the time limit for pages does not hold for it.
func (f *Fetcher) Page(ctx context.Context, r Request) (*Answer, error) {
	f = f.newest.Load()
	at := f.addressOf(r.URL)
	if err := at.refusal(r.URL); err != nil {
		return nil, err
	}
	if e := f.failedBefore(r); e != nil {
		return nil, e
	}
	client := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	if r.Own {
		ctx = transport.OwnPolicy(ctx)
	}
	a := f.newAttempt(r, at, time.Now())
	limit := f.limit(&r)
	if a.target != nil {
		limit += github.Timeout // and then there is time for the page itself
	}
	patience := cause.NewPatience(r.Patient)
	timer := time.AfterFunc(limit, fault.Contain("fetch: end the time of a page", func() {
		if !patience.Tested() {
			cancel(errTimeout)
		}
	}))
	ans, err := f.obtain(ctx, a, patience)
	timer.Stop()
	if err == nil && ans.Response != nil {
		if err = context.Cause(ctx); err == nil {
			ans.Response.Body = media.Ending(ans.Response.Body, func() { cancel(nil) })
			return ans, nil
		}
	}
	if a.resp != nil {
		a.resp.Body.Close()
	}
	if err != nil && a.headOnly && errors.Is(err, store.ErrNotFound) {
		cancel(nil)
		r.whole = true // now the cache finds that the content is lost, and asks the origin
		return f.Page(client, r)
	}
	if err != nil {
		e := f.noteFailure(ctx, a, err, client.Err() != nil)
		cancel(nil)
		return nil, e
	}
	cancel(nil)
	f.forgetFailures(a.req)
	if ans.Page != nil && !r.Unattended {
		if p, unwanted := a.unwanted(ans.Page.Preferences); unwanted {
			// others may get the page: no failure to note
			return nil, &Error{
				Kind: KindBlocked, URL: page.Mask(a.url), Type: "http_request_denied", Cause: &UnwantedError{p},
			}
		}
	}
	return ans, nil
}

// obtain asks the forge or the origin of an attempt, for its page, and answers with what comes.
func (f *Fetcher) obtain(ctx context.Context, a *attempt, patience *cause.Patience) (*Answer, error) {
	if a.target != nil {
		if ans, err := f.fromGitHub(ctx, a); ans != nil || err != nil {
			return ans, err
		}
	}
	ask := f.ask
	if a.req.Method == http.MethodHead {
		ask = f.askHead
	}
	err := ask(ctx, a)
	late := patience.End()
	if err != nil {
		return nil, err
	}
	if !a.req.Own {
		f.noteGone(a, a.status) // of an own fetch it is a failure
	}
	switch {
	case late:
		return f.answerAsIs(a, markIf(a.kind != media.Opaque, "late"))
	case a.noTransform && !a.req.Own:
		return f.answerAsIs(a, markIf(a.kind != media.Opaque, "no-transform"))
	case a.req.Own && (a.status < 200 || a.status > 299):
		return f.answerRefused(ctx, a)
	case a.kind == media.Opaque && a.readAsPage():
		return f.answerCleaned(a, "")
	case a.kind == media.Opaque:
		return f.answerAsIs(a, "")
	}
	return f.convertible(ctx, a)
}

// limit returns how long a page may take that is asked for.
func (f *Fetcher) limit(r *Request) time.Duration { return cmp.Or(r.Timeout, f.o.Timeout) }

// Head makes a round trip for a client that gets a page as the origin's bytes. The head must arrive within the time
// limit of pages. The body has no limit.
func (f *Fetcher) Head(req *http.Request, client http.RoundTripper) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(f.o.Timeout, func() { cancel(errTimeout) })
	resp, err := client.RoundTrip(req.WithContext(ctx))
	if !timer.Stop() && err == nil {
		resp.Body.Close()
		err = errTimeout
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), errTimeout) && !errors.Is(err, errTimeout) {
			err = fmt.Errorf("%w: %w", errTimeout, err)
		}
		cancel(nil)
		return nil, err
	}
	return resp, nil // ctx ends with the client's request
}

// convertible answers a response that we may turn into a page: from a stored rendition, or by the steps.
func (f *Fetcher) convertible(ctx context.Context, a *attempt) (*Answer, error) {
	if a.hasSum && a.kind.Converted() && a.status == http.StatusOK && a.recalls() && f.recall(a) {
		f.preferComplete(a)
		if ans, err := f.refuseUnreadable(a); ans != nil || err != nil {
			return ans, err
		}
		f.known(a)                                              // answer needs it, further from the request
		if a.req.origins() && a.req.Method != http.MethodHead { // it is not in the rendition
			if err := a.read(f.o.MaxBody); err != nil {
				return nil, err
			}
		}
		if err := f.applyView(ctx, a); err != nil {
			return nil, err
		}
		ans := f.answer(a, true)
		ans.Repeat = f.repeatPage(a)
		return ans, nil
	}
	if a.req.Method == http.MethodHead && (a.kind.Converted() || !a.hasSum) {
		return f.headUnknown(a), nil
	}
	if ans, err := f.readOrPass(a); ans != nil || err != nil {
		return ans, err
	}
	if err := f.runSuitableSteps(ctx, a); err != nil {
		return nil, err
	}
	f.preferComplete(a)
	if ans, err := f.refuseUnreadable(a); ans != nil || err != nil {
		return ans, err
	}
	switch {
	case a.best != nil:
		if err := f.applyView(ctx, a); err != nil {
			return nil, err
		}
		return f.answer(a, false), nil
	case errors.Is(a.failure, convert.ErrTooLarge) && a.kind == media.HTML:
		return f.answerAsIs(a, "too-large")
	case errors.Is(a.failure, convert.ErrTooLarge):
		return f.answerCleaned(a, "too-large")
	case a.kind == media.Markdown || a.kind == media.Text:
		return f.answerCleaned(a, "unconverted")
	}
	return f.answerAsIs(a, "unconverted")
}

// copyRead returns when the copy of the attempt's page that is stored was read; the zero time if none is.
func (f *Fetcher) copyRead(a *attempt) time.Time {
	if known := f.known(a); known.ContentHash != "" {
		return known.FetchedAt
	}
	return time.Time{}
}

// deleteResponses deletes the cache's stored responses for the page: the lifetime of pages must not keep a bot wall
// fresh (AD6).
func (f *Fetcher) deleteResponses(a *attempt) {
	if _, err := f.o.Store.DeleteResponses(a.at.uri); err != nil {
		f.o.Log.Warn("stored responses not deleted", "url", page.Mask(a.url), "err", err)
	}
}

// askHead gets the answer to HEAD for a page from what is stored where it can, for then the rendition is known; else
// from the origin.
func (f *Fetcher) askHead(ctx context.Context, a *attempt) error {
	if stored, err := f.o.Store.Responses(a.at.uri); err == nil && len(stored) > 0 {
		probe := *a
		probe.req.Method = http.MethodGet
		if probe.req.Header = a.req.Header.Clone(); probe.req.Header == nil {
			probe.req.Header = http.Header{}
		}
		probe.req.Header.Add("Cache-Control", "only-if-cached")
		if err := f.ask(ctx, &probe); err == nil {
			if probe.status == http.StatusOK && probe.hasSum && probe.kind != media.Opaque {
				probe.req = a.req
				*a = probe
				return nil
			}
			probe.resp.Body.Close()
		}
	}
	return f.ask(ctx, a)
}
