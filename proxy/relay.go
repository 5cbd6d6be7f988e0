package proxy

import (
	"bufio"
	"context"
	"net"
	"net/http"

	"github.com/elazarl/goproxy"

	"readthru/cache"
	"readthru/httpfield"
)

// relay forwards a WebSocket request to the origin, past the cache. If the origin switches protocols, goproxy copies
// the frames; any other response is streamed as usual.
func (x *exchange) relay() {
	r := x.r
	x.prepare()
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	resp, err := x.p.o.Transport.RoundTrip(r)
	if err != nil {
		x.fail(r.URL, err)
		return
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		x.stream(resp, cache.Outcome{})
		return
	}
	httpfield.RemoveConnection(resp.Header)
	resp.Header.Set("Connection", "Upgrade")
	resp.Header.Set("Upgrade", "websocket")
	x.p.addVia(resp.Header, resp.ProtoMajor, resp.ProtoMinor)
	x.rec.Status = resp.StatusCode
	w := &relayWriter{ResponseWriter: x.w, s: x.s, ctx: r.Context()}
	defer w.close()
	x.s.dispatcher.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), relayKey{}, resp)))
}

type relayKey struct{}

// relayed gives goproxy the origin's response that relay obtained. It refuses every other request, which goproxy would
// otherwise forward by itself.
func relayed(r *http.Request, ctx *goproxy.ProxyCtx) (*http.Request, *http.Response) {
	resp, ok := r.Context().Value(relayKey{}).(*http.Response)
	if !ok {
		return r, badRequest("The dispatcher accepts only requests from the proxy's handler.").response(r)
	}
	ctx.RoundTripper = goproxy.RoundTripperFunc(func(*http.Request,
		*goproxy.ProxyCtx,
	) (*http.Response, error) {
		return resp, nil
	})
	return r, nil
}

// relayWriter is a ResponseWriter that remembers the connection hijacked from it, to close it: goproxy leaves it open
// after the origin closes its side.
type relayWriter struct {
	http.ResponseWriter
	s       *serving
	ctx     context.Context // of the request: when it ends, the connection does
	conn    net.Conn
	untrack func()
}

// Hijack implements [http.Hijacker].
func (w *relayWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		if f, ok := conn.(*framedConn); ok {
			f.pace.Stop(conn) // what pauses may go on later
		}
		untrack, forget := w.s.track(conn), context.AfterFunc(w.ctx, func() { hangUp(conn) })
		w.conn, w.untrack = conn, func() {
			forget()
			untrack()
		}
	}
	return conn, rw, err
}

func (w *relayWriter) close() {
	if w.conn != nil {
		hangUp(w.conn)
		w.untrack()
	}
}
