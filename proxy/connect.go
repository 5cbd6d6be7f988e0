package proxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/elazarl/goproxy"

	"github.com/readthru/readthru/proxy/strict"
)

// serveConnect serves a CONNECT of the handler: it signs the user in, asks the policy, and passes the request to
// goproxy, which hijacks the connection. It answers malformed ones itself. The record of a tunnel is written when it
// ends, by c.end.
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
	// A tunnel has no requests to count, so that it counts as one. Those inside an intercepted connection count one by
	// one.
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

// connectKey is the key of a connect in the context of the request that goproxy gets.
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

// target returns the target of the CONNECT as host:port.
func (c *connect) target() string { return net.JoinHostPort(c.host, c.port) }

// targetURL returns the target of the CONNECT as a URL, for the texts of errors.
func (c *connect) targetURL() *url.URL {
	return &url.URL{Scheme: "https", Host: strict.JoinAuthority(c.host, c.port, "443")}
}
