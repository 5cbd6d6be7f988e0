package fetch

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
)

// observeLimit is the largest HTML copied while it passes to a browser, in bytes.
const observeLimit = 10 << 20

// waitingLimit is Options.MaxWaiting unless that is set, in bytes of HTML.
const waitingLimit = 64 << 20

// Observe wraps the body of a response that passes unchanged to a client that wants HTML. After the last byte a copy of
// the body becomes a page in the background; the client gets its bytes without delay. A truncated body leaves nothing.
// Observe also adds Accept to Vary, because the URL has another representation here. It ignores a response that is not
// a page or must not be remembered.
func (f *Fetcher) Observe(req *http.Request, resp *http.Response, agent, session, user string) {
	f = f.newest.Load()
	if media.Classify(false, resp.StatusCode, resp.Header) != media.HTML {
		return
	}
	resp.Header = resp.Header.Clone()
	httpfield.AddVary(resp.Header, "Accept")
	gone := page.Gone(resp.StatusCode)
	if req.Method != http.MethodGet && req.Method != "" || resp.StatusCode != http.StatusOK && !gone {
		return
	}
	at := f.addressOf(req.URL)
	if at.blocked != nil {
		return
	}
	a := f.newAttempt(Request{
		URL: req.URL, Method: http.MethodGet, Header: req.Header.Clone(), Agent: agent,
		Session: session, User: user,
	}, at, time.Now())
	a.observed = true
	if gone {
		f.noteGone(a, resp.StatusCode)
		return
	}
	if a.credentials && !at.secret && f.o.PagesWithCookies == "reread" {
		f.refetchWithoutCookies(a)
		return
	}
	if a.credentials && (!f.o.Private || f.o.PagesWithCookies != "remember") {
		return
	}
	head := *resp
	head.Header = resp.Header.Clone()
	f.look(a, &head)
	a.kind = media.HTML
	if !a.memorable {
		return
	}
	// The store has made a page of these bytes before: only the visit is left to count.
	if a.hasSum && f.recall(a) {
		head.Body = http.NoBody
		head.ContentLength = resp.ContentLength
		resp.Body = media.Observed(resp.Body, 0, func([]byte) {
			f.enqueue(func(context.Context) { f.answer(a, true) })
		})
		return
	}
	resp.Body = media.Observed(resp.Body, observeLimit, func(raw []byte) {
		n := int64(len(raw))
		if f.waiting.Add(n) > f.o.MaxWaiting || !f.enqueue(func(ctx context.Context) {
			defer f.waiting.Add(-n)
			f.observed(ctx, a, raw)
		}) {
			f.waiting.Add(-n)
		}
	})
}

// observed makes a page from HTML that passed to a client, in the background. It converts locally and sends no
// requests.
func (f *Fetcher) observed(ctx context.Context, a *attempt, raw []byte) {
	content, err := media.Decode(raw, a.resp.Header, observeLimit)
	if err != nil {
		f.o.Log.Debug("observed page not decoded", "url", page.Mask(a.url), "err", err)
		return
	}
	a.raw, a.content = raw, content
	if !a.hasSum {
		a.sum, a.hasSum = sha256.Sum256(raw), true
	}
	a.resp.Body = http.NoBody
	if a.wall = convert.Wall(a.status, a.resp.Header, content); a.wall != "" {
		f.deleteResponses(a)
		return
	}
	a.req.CacheOnly = true
	f.try(ctx, a, []string{"local"})
	if a.best == nil {
		return
	}
	f.keep(a)
	a.missed = true
	f.preferComplete(a)
	f.answer(a, false)
}

// refetchWithoutCookies fetches, when it is observed, a page that passed to a client with cookies again without them,
// in the background and under the policy for own fetches (pages_with_cookies: reread). It does so once within
// failedStepLifetime.
func (f *Fetcher) refetchWithoutCookies(a *attempt) {
	what := "reread " + a.key.String()
	if f.failedRecently(what, a.started) {
		return
	}
	f.noteFailedStep(f.ctx, what)
	u := *a.url
	f.enqueue(func(ctx context.Context) {
		ans, err := f.Page(ctx, Request{
			URL: &u, Own: true, NoRemote: true, Agent: a.req.Agent, Session: a.req.Session,
			User: a.req.User,
		})
		if err != nil {
			f.o.Log.Debug("page not read again", "url", page.Mask(&u), "err", err)
			return
		}
		if ans.Response != nil {
			ans.Response.Body.Close()
		}
	})
}
