package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/payment"
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
	patience := newPatience(r.Patient)
	timer := time.AfterFunc(limit, fault.Contain("fetch: end the time of a page", func() {
		if !patience.tested() {
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

// obtain asks the forge or the origin of an attempt, and answers with what comes.
func (f *Fetcher) obtain(ctx context.Context, a *attempt, patience *patience) (*Answer, error) {
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
	late := patience.end()
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

// patience says whether the time limit of a page holds while the head of its response is awaited: not for a client that
// may get something else than a page.
type patience struct{ state atomic.Int32 }

// The states of patience.
const (
	patient   = iota // the limit does not hold
	impatient        // it holds
	tried            // it has passed and did not hold
)

// newPatience returns a patience that is or is not there from the beginning.
func newPatience(has bool) *patience {
	p := &patience{}
	if !has {
		p.state.Store(impatient)
	}
	return p
}

// tested is called at the time limit. It reports whether the limit does not hold.
func (p *patience) tested() bool { return p.state.CompareAndSwap(patient, tried) }

// end is called when the head arrives. From then on the limit holds. It reports whether the limit had passed already.
func (p *patience) end() (late bool) {
	return !p.state.CompareAndSwap(patient, impatient) && p.state.Load() == tried
}

// limit returns how long a page may take.
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
		if cause := context.Cause(ctx); errors.Is(cause, errTimeout) && !errors.Is(err, errTimeout) {
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

// recalls reports whether a stored rendition may be the answer.
func (a *attempt) recalls() bool {
	return a.memorable && !a.req.HTML && !a.req.needsBrowser() && !a.headOfView()
}

// headOfView reports whether only the head of what a view shows is asked for, which is not known before it is made.
func (a *attempt) headOfView() bool { return a.req.Method == http.MethodHead && a.req.View != View{} }

// answerRefused handles a status that is no success in an own fetch: an error, unless a third party may be asked and
// has the page.
func (f *Fetcher) answerRefused(ctx context.Context, a *attempt) (*Answer, error) {
	none := &Error{
		Kind: KindHTTP, URL: page.Mask(a.url), Status: a.status, RetryAfter: retryAfter(a.resp, time.Now()),
		outcome: a.outcome, fetchMS: a.page.Info.FetchMS, bytes: a.size(),
	}
	if a.outcome.Unasked() && a.outcome.Detail == cache.DetailOffline {
		none.Kind, none.Type = KindOffline, "destination_unavailable"
	}
	if a.status == http.StatusPaymentRequired {
		_ = a.read(f.o.MaxBody) // without its content, a price in a field is read still
		none.Payment = payment.Of(a.status, a.resp.Header, a.content)
	}
	copied := f.copyRead(a) // now: steps that go on after us read the attempt
	defer func() { none.advice = adviceOf(a, none, copied) }()
	if !gate.IsRefusal(a.status) || a.req.Method == http.MethodHead || a.kind == media.Opaque ||
		a.read(f.o.MaxBody) != nil {
		return nil, none
	}
	if err := f.runSuitableSteps(ctx, a); err != nil {
		return nil, none
	}
	if a.best == nil || a.best.From != page.MarkdownNew {
		return nil, none
	}
	return f.answer(a, false), nil
}

// adviceOf returns what helps a reader of an attempt that its origin refused; "" if nothing does. copied is when the
// copy that is stored was read.
func adviceOf(a *attempt, e *Error, copied time.Time) string {
	var advice []string
	if a.wall != "" {
		advice = append(advice, strings.TrimSuffix("a bot wall of "+convert.WallOwner(a.wall), " of "))
	}
	if !copied.IsZero() && e.Kind == KindHTTP && !page.Gone(a.status) {
		advice = append(advice,
			fmt.Sprintf("a copy of %s is stored: readthru pages show %s", copied.Format(time.DateOnly), a.key.Doc()))
	}
	if a.wall != "" {
		advice = append(advice, page.WallHelp)
	}
	return strings.Join(advice, "; ")
}

// copyRead returns when the copy of the attempt's page that is stored was read; the zero time if none is.
func (f *Fetcher) copyRead(a *attempt) time.Time {
	if known := f.known(a); known.ContentHash != "" {
		return known.FetchedAt
	}
	return time.Time{}
}

// runSuitableSteps looks at the content in hand and runs the steps of the cascade that suit it: behind a bot wall,
// after an error and without the origin fewer do.
func (f *Fetcher) runSuitableSteps(ctx context.Context, a *attempt) error {
	names := a.cascade
	said := a.content
	if a.kind == media.Document {
		said = nil // no wall looks like that, and data may speak of walls
	}
	if a.wall = convert.Wall(a.status, a.resp.Header, said); a.wall != "" {
		a.warn(page.WarnWall)
		a.page.Wall = &page.Wall{By: convert.WallOwner(a.wall), Copy: f.copyRead(a)}
		a.memorable = false
		f.deleteResponses(a)
		if a.kind != media.Document {
			a.kind = media.HTML // whatever it is labelled as
		}
		names = []string{"local"}
	}
	if a.status == http.StatusPaymentRequired {
		a.warn("payment-required")
	}
	if a.status != http.StatusOK && a.wall == "" {
		names = keepOnly(names, "negotiate", "local")
		if gate.IsRefusal(a.status) && slices.Contains(a.cascade, "markdown_new") {
			names = slices.Insert(names, 0, "markdown_new") // before the error page is converted
		}
	}
	if a.noTransform || a.req.CacheOnly {
		names = keepOnly(names, "negotiate", "local")
	}
	if a.req.View.chooses() {
		names = keepOnly(names, "negotiate", "local", "browser") // what others made has no elements to choose
	}
	return f.runSteps(ctx, a, names)
}

// keepOnly returns the names of steps that are among some, in their order.
func keepOnly(names []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(some, n) })
}

// deleteResponses deletes the cache's stored responses for the page: the lifetime of pages must not keep a bot wall
// fresh (AD6).
func (f *Fetcher) deleteResponses(a *attempt) {
	if _, err := f.o.Store.DeleteResponses(a.at.uri); err != nil {
		f.o.Log.Warn("stored responses not deleted", "url", page.Mask(a.url), "err", err)
	}
}

// runSteps runs the steps, once for all requests that wait for the same page made from the same bytes. A client that
// leaves does not stop the others' run.
func (f *Fetcher) runSteps(ctx context.Context, a *attempt, names []string) error {
	a.found = nil // it may be out of date when the steps are done
	if !a.memorable || a.credentials || a.req.needsBrowser() || a.req.Method == http.MethodHead {
		f.try(ctx, a, names)
		return context.Cause(ctx)
	}
	key := fmt.Sprintf("%s %x %s %s %t %t %t %d", a.key, a.sum, a.pageRecipe(a.recipe()), strings.Join(names, ","),
		a.req.NoRemote, a.req.Own, a.forced, a.status)
	//nolint:contextcheck // it must not end with the request that began it
	done := f.flights.DoChan(key, func() (any, error) {
		b := *a
		info := *a.page
		b.page = &info
		return &b, f.detached(f.limit(&a.req), func(ctx context.Context) {
			if (b.kind.Converted() && b.status == http.StatusOK || gate.IsRefusal(b.status)) && f.recall(&b) {
				return // another flight ended while we read, or the origin refuses us still
			}
			if f.peers != nil {
				b.sharing = &sharing{asked: a.forced}
			}
			kept := false
			defer func() { f.endSharing(&b, kept) }()
			f.try(ctx, &b, names)
			kept = f.keep(&b)
		})
	})
	select {
	case res := <-done:
		if res.Err != nil {
			return res.Err
		}
		b := res.Val.(*attempt)
		a.takeOver(b)
		if !res.Shared { // else another may have recorded the page since
			a.known = b.known
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// takeOver copies to a the response and the results of b, the attempt that ran the steps for all. a keeps its own body,
// which the caller closes.
func (a *attempt) takeOver(b *attempt) {
	if b.resp != a.resp {
		body := a.resp.Body
		a.response = b.response
		a.resp = new(*b.resp)
		a.resp.Body = body
	}
	a.kind, a.tree = b.kind, b.tree
	a.private, a.memorable = a.private || b.private, a.memorable && b.memorable
	warnings, fetched := a.warnings, a.page.Info.FetchMS
	a.made, a.page.Info = b.made, b.page.Info
	a.page.Info.FetchMS = fetched
	for _, w := range warnings {
		a.warn(w)
	}
}

// detached runs work that does not end with the request that began it, within a time limit, and within Close.
func (f *Fetcher) detached(limit time.Duration, work func(context.Context)) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return context.Canceled
	}
	f.running.Add(1)
	f.mu.Unlock()
	defer f.running.Done()
	ctx, cancel := context.WithTimeout(f.ctx, limit)
	defer cancel()
	return f.guarded(func() { work(ctx) })
}

// guarded makes a panic of work an error: foreign bytes must not end the process.
func (f *Fetcher) guarded(work func()) error {
	return fault.Catch("fetch: make a page", func() error { work(); return nil })
}

// keep stores what the steps made of an attempt: under the bytes it was made of, or under the page where it was made of
// others. It reports whether it did the latter. Nothing is kept that another try may make better.
func (f *Fetcher) keep(a *attempt) (byPage bool) {
	f.complete(a)
	if a.best == nil || !a.memorable || a.wall != "" ||
		page.HasWarning(a.best.Warnings, convert.WarnSoft404, convert.WarnError) {
		return false
	}
	var err error
	switch a.best.From {
	case page.Local:
		if !a.kind.Converted() || a.status != http.StatusOK {
			return false
		}
		if page.HasWarning(a.best.Warnings, convert.WarnTruncated) {
			return false // there may be more time for it
		}
		if !withFramesIn(a.best) {
			err = f.o.Store.PutRendition(a.best)
			break
		}
		if page.HasWarning(a.best.Warnings, weak...) {
			return false // the next steps are tried again
		}
		fallthrough
	case page.Alternate, page.MarkdownNew, page.Browser, page.LLM:
		if !a.started.Before(a.best.Expires) {
			return false
		}
		a.best.Source, a.best.Recipe = a.sum, a.pageRecipe(a.recipe()) // complete made it ours
		err = f.o.Store.PutPageRendition(a.root, a.best)
		byPage = true
	}
	if err != nil && !errors.Is(err, store.ErrFull) {
		f.o.Log.Warn("rendition not stored", "url", page.Mask(a.url), "err", err)
	}
	return byPage
}

// recall looks for a stored rendition of the bytes in hand, before they are read. A weak one is taken only when no
// other step would be tried for it.
func (f *Fetcher) recall(a *attempt) bool {
	var ofPage, ofBody *store.Rendition // nil if there is none
	if a.found != nil {
		ofPage, ofBody = a.found.OfPage, a.found.OfBody
	} else {
		recipe := a.recipe()
		ofPage, _ = f.o.Store.PageRendition(a.root, a.pageRecipe(recipe))
		ofBody, _ = f.o.Store.Rendition(a.sum, recipe)
	}
	if r := ofPage; r != nil && f.mayRecall(a, r) {
		if a.forced && (r.From != page.LLM || r.Rendered) {
			return false // it was made of more than the bytes in hand
		}
		a.best, a.kept = r, true
	} else if r := ofBody; r != nil && a.status == http.StatusOK && slices.Contains(a.cascade, "local") {
		if a.at.route != "" {
			return false // whether scripts show another page must be seen
		}
		if page.HasWarning(r.Warnings, weak...) && slices.Contains(a.cascade, "markdown_new") &&
			f.mdnew.disclosureOf(a).Refusal() == "" &&
			!f.failedRecently("markdown_new "+a.key.String(), a.started) {
			return false
		}
		if f.wouldRender(a, r) || f.wouldAskModel(a, r) {
			return false
		}
		a.best = r
	} else {
		return false
	}
	a.attempts = append(a.attempts, page.Attempt{
		Step: string(a.best.From), Outcome: page.Answered,
		Reason: strings.TrimSuffix("rendition from the store, "+a.best.SiteRecipe, ", "),
	})
	return true
}

// askHead gets the answer to HEAD from what is stored where it can, for then the rendition is known; else from the
// origin.
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

// readOrPass reads the content of a response, or answers with the response as it is if the content cannot be had here.
// It returns nothing if it has read it.
func (f *Fetcher) readOrPass(a *attempt) (*Answer, error) {
	switch err := a.read(f.o.MaxBody); {
	case errors.Is(err, media.ErrTooLarge):
		return f.answerAsIs(a, "too-large")
	case errors.Is(err, media.ErrUnknownCoding):
		return f.answerAsIs(a, "content-coding")
	default:
		return nil, err
	}
}

// answerAsIs answers with the origin's response as it is, and a warning where something was left undone. An own fetch
// gets its content decoded: we asked for the coding, not the caller.
func (f *Fetcher) answerAsIs(a *attempt, warning string) (*Answer, error) {
	if stored, ok := a.resp.Body.(interface{ Ready() error }); ok {
		if err := stored.Ready(); err != nil {
			return nil, err
		}
	}
	resp := *a.resp
	resp.Header = resp.Header.Clone()
	if warning != "" {
		resp.Header.Add("X-Readthru-Warning", warning)
	}
	if a.kind != media.Opaque {
		httpfield.AddVary(resp.Header, "Accept")
	}
	if list := media.Codings(resp.Header); a.req.Own && len(list) == 1 && a.req.Method != http.MethodHead {
		switch r, err := media.Decoder(resp.Body, list[0]); {
		case err == nil:
			resp.Body = media.ReadThrough(r, resp.Body)
			resp.Header.Del("Content-Encoding")
			resp.Header.Del("Content-Length")
			resp.ContentLength, resp.Uncompressed = -1, true
		// its beginning is read and lost; nothing is no loss
		case !errors.Is(err, media.ErrUnknownCoding) && !errors.Is(err, io.EOF):
			return nil, err
		}
	}
	ans := &Answer{Status: resp.StatusCode, Header: resp.Header, Response: &resp, Cache: a.outcome}
	if a.kind == media.Opaque || a.noTransform {
		ans.Repeat = f.repeatResponse(a)
	}
	return ans, nil
}

// markIf returns a warning's token when something holds, else none.
func markIf(when bool, token string) string {
	if when {
		return token
	}
	return ""
}
