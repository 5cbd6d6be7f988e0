package proxy

import (
	"net"
	"strings"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/proxy/strict"
)

// begin records who asks, and what.
func (x *exchange) begin() {
	rec := &x.rec
	if rec.Client = x.r.RemoteAddr; rec.Client != "" {
		if host, _, err := net.SplitHostPort(rec.Client); err == nil {
			rec.Client = host
		}
	}
	rec.Asked = journal.RequestFields(x.r.Header)
	rec.Trace = journal.TraceOf(x.r.Header)
	if x.inside != nil {
		rec.Taken = x.inside.verdict.why
	}
}

// answeredBy records what the cache did.
func (x *exchange) answeredBy(o cache.Outcome) { fetch.TellOutcome(&x.rec, o) }

// whyPassed says why the request was passed on, past the cache.
func (x *exchange) whyPassed() string {
	switch {
	case x.rule.Action == "tunnel":
		return "A rule leaves this host alone: the request is passed on as it is, past the cache."
	case x.paused():
		return "readthru is paused: the request is passed on as it is, past the cache."
	}
	return "The request is passed on, past the cache."
}

// tell completes what is told of the request, and tells it.
func (x *exchange) tell() {
	rec := &x.rec
	took := time.Since(x.began)
	rec.Time, rec.Method, rec.URL = x.began.UTC(), x.r.Method, x.masked()
	rec.MS, rec.Micros = took.Milliseconds(), took.Microseconds()
	rec.Agent, rec.Session = strict.Shown(x.r.UserAgent()), x.session
	if rec.Door = journal.DoorProxy; x.prefix != nil {
		rec.Door = journal.DoorPrefix
	}
	switch bad := x.refused; {
	case bad != nil:
		rec.Outcome, rec.Why = journal.Refused, bad.Detail
		if bad.Cause != nil {
			rec.Outcome = journal.Failed
		}
	case rec.Tunnel != "":
		rec.Outcome, rec.Why = journal.Tunnelled, whyTunnelled(rec.Tunnel)
		if rec.Error != "" && rec.Status != 200 {
			rec.Outcome = journal.Failed
		}
	case x.hijacked && rec.Error != "":
		rec.Outcome, rec.Why = journal.Failed, rec.Error
	case rec.Cache != "":
		rec.Outcome = rec.Cache
	case x.local():
		rec.Outcome, rec.Why = journal.Local, "The answer is a page of readthru itself."
	default:
		rec.Outcome, rec.Why = journal.Passed, x.whyPassed()
	}
	if !x.hijacked {
		h := x.w.Header()
		rec.Answered = journal.ResponseFields(h)
		rec.Type, _, _ = strings.Cut(h.Get("Content-Type"), ";")
	}
	fetch.TellPage(rec, x.page)
	rec.Hidden = x.hidden()
	x.told = new(journal.Entry)
	*x.told = *rec
	if id := x.p.journal.Add(x.told); !rec.Hidden {
		writeLog(x.p.log, id, x.told)
	}
}

// hidden reports whether a rule keeps the request out of lists and figures.
func (x *incoming) hidden() bool {
	if len(x.policy.rules) == 0 {
		return false
	}
	rule, ok := x.policy.rules.For(x.url())
	return ok && rule.Hides()
}

// whyTunnelled says in a sentence what the verdict about a CONNECT says in a word.
func whyTunnelled(why string) string {
	word, _, _ := strings.Cut(why, ";")
	switch word {
	case "rule":
		return "A rule has this host tunnelled."
	case "preset":
		return "The host is on the built-in list of hosts that are not intercepted."
	case "client-rejected-ca":
		return "This client rejected our certificate for the host before."
	case "paused":
		return "readthru is paused: connections are passed on as they are."
	case "not-tls":
		return "What the client sends in this connection is not TLS."
	}
	return "The connection is passed on as it is."
}
