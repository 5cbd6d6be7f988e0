package proxy

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/proxy/strict"
)

// begin records for the journal who asks, and what, at the beginning of an exchange: fields may be removed from the
// request later.
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

// whyPassed says in a sentence of the journal why the request was passed on, past the cache.
func (x *exchange) whyPassed() string {
	switch {
	case x.rule.Action == "tunnel":
		return "A rule leaves this host alone: the request is passed on as it is, past the cache."
	case x.paused():
		return "readthru is paused: the request is passed on as it is, past the cache."
	}
	return "The request is passed on, past the cache."
}

// tell completes what the journal is told of the request, tells it, and writes the log line.
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

// end counts the request and writes its record for the journal, when it is answered. A hijacked one is recorded by
// endTunnel.
func (x *exchange) end() {
	if x.leave != nil {
		defer x.leave()
	}
	if x.hijacked {
		return
	}
	if x.recorded != nil {
		x.recorded.End(x.cut)
	}
	if x.inside != nil && !x.hidden() {
		x.p.stats.intercepted.Add(1)
	}
	x.writeRecord()
}

// endTunnel writes the journal's record of a tunnel. status is that of the answer to the CONNECT.
func (x *exchange) endTunnel(status int, sent, received int64, err error) {
	x.rec.Status = status
	x.rec.BytesIn, x.rec.BytesOut = sent, received
	if err != nil {
		x.rec.Error = err.Error()
	}
	x.writeRecord()
}

// failHandshake records for the journal an intercepted connection that ended before its first request.
func (x *exchange) failHandshake(why string) {
	x.rec.Status, x.rec.Error = http.StatusOK, why // of the CONNECT
	x.writeRecord()
}

// writeRecord counts an exchange for the proxy and its user, and has the journal told.
func (x *exchange) writeRecord() {
	x.p.stats.total.Add(1)
	x.tell()
	x.meter.Count(x.began, useOf(x.rec.BytesOut, tokensOf(x.page)))
}

// Journal returns what is told of the last requests.
func (p *Proxy) Journal() *journal.Journal { return p.journal }
