package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/recording"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy/form"
	"github.com/readthru/readthru/proxy/strict"
)

// localHost is the host name of the proxy's own pages, which no resolver knows: only clients of the proxy reach it.
const localHost = "readthru.local"

// An exchange is a request being answered by the proxy, by one goroutine. A method of one of its parts knows no more
// than that part.
type exchange struct {
	incoming
	decided
	outgoing

	rec  journal.Entry
	told *journal.Entry // rec, once it is complete
}

// incoming is the request of an exchange as it was read, and where.
type incoming struct {
	s      *serving
	p      *Proxy
	policy *policy // the one that the request began with
	r      *http.Request
	inside *connect    // set for a request inside an intercepted connection
	conn   *framedConn // connection of the request; nil with HTTP/2
	prefix *url.URL    // URL of the page requested in prefix form; else nil
	target string      // target of a CONNECT, or the masked URL; set on first use
	began  time.Time
	drops  int64 // calls of DropAnswers before it began
}

// decided is what holds for the request of an exchange: who makes it, and by which rule and options it is answered.
type decided struct {
	asked   form.Fields
	reader  form.Reader // used with prefix
	rule    hostrule.Rule
	session string       // name of the session; may be empty
	meter   *users.Meter // of the user; nil without one
	leave   func()       // releases what ends the request if its user is gone; nil: nothing
}

// outgoing is the answer of an exchange, and what became of it.
type outgoing struct {
	w        http.ResponseWriter
	recorded *recording.Exchange // equal to w while the session is recorded
	refused  *strict.Refusal     // the answer; nil if it is another one
	page     *page.Page          // the page answered, if any
	hijacked bool                // endTunnel writes the record, not end
	lost     bool                // a write to the client failed
	cut      bool                // it ended early
}

// connect is a CONNECT being served. Requests inside it refer to it. Its fields are set before the first of these.
type connect struct {
	host, port string      // the target, as strict.SplitAuthority gives them
	named      string      // the server's name in the TLS handshake inside, if intercepted
	user       users.Login // the signed-in user; nobody if there are no users
	session    string      // name of the session, or empty
	client     string      // identifies the client, see clientOf
	rejecting  bool        // the client rejected our certificate for host before
	verdict    verdict
	end        func(status int, sent, received int64, err error) // logs a tunnel
	fail       func(why string)                                  // logs a connection of which no request came

	secured time.Time // when the TLS handshake inside was done, if intercepted
	spoke   bool      // the client has sent a byte since secured
	drops   int64     // calls of DropAnswers before the user signed in
}

// target returns the target of the CONNECT as host:port.
func (c *connect) target() string { return net.JoinHostPort(c.host, c.port) }

// paused reports whether the proxy passes the request on as it is. An offline session is not paused: it has nothing to
// pass on to.
func (x *exchange) paused() bool { return x.policy.paused && !x.s.terms.Offline }

// targetURL returns the target of the CONNECT as a URL, for the texts of errors.
func (c *connect) targetURL() *url.URL {
	return &url.URL{Scheme: "https", Host: strict.JoinAuthority(c.host, c.port, "443")}
}

// url returns the requested URL: that of the page in prefix form, else that of the request.
func (x *incoming) url() *url.URL {
	if x.prefix != nil {
		return x.prefix
	}
	return x.r.URL
}

// local reports whether the request is for the proxy itself, as an origin server or by the name readthru.local.
func (x *incoming) local() bool {
	return x.prefix == nil && (x.r.URL.Host == "" || x.r.URL.Hostname() == localHost)
}

// masked returns the request's target without secrets, for logs, records and error texts.
func (x *incoming) masked() string {
	x.target = cmp.Or(x.target, page.Mask(x.url()))
	return x.target
}

// signIn returns the user who signs in with a field of credentials, and takes the session that the credentials name.
// Without users everybody is nobody, and nothing is read unless there is a field.
func (x *exchange) signIn(field string) (users.Login, *strict.Refusal) {
	if field == "" && x.p.o.Users.Open() {
		return users.Login{}, nil
	}
	user, session, bad := signIn(x.r.Context(), x.p.o.Users, x.r.RemoteAddr, field)
	x.session = cmp.Or(session, x.session)
	return user, bad
}

// errSignedOut ends a request whose user is gone.
var errSignedOut = errors.New("the user was removed, or what they signed in with")

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

// answeredBy records what the cache did for the request.
func (x *exchange) answeredBy(o cache.Outcome) { fetch.TellOutcome(&x.rec, o) }

// hidden reports whether a rule keeps the request out of the journal's lists and figures.
func (x *incoming) hidden() bool {
	if len(x.policy.rules) == 0 {
		return false
	}
	rule, ok := x.policy.rules.For(x.url())
	return ok && rule.Hides()
}

// errOffline is why a client of an offline session gets no tunnel.
var errOffline = errors.New("this session is offline")

// storedOnly lets only stored responses, however stale, answer a request with the fields h (RFC 9111 §5.2.1), for an
// offline session.
func storedOnly(h http.Header) {
	h["Cache-Control"] = append(h["Cache-Control"], "only-if-cached, max-stale")
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
