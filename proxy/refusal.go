package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy/strict"
)

// blockedPage refuses a page of a host on the list of blocked domains (rule A11); nil if it may be read.
func (x *incoming) blockedPage() *strict.Refusal {
	if host := x.url().Hostname(); page.Blocked(host, x.policy.blocked) {
		return strict.Blocked(host, strict.ByList)
	}
	return nil
}

// fail refuses a request after an error of the origin, or of its own body. It aborts the response if the client has
// gone, by a panic that net/http knows.
func (x *exchange) fail(u *url.URL, err error) {
	if x.r.Context().Err() != nil {
		if x.conn != nil {
			if bad := x.conn.bad.Load(); bad != nil { // net/http takes it for a client that has gone
				x.refuse(strict.BadRequest(fmt.Sprintf("The request's body is malformed: %v.", *bad)))
				return
			}
		}
		x.rec.Status, x.rec.Error, x.cut = journal.StatusGone, journal.Gone, true
		if errors.Is(context.Cause(x.r.Context()), errSignedOut) {
			x.rec.Error = errSignedOut.Error()
		}
		panic(http.ErrAbortHandler)
	}
	bad := explain(u, err)
	x.tellOutcome(bad, cache.OutcomeOfError(err))
	x.refuse(bad)
}

// explain returns the refusal for an error of a round trip or a dial: the status and the words that package fetch has
// for it.
func explain(u *url.URL, err error) *strict.Refusal {
	e := fetch.Explain(u, err)
	status := e.HTTPStatus()
	if status < 400 || status > 599 {
		status = http.StatusBadGateway
	}
	title := cmp.Or(http.StatusText(status), "Upstream error")
	return &strict.Refusal{Status: status, Title: title, Detail: e.Error(), ProxyError: e.Type, Cause: err}
}

// tellOutcome adds the cache's outcome to a refusal, and to the record of the exchange.
func (x *exchange) tellOutcome(bad *strict.Refusal, outcome cache.Outcome) {
	x.answeredBy(outcome)
	if bad.Header == nil {
		bad.Header = http.Header{}
	}
	outcome.AddTo(bad.Header)
}

// refuse answers the request with the problem document of bad. Nothing may have been written before.
func (x *exchange) refuse(bad *strict.Refusal) {
	x.count(bad)
	body, fields := bad.Fields()
	h := x.w.Header()
	maps.Copy(h, fields)
	x.p.via.Add(h, x.r.ProtoMajor, x.r.ProtoMinor)
	if bad.Status == http.StatusBadRequest && x.conn != nil {
		h.Set("Connection", "close") // the start of the next request is unknown
	}
	x.w.WriteHeader(bad.Status)
	// A HEAD gets the fields alone.
	if x.r.Method != http.MethodHead {
		n, _ := x.w.Write(body) // fails only if the client has gone
		x.rec.BytesOut += int64(n)
	}
}

// count puts a refusal into the record of the exchange and counts it in the figures, unless a rule hides the request.
func (x *exchange) count(bad *strict.Refusal) {
	x.rec.Status, x.rec.Error, x.refused = bad.Status, bad.Detail, bad
	switch {
	case x.hidden():
	case bad.Status == http.StatusForbidden:
		x.p.stats.blocked.Add(1)
	case bad.Status >= 500:
		x.p.stats.errors.Add(1)
	}
}

// Which listeners may be offline.
const (
	thisSession = "This session"
	readthru    = "readthru"
)

// offlineRefusal is the answer without a stored response of an offline session, or of readthru as a whole, like that of
// a cache to only-if-cached (RFC 9111 §5.2.1.7).
func offlineRefusal(who, target string) *strict.Refusal {
	return &strict.Refusal{
		Status: http.StatusGatewayTimeout, Title: "Offline", ProxyError: "destination_unavailable",
		Detail: who + " is offline, and no stored response answers a request to " + target + ".",
	}
}
