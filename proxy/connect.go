package proxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/elazarl/goproxy"

	"readthru/page"
)

// action is what becomes of a CONNECT.
type action int

const (
	intercept action = iota
	tunnel
	refuse
)

// verdict is the policy's answer to a CONNECT.
type verdict struct {
	action  action
	why     string   // for the log
	refusal *refusal // with refuse
}

// connect is one CONNECT while it is served, and what requests inside it must know of it.
type connect struct {
	host, port string // the target, as splitAuthority gives them
	named      string // the server's name in the TLS handshake inside, if intercepted
	user       User   // who signed in, if anybody had to
	session    string // in which session, if any
	client     string // tells clients apart: address and User-Agent
	verdict    verdict
	end        func(status int, sent, received int64, err error) // logs a tunnel

	secured time.Time // when the TLS handshake inside was done, if intercepted
	spoke   bool      // a byte came after it
}

func (c *connect) target() string { return net.JoinHostPort(c.host, c.port) }

// judge says what becomes of a CONNECT to host and port: ports first, then the first rule that matches, then blocked
// domains, the preset, and the memory of clients that rejected our certificate for the host. A blocked domain is
// intercepted, so that no markdown of it is given (rule A11), while a browser still reads it. Requests inside an
// intercepted connection are judged again, by path.
func (p *Proxy) judge(host, port, client string) verdict {
	if host == localHost {
		return verdict{action: intercept, why: "local"}
	}
	if p.o.Replay != nil {
		return verdict{action: intercept, why: "replay"}
	}
	if !slices.Contains(p.ports, port) {
		return verdict{refuse, "port", &refusal{
			status: http.StatusForbidden, title: "Port refused", proxyError: "connection_refused",
			detail: fmt.Sprintf("CONNECT to port %s is refused: add %s to proxy.connect_ports to allow it.", port, port),
		}}
	}
	if rule, ok := p.o.Rules.Match(host, ""); ok {
		switch rule.Action {
		case "block":
			return verdict{refuse, "rule", blockedRefusal(host)}
		case "tunnel":
			return verdict{action: tunnel, why: "rule"}
		case "intercept":
			return verdict{action: intercept, why: "rule"}
		}
	}
	if page.Blocked(host, p.o.BlockedDomains) {
		return verdict{action: intercept, why: "blocked domain"}
	}
	if category := presetTunnel(host); category != "" {
		return verdict{action: tunnel, why: category}
	}
	if p.o.RejectsCA != nil && p.o.RejectsCA(client, host) {
		return verdict{action: tunnel, why: "client rejected our certificate"}
	}
	return verdict{action: intercept, why: "default"}
}

// serveConnect answers a CONNECT: malformed ones itself, the others through goproxy, which hijacks the connection.
func (s *serving) serveConnect(x *exchange) {
	host, port, err := splitAuthority(x.r.RequestURI, "")
	if err != nil {
		x.refuse(badRequest(fmt.Sprintf("CONNECT %s: %v.", clip(x.r.RequestURI), err)))
		return
	}
	if x.r.ContentLength != 0 { // -1 with Transfer-Encoding; RFC 9110 §9.3.6: no content
		x.refuse(badRequest("A CONNECT request has no content."))
		return
	}
	if bad := s.p.looped(x.r.Header); bad != nil {
		x.refuse(bad)
		return
	}
	user, bad := x.signIn(x.r.Header.Get("Proxy-Authorization"))
	if bad != nil {
		x.refuse(bad)
		return
	}
	x.rec.User = user.Name
	c := &connect{host: host, port: port, user: user, session: x.session, client: clientOf(x.r)}
	c.verdict = s.p.judge(host, port, c.client)
	if s.terms.Offline && c.verdict.action == tunnel {
		c.verdict = verdict{refuse, "offline", offlineRefusal(c.target())}
	}
	x.target = c.target()
	x.hijacked = true
	c.end = x.endTunnel
	if c.verdict.action == refuse {
		x.count(c.verdict.refusal)
		x.endTunnel(c.verdict.refusal.status, 0, 0, nil)
	}
	s.door.ServeHTTP(&replayWriter{x.w}, x.r.WithContext(context.WithValue(x.r.Context(), connectKey{}, c)))
}

type connectKey struct{}

// newDoor returns the goproxy that dispatches what serveConnect hands it, and relays upgrades (AD9). Nothing of it that
// signs, dials or answers by itself is in use; its transport exists only because the type has one, and refuses to dial.
func (s *serving) newDoor() *goproxy.ProxyHttpServer {
	door := goproxy.NewProxyHttpServer()
	door.Tr = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, fmt.Errorf("the dispatcher does not dial")
	}}
	door.ConnectDial = nil
	door.KeepAcceptEncoding = true
	door.Logger = doorLog{s.p.log}
	door.OnRequest().HandleConnectFunc(func(host string, ctx *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) {
		c, ok := ctx.Req.Context().Value(connectKey{}).(*connect)
		if !ok {
			//nolint:bodyclose // of bytes in memory, for goproxy to write
			ctx.Resp = badRequest("This request did not come through the front.").response(ctx.Req)
			return &goproxy.ConnectAction{Action: goproxy.ConnectReject}, host
		}
		if c.verdict.action == refuse {
			ctx.Resp = c.verdict.refusal.response(ctx.Req) //nolint:bodyclose // of bytes in memory, for goproxy to write
			return &goproxy.ConnectAction{Action: goproxy.ConnectReject}, host
		}
		return &goproxy.ConnectAction{
			Action: goproxy.ConnectHijack,
			Hijack: func(r *http.Request, conn net.Conn, _ *goproxy.ProxyCtx) {
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				defer context.AfterFunc(s.draining, cancel)() //nolint:contextcheck // no server ends what was hijacked from it
				if c.verdict.action == tunnel {
					s.tunnel(ctx, c, conn)
					return
				}
				s.intercept(ctx, c, conn)
			},
		}, host
	})
	door.OnRequest().DoFunc(relayed)
	return door
}

// clientOf tells clients apart for the memory of those that rejected our certificate: programs on one machine trust
// different stores, and many name themselves in their CONNECT.
func clientOf(r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	return address + " " + clip(r.UserAgent())
}
