package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
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

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/httpfield"
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

// paused reports whether the proxy passes the request on as it is. An offline session is not paused: it has nothing to
// pass on to.
func (x *exchange) paused() bool { return x.policy.paused && !x.s.terms.Offline }

// url returns the URL that an exchange is about: that of the page in prefix form, else that of the request.
func (x *incoming) url() *url.URL {
	if x.prefix != nil {
		return x.prefix
	}
	return x.r.URL
}

// local reports whether the exchange is with the proxy itself, as an origin server or by the name readthru.local.
func (x *incoming) local() bool {
	return x.prefix == nil && (x.r.URL.Host == "" || x.r.URL.Hostname() == localHost)
}

// masked returns the target of an exchange without secrets, for logs, records and error texts.
func (x *incoming) masked() string {
	x.target = cmp.Or(x.target, page.Mask(x.url()))
	return x.target
}

// errSignedOut ends a request whose user is gone.
var errSignedOut = errors.New("the user was removed, or what they signed in with")

// answeredBy records what the cache did for the request.
func (x *exchange) answeredBy(o cache.Outcome) { fetch.TellOutcome(&x.rec, o) }

// hidden reports whether a rule keeps the exchange out of the journal's lists and figures.
func (x *incoming) hidden() bool {
	if len(x.policy.rules) == 0 {
		return false
	}
	rule, ok := x.policy.rules.For(x.url())
	return ok && rule.Hides()
}

// errOffline is why a client of an offline session gets no tunnel.
var errOffline = errors.New("this session is offline")

// storedOnly has an exchange use only stored responses, however stale, for a request with the fields h (RFC 9111
// §5.2.1), for an offline session.
func storedOnly(h http.Header) {
	h["Cache-Control"] = append(h["Cache-Control"], "only-if-cached, max-stale")
}

