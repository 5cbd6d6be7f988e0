package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/elazarl/goproxy"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/proxy/strict"
)

// relay forwards a request to switch to protocol, which is that of upgradeOf, past the cache. If the origin switches,
// goproxy copies the frames of a WebSocket; it knows no other protocol, and ends both directions with the first. Any
// other response is streamed as usual.
func (x *exchange) relay(protocol string) {
	x.prepare()
	r := x.r
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", protocol)
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
	resp.Header.Set("Upgrade", protocol)
	x.p.via.Add(resp.Header, resp.ProtoMajor, resp.ProtoMinor)
	x.rec.Status = resp.StatusCode
	w := &relayWriter{ResponseWriter: x.w, s: x.s, ctx: r.Context()}
	defer w.close()
	if protocol != strict.WebSocket {
		x.join(w, resp)
		return
	}
	x.s.dispatcher.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), relayKey{}, resp)))
}

// join relays: it hands the client the origin's answer, which switches to a protocol that goproxy does not know, and
// copies between them until both sides are done.
func (x *exchange) join(w *relayWriter, resp *http.Response) {
	origin, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		resp.Body.Close()
		x.fail(x.r.URL, errNotSwitched)
		return
	}
	defer origin.Close()
	conn, rw, err := w.Hijack()
	if err != nil {
		x.rec.Error = err.Error()
		return
	}
	early, err := rw.Peek(rw.Reader.Buffered())
	head := &http.Response{ProtoMajor: 1, ProtoMinor: 1, StatusCode: resp.StatusCode, Header: resp.Header}
	if err == nil {
		err = head.Write(conn)
	}
	if err == nil {
		_, _, err = pipe(&replayConn{conn, bytes.Clone(early)}, origin)
	}
	if err != nil {
		x.rec.Error = err.Error()
	}
}

// errNotSwitched means that what carries an answer that switches protocols carries nothing from the client.
var errNotSwitched = errors.New("the connection to the origin cannot switch protocols")

// relayKey is the key of the origin's response in the context of the request that goproxy relays.
type relayKey struct{}

// relayed gives goproxy the origin's response that relay obtained, as if goproxy had sent the request. It refuses every
// other request, which goproxy would otherwise forward by itself.
func relayed(r *http.Request, ctx *goproxy.ProxyCtx) (*http.Request, *http.Response) {
	resp, ok := r.Context().Value(relayKey{}).(*http.Response)
	if !ok {
		return r, strict.BadRequest("The dispatcher accepts only requests from the proxy's handler.").Response(r)
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
		untrack := w.s.track(conn)
		forget := context.AfterFunc(w.ctx, fault.Contain("proxy: end a relay", func() { hangUp(conn) }))
		w.conn, w.untrack = conn, func() {
			forget()
			untrack()
		}
	}
	return conn, rw, err
}

// close closes the relayed connection, if it was hijacked.
func (w *relayWriter) close() {
	if w.conn != nil {
		hangUp(w.conn)
		w.untrack()
	}
}
