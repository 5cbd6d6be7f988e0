package proxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/elazarl/goproxy"

	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy/preset"
	"github.com/readthru/readthru/proxy/strict"
)

// action is the treatment of a CONNECT.
type action int

const (
	intercept action = iota
	tunnel
	refuse
)

// verdict is the policy's decision about a CONNECT.
type verdict struct {
	action  action
	why     string          // for the log; of a tunnel as in tunnelField
	refusal *strict.Refusal // with refuse
}

// connect is a CONNECT being served. Requests inside it refer to it.
type connect struct {
	host, port string      // the target, as splitAuthority gives them
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

func (c *connect) target() string { return net.JoinHostPort(c.host, c.port) }

// judge decides about a CONNECT. It checks, in this order, the allowed ports, the first matching rule, the pause,
// blocked domains, the preset, and whether the client rejected our certificate for the host lately. A blocked domain is
// intercepted, so that its pages are refused as markdown (rule A11) but open in a browser. Rules with a path apply to
// the requests inside an intercepted connection.
func (x *exchange) judge(c *connect) verdict {
	host, port := c.host, c.port
	if host == localHost {
		return verdict{action: intercept, why: "local"}
	}
	if x.p.o.Replay != nil {
		return verdict{action: intercept, why: "replay"}
	}
	if !slices.Contains(x.policy.ports, port) {
		return verdict{refuse, "port", &strict.Refusal{
			Status: http.StatusForbidden, Title: "Port refused", ProxyError: "connection_refused",
			Detail: fmt.Sprintf("CONNECT to port %s is not allowed: to allow it, add %s to proxy.connect_ports.", port, port),
		}}
	}
	v, rule, decided := x.policy.judgeHost(host, x.paused())
	x.rec.Rule = rule
	if decided {
		return v
	}
	if until, ok := x.s.rejects(c); ok {
		return verdict{action: tunnel, why: fmt.Sprintf("client-rejected-ca; until=%q", until.Format(time.RFC3339))}
	}
	return verdict{action: intercept, why: "default"}
}

// judgeHost decides about connections to a host, for all clients. Rule is the pattern of the rule that matched. What is
// not decided is intercepted unless the client rejected our certificate.
func (p *policy) judgeHost(host string, paused bool) (v verdict, rule string, decided bool) {
	if r, ok := p.rules.Match(host, ""); ok {
		rule = r.Host
		switch {
		case r.Action == "block":
			return verdict{refuse, "rule", strict.Blocked(host, strict.ByRule)}, rule, true
		case r.Action == "tunnel":
			return verdict{action: tunnel, why: "rule"}, rule, true
		case r.Action == "intercept" && !paused:
			return verdict{action: intercept, why: "rule"}, rule, true
		}
	}
	switch category := preset.Category(host); {
	case paused:
		return verdict{action: tunnel, why: "paused"}, rule, true
	case page.Blocked(host, p.blocked):
		return verdict{action: intercept, why: "blocked domain"}, rule, true
	case category != "":
		return verdict{action: tunnel, why: fmt.Sprintf("preset; category=%q", category)}, rule, true
	}
	return verdict{action: intercept, why: "default"}, rule, false
}

// Treatment returns what is done with requests for a host, intercept, tunnel or block, and why. Clients that rejected
// our certificate there are tunnelled all the same, and a browser gets the pages of a blocked domain.
func (p *Proxy) Treatment(host string) (treatment, why string) {
	now := p.policy.Load()
	v, _, _ := now.judgeHost(host, now.paused)
	if v.why == "blocked domain" {
		return "block", v.why
	}
	return [...]string{intercept: "intercept", tunnel: "tunnel", refuse: "block"}[v.action], v.why
}

// paused reports whether requests are passed on as they are. An offline session is not: it has nothing to pass on to.
func (x *exchange) paused() bool { return x.policy.paused && !x.s.terms.Offline }

// serveConnect serves a CONNECT. It answers malformed ones itself and passes the others to goproxy, which hijacks the
// connection.
func (s *serving) serveConnect(x *exchange) {
	host, port, err := strict.SplitAuthority(x.r.RequestURI, "")
	if err != nil {
		x.refuse(strict.BadRequest(fmt.Sprintf("CONNECT %s: %v.", strict.Shown(x.r.RequestURI), err)))
		return
	}
	if x.r.ContentLength != 0 { // -1 with Transfer-Encoding; RFC 9110 §9.3.6: no content
		x.refuse(strict.BadRequest("A CONNECT request must not have content."))
		return
	}
	if bad := s.p.via.Looped(x.r.Header); bad != nil {
		x.refuse(bad)
		return
	}
	user, bad := x.signIn(x.r.Header.Get("Proxy-Authorization"))
	if bad != nil {
		x.refuse(bad)
		return
	}
	x.rec.User, x.meter = user.Name(), user.Meter
	c := &connect{host: host, port: port, user: user, session: x.session, client: clientOf(x.r, user), drops: x.drops}
	c.verdict = x.judge(c)
	if s.terms.Offline && c.verdict.action == tunnel {
		c.verdict = verdict{refuse, "offline", offlineRefusal(thisSession, c.target())}
	}
	x.target = c.target()
	x.hijacked = true
	c.end = func(status int, sent, received int64, err error) {
		x.rec.Tunnel = c.verdict.why
		x.endTunnel(status, sent, received, err)
	}
	c.fail = x.failHandshake
	if c.verdict.action == tunnel {
		if bad := overLimit(x.meter.Ask(x.began)); bad != nil {
			c.verdict = verdict{refuse, "limit", bad}
		}
	}
	if c.verdict.action == refuse {
		x.count(c.verdict.refusal)
		x.endTunnel(c.verdict.refusal.Status, 0, 0, nil)
	}
	s.dispatcher.ServeHTTP(&replayWriter{x.w}, x.r.WithContext(context.WithValue(x.r.Context(), connectKey{}, c)))
}

type connectKey struct{}

// newDispatcher returns a goproxy server that dispatches the CONNECT requests of serveConnect and relays upgrades
// (AD9). It never signs, dials or answers by itself. Its transport refuses to dial; it is set because goproxy requires
// one.
func (s *serving) newDispatcher() *goproxy.ProxyHttpServer {
	dispatcher := goproxy.NewProxyHttpServer()
	dispatcher.Tr = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, fmt.Errorf("the dispatcher does not dial")
	}}
	dispatcher.ConnectDial = nil
	dispatcher.KeepAcceptEncoding = true
	dispatcher.Logger = dispatcherLog{s.p.log}
	dispatcher.OnRequest().HandleConnectFunc(func(host string, ctx *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) {
		c, ok := ctx.Req.Context().Value(connectKey{}).(*connect)
		if !ok {
			//nolint:bodyclose // the body is in memory; goproxy writes it
			ctx.Resp = strict.BadRequest("The dispatcher accepts only requests from the proxy's handler.").Response(ctx.Req)
			return &goproxy.ConnectAction{Action: goproxy.ConnectReject}, host
		}
		if c.verdict.action == refuse {
			ctx.Resp = c.verdict.refusal.Response(ctx.Req) //nolint:bodyclose // the body is in memory; goproxy writes it
			return &goproxy.ConnectAction{Action: goproxy.ConnectReject}, host
		}
		return &goproxy.ConnectAction{
			Action: goproxy.ConnectHijack,
			Hijack: func(r *http.Request, conn net.Conn, _ *goproxy.ProxyCtx) {
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				defer context.AfterFunc(s.draining, cancel)() //nolint:contextcheck // hijacked: no server ends it
				if c.verdict.action == tunnel {
					s.tunnel(ctx, c, conn)
					return
				}
				s.intercept(ctx, c, conn)
			},
		}, host
	})
	dispatcher.OnRequest().DoFunc(relayed)
	return dispatcher
}