// contain is deferred: a request that panics is answered with 500 (Internal Server Error) if nothing was answered yet,
// else its answer is cut short. Other requests go on.
func (x *exchange) contain() {
	cause := recover()
	if cause == nil {
		return
	}
	if cause != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
		f := fault.Note("proxy: request", cause)
		if x.rec.Status == 0 && !x.hijacked {
			clear(x.w.Header())
			x.refuse(strict.Internal(f))
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// serve runs the checks of the handler in the order of the package documentation and answers the request: first what
// two parsers could read differently, then who asks, then what the rules say, and the form of the answer last.
func (x *exchange) serve() {
	// Before any refusal: receiveUpload says why.
	broken := receiveUpload(x.r)
	if bad := x.wellFormed(); bad != nil {
		x.refuse(bad)
		return
	}
	if broken != nil {
		x.fail(x.r.URL, broken)
		return
	}
	if x.local() {
		x.serveLocal()
		return
	}
	user, bad := x.admit()
	if bad != nil {
		x.refuse(bad)
		return
	}
	if x.p.o.Replay != nil {
		x.replay()
		return
	}
	if bad := x.permit(); bad != nil {
		x.refuse(bad)
		return
	}
	if x.prefix != nil {
		x.servePrefix()
		return
	}
	upgrade := strict.UpgradeOf(x.r)
	// Offline there is nobody to relay to, and only GET and HEAD have stored answers.
	if x.s.terms.Offline && (upgrade != "" || x.r.Method != http.MethodGet && x.r.Method != http.MethodHead) {
		x.refuse(offlineRefusal(thisSession, x.masked()))
		return
	}
	if upgrade != "" {
		x.relay(upgrade)
		return
	}
	if x.r.Header["Upgrade"] != nil {
		x.rec.Warnings = append(x.rec.Warnings, strict.WarnUpgrade)
	}
	want := form.Decide(form.Facts{
		Method: x.r.Method, URL: x.r.URL, Header: x.r.Header,
		Asked: x.asked.Mode, Rule: x.rule.Mode, User: user.Mode(), Config: x.policy.mode,
	})
	alone := x.leaveAlone()
	if x.p.o.Fetch == nil || alone {
		want = form.AsIs
	}
	x.rec.Form = want.String()
	if x.p.log.Enabled(x.r.Context(), slog.LevelDebug) {
		x.p.log.Debug("form decided", "url", x.masked(), "form", want.String())
	}
	if bad := x.blockedPage(); bad != nil && (want == form.Markdown || want == form.PlainText) {
		x.refuse(bad)
		return
	}
	if want == form.Markdown || want == form.PlainText {
		if bad := overLimit(x.meter.AskPage(x.began)); bad != nil {
			x.refuse(bad)
			return
		}
	}
	x.prepare()
	if x.s.terms.Offline {
		storedOnly(x.r.Header)
		if want == form.Observed {
			want = form.AsIs // observing could contact origins in the background
		}
	}
	switch want {
	case form.Markdown, form.PlainText:
		x.answerPage(fetch.Request{Text: want == form.PlainText, Reader: form.Reads(x.r.Header, x.asked.Mode)})
	default:
		x.passThrough(want == form.Observed, alone)
	}
}

// leaveAlone reports whether the proxy passes the request on past the cache, and its answer as it is: a rule tunnels
// the host, and what it is asked without TLS is no more ours than what is in the tunnel. The same holds for a path of
// an intercepted host, which cannot be tunnelled. Of an offline session, what is stored answers.
func (x *exchange) leaveAlone() bool {
	return !x.s.terms.Offline && (x.rule.Action == "tunnel" || x.paused())
}

// admit authenticates the user of a request, counts the request for them, and sets its session. A session named by the
// request takes precedence over that of the credentials. It starts the recording of the answer if the session is
// recorded.
func (x *exchange) admit() (user users.Login, bad *strict.Refusal) {
	switch {
	case x.prefix != nil:
		user, bad = x.signInAtListener()
	case x.inside != nil: // the user of the CONNECT
		x.session = x.inside.session
		user, bad = present(x.p.o.Users, x.inside.user)
	default:
		user, bad = x.signIn(x.r.Header.Get("Proxy-Authorization"))
	}
	if bad != nil {
		return user, bad
	}
	x.rec.User, x.meter = user.Name(), user.Meter
	if bad = overLimit(x.meter.Ask(x.began)); bad != nil {
		return user, bad
	}
	if x.prefix != nil {
		if x.reader, bad = form.ReadReader(x.r.Header); bad != nil {
			return user, bad
		}
	}
	if named := x.r.Header.Get("X-Readthru-Session"); named != "" {
		if x.session, bad = ownSession(user, named); bad != nil {
			return user, bad
		}
	}
	if strict.UpgradeOf(x.r) == "" {
		x.record()
	}
	if user.User != nil {
		x.endWithUser(user)
	}
	return user, nil
}

// endWithUser has the request end when its user is gone, who could go on reading a long answer else. x.leave undoes it.
func (x *exchange) endWithUser(user users.Login) {
	ctx, cancel := context.WithCancelCause(x.r.Context())
	forget := x.p.o.Users.WhenGone(user, users.ScopeProxy, func() { cancel(errSignedOut) })
	x.leave = func() {
		forget()
		cancel(nil)
	}
	x.r = x.r.WithContext(ctx)
}

// permit applies the checks that need the whole request: rules with a path, TRACE, and the X-Readthru fields, which it
// removes from the request and keeps in x.asked.
func (x *exchange) permit() *strict.Refusal {
	if len(x.policy.rules) > 0 {
		host := x.url().Hostname()
		if rule, ok := x.policy.rules.For(x.url()); ok {
			x.rec.Rule = rule.Host + rule.Path
			if rule.Action == "block" {
				return strict.Blocked(host, strict.ByRule)
			}
			x.rule = rule
		}
	}
	if x.r.Method == http.MethodTrace {
		return &strict.Refusal{
			Status: http.StatusMethodNotAllowed, Title: "Method not allowed", ProxyError: "http_request_denied",
			Detail: "TRACE is not allowed: it would reveal fields that other programs on the way add.",
			Header: http.Header{"Allow": {"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, CONNECT"}},
		}
	}
	asked, bad := form.ReadFields(x.r.Header)
	x.asked = asked
	return bad
}

// prepare makes the request of an exchange ready to be forwarded to an origin: it removes hop-by-hop fields and adds
// Via (RFC 9110 §7.6).
func (x *incoming) prepare() {
	r := x.r
	grpc := strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") &&
		httpfield.Has(r.Header, "Te", "trailers")
	httpfield.RemoveConnection(r.Header)
	if grpc {
		r.Header.Set("Te", "trailers") // we read trailers, and gRPC servers require this field
	}
	x.p.via.Add(r.Header, r.ProtoMajor, r.ProtoMinor)
	if _, ok := r.Header["User-Agent"]; !ok {
		r.Header["User-Agent"] = nil // else the transport would add Go's
	}
	r.RequestURI = ""
	r.Close = false // the client's connection, not ours
	r.TransferEncoding = nil
	switch {
	case r.Trailer != nil:
		x.r = sendTrailers(r)
	case r.ContentLength == 0:
		r.Body = http.NoBody // an empty HTTP/2 body would prevent cache hits and retries
	}
}

// shortUpload is the length of content, in bytes, that is received before a request is answered.
const shortUpload = 64 << 10

// receiveUpload receives, at the beginning of an exchange, the content of a request over HTTP/2 if it is short: an
// origin may answer before it has read it, and a refusal of ours needs none of it. The server would then reset the
// stream behind the answer (RFC 9113 §8.1), and some clients, such as curl before 8.0, take that for a failure if they
// have not sent all by then. A client that waits for 100 (Continue) waits for the answer. The error is one of reading.
func receiveUpload(r *http.Request) error {
	if r.ProtoMajor != 2 || r.ContentLength <= 0 || r.ContentLength > shortUpload || r.Header["Expect"] != nil {
		return nil
	}
	content, err := io.ReadAll(r.Body) // the server holds it to its length
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(content))
	return nil
}
