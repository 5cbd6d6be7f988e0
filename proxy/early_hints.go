package proxy

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"

	"github.com/readthru/readthru/internal/httpfield"
)

// earlyHints forwards the interim responses of an origin until its final response arrives (RFC 9110 §15.2).
type earlyHints struct {
	mu      sync.Mutex
	x       *exchange
	stopped bool
}

// withEarlyHints returns a context under which a round trip forwards interim responses to x until stop is called.
// HTTP/1.0 has no interim responses.
func withEarlyHints(ctx context.Context, x *exchange) (context.Context, *earlyHints) {
	hints := &earlyHints{x: x, stopped: !x.r.ProtoAtLeast(1, 1)}
	if hints.stopped {
		return ctx, hints
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: hints.got}), hints
}

// got forwards an interim response to the client, such as 103 (Early Hints), with its fields and none of the final
// ones.
func (e *earlyHints) got(code int, fields textproto.MIMEHeader) error {
	// net/http sends 100 (Continue) itself; 101 is a final response
	if code == http.StatusContinue || code == http.StatusSwitchingProtocols {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return nil
	}
	interim := http.Header(fields).Clone()
	httpfield.RemoveConnection(interim)
	httpfield.RemoveOurs(interim)
	h := e.x.w.Header()
	maps.Copy(h, interim)
	e.x.w.WriteHeader(code)
	clear(h)
	return nil
}

// stop ends the forwarding: from then on the final response is written, by another goroutine.
func (e *earlyHints) stop() {
	e.mu.Lock()
	e.stopped = true
	e.mu.Unlock()
}
