package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
)

// TellOutcome records in a journal's entry what the cache did for its request.
func TellOutcome(e *journal.Entry, o cache.Outcome) {
	e.Cache = o.Summary()
	if e.Why, e.Section = o.Why(); e.Section != "" {
		e.Section = "RFC 9111 " + e.Section
	}
	if e.OriginStatus = o.Status; o.Status >= 400 { // which is why, before all that the cache has to say
		e.Why = fmt.Sprintf("The origin answered %d. %s", o.Status, e.Why)
	}
	e.SavedMS = o.Took.Milliseconds()
}

// TellPage records in a journal's entry the page that a request got; nil is none. What the cache did is recorded
// already.
func TellPage(e *journal.Entry, p *page.Page) {
	if p == nil {
		return
	}
	e.Doc, e.Source, e.BytesIn, e.Attempts = p.Doc, string(p.Source), p.Bytes, p.Attempts
	e.Tokens, e.HTMLTokens, e.Visit = p.Tokens, p.Info.HTMLTokens, p.VisitID != ""
	e.Warnings = append(e.Warnings, p.Warnings...)
	if !p.FromCache || e.Cache == "revalidated" {
		e.OriginMS = p.Info.FetchMS
	}
}

// Give makes, for what is told of a request, the tokens of a page those of the texts that its reader gets of it: a
// part, or other forms.
func Give(p *page.Page, texts ...string) {
	n := 0
	for _, text := range texts {
		n += convert.Tokens(text)
	}
	p.Give(n)
}

// Reading is what came of a page that was asked for by another door than the proxy's port.
type Reading struct {
	Began  time.Time
	Asked  Request
	Answer *Answer // nil if Err says why there is none
	Err    error
	Form   string // in which the reader gets the page; if empty, markdown
	Given  int    // bytes of content that the reader gets
	Wrong  string // why an answer is of no use to the reader; empty if it is of use

	stored bool // the answer is a page as it is stored
}

// RefusedError is the Err of a reading that a reader was refused before anything was fetched.
type RefusedError struct {
	Status int    // of HTTP, as the proxy's answer would have it
	Why    string // in a sentence
}

// Error says, for what is told of the request, why its reader was refused.
func (e *RefusedError) Error() string { return e.Why }

// Tell adds a reading to the list of requests, and counts its visit if that waits for it (Request.Told). The tokens of
// the answer's page are those of what the reader got ([Give]). Who asks is known by ctx ([journal.With]).
func (f *Fetcher) Tell(ctx context.Context, r Reading) {
	f = f.newest.Load()
	if r.Asked.Told && r.Answer != nil && r.Answer.count != nil {
		r.Answer.count()
	}
	if f.o.Journal == nil {
		return
	}
	took := time.Since(r.Began)
	asker, _ := journal.AskerOf(ctx)
	e := &journal.Entry{
		Time: r.Began.UTC(), Door: asker.Door, Client: asker.Client, Trace: asker.Trace,
		User: r.Asked.User, Session: r.Asked.Session, Agent: clip.Line(r.Asked.Agent, 200),
		Method: http.MethodGet, URL: page.Mask(r.Asked.URL), Form: cmp.Or(r.Form, "markdown"),
		MS: took.Milliseconds(), Micros: took.Microseconds(),
	}
	at := f.addressOf(r.Asked.URL)
	e.Rule, e.Hidden = at.rule, at.hidden
	switch {
	case r.Err == nil:
		tellAnswer(e, r)
	case ctx.Err() != nil:
		e.Outcome, e.Status, e.Error = journal.Failed, journal.StatusGone, journal.Gone
	default:
		if refused, ok := errors.AsType[*RefusedError](r.Err); ok {
			e.Outcome, e.Status, e.Why, e.Error = journal.Refused, refused.Status, refused.Why, refused.Why
			break
		}
		tellError(e, Explain(r.Asked.URL, r.Err))
	}
	f.o.Journal.Add(e)
}

// TellStored adds to the list of requests that a reader got a page as it is stored.
func (f *Fetcher) TellStored(ctx context.Context, p *page.Page, began time.Time, user string) {
	u, err := url.Parse(p.URL)
	f = f.newest.Load()
	if err != nil || f.o.Journal == nil {
		return
	}
	asker, _ := journal.AskerOf(ctx)
	f.Tell(ctx, Reading{
		Began: began, Asked: Request{URL: u, User: user, Agent: asker.Agent}, Given: len(p.Content), stored: true,
		Answer: &Answer{Page: p, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/markdown"}}},
	})
}

// tellAnswer records in a journal's entry the answer that a reader got.
func tellAnswer(e *journal.Entry, r Reading) {
	a := r.Answer
	TellOutcome(e, a.Cache)
	TellPage(e, a.Page)
	e.Status, e.BytesOut, e.Error = a.Status, int64(r.Given), r.Wrong
	if a.Page == nil {
		e.BytesIn = e.BytesOut
	}
	e.Type, _, _ = strings.Cut(a.Header.Get("Content-Type"), ";")
	if r.stored {
		e.Outcome, e.Why, e.OriginMS = "hit", "The page was read as it is stored: its origin was not asked.", 0
		return
	}
	if e.Outcome = e.Cache; e.Outcome == "" {
		e.Outcome, e.Why = journal.Passed, "The answer did not come through the cache."
	}
}

// tellError records in a journal's entry why there is no answer. An answer of the origin that is no success is told
// like any answer.
func tellError(e *journal.Entry, err *Error) {
	e.Status, e.BytesOut = err.HTTPStatus(), int64(len(err.Error()))
	TellOutcome(e, err.outcome)
	if !err.outcome.Hit && !err.again {
		e.OriginMS, e.BytesIn = err.fetchMS, err.bytes
	}
	switch {
	case err.again:
		e.Outcome, e.Cache, e.Section, e.SavedMS = journal.Failed, "", "", 0
		e.Why, e.Error = "It failed a moment ago, and its origin is not asked again so soon.", err.Error()
		return
	case err.Kind == KindHTTP && e.Cache != "":
		e.Outcome = e.Cache
		return
	case err.Kind == KindUnsupported && e.Cache != "":
		e.Outcome, e.Section = e.Cache, "" // the error is why, further down
	case err.Kind == KindBlocked || err.Kind == KindOffline || err.Kind == KindUnsupported:
		e.Outcome = journal.Refused
	default:
		e.Outcome = journal.Failed
	}
	e.Why, e.Error = err.Error(), err.Error()
}
