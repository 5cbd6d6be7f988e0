package mcp

import (
	"context"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/users"
)

// maxRequest is the largest content of a request over HTTP, and the longest message on a stream, in bytes.
const maxRequest = 4 << 20

// handler answers the protocol over HTTP, without sessions: each POST is one message, and nothing is kept between two.
// The caller must check Host, Origin and token before.
func (s *Server) handler() http.Handler {
	o := sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the configuration may add names of this server
	}
	streams := sdk.NewStreamableHTTPHandler(s.forRole, &o)
	o.JSONResponse = true
	whole := sdk.NewStreamableHTTPHandler(s.forRole, &o)
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accel-Buffering", "no")
		// The SDK gives a call a context of its own; untilGone needs the request's.
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context()))
		h := streams
		if inJSON, inStream := takes(r.Header["Accept"]); inJSON || inStream {
			// The SDK answers only clients that name both types. Many name one, or none.
			r.Header = r.Header.Clone()
			r.Header.Set("Accept", "application/json, text/event-stream")
			if !inStream {
				h = whole
			}
		}
		h.ServeHTTP(w, r)
	}))
}

// takes reports in which forms a client with these lines of Accept takes an answer over HTTP: as JSON, as a stream of
// events. A client without the field takes either. A form with the weight 0 is refused (RFC 9110, section 12.4.2).
func takes(accept []string) (inJSON, inStream bool) {
	if len(accept) == 0 {
		return true, true
	}
	for element := range httpfield.Elements(accept) {
		mediaType, weight, _ := httpfield.Weighted(element)
		if weight == 0 {
			continue
		}
		switch strings.ToLower(mediaType) {
		case "*/*":
			inJSON, inStream = true, true
		case "application/json", "application/*":
			inJSON = true
		case "text/event-stream", "text/*":
			inStream = true
		}
	}
	return inJSON, inStream
}

// forRole returns the server of the SDK with the tools that the user of an HTTP request may use: without those that
// write for the role read. Who has no user, as on a machine of one person, has all of them.
func (s *Server) forRole(r *http.Request) *sdk.Server {
	if who, _ := users.Of(r.Context()); who.User != nil && !who.User.Role.Allows(users.Write) {
		return s.reading
	}
	return s.sdk
}

// ServeHTTP answers one request of streamable HTTP: only POST, since there are no sessions. Below its path it answers
// the card of the server. It refuses cross-origin requests of browsers. The caller must check Host, Origin and token.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, cardPath) {
		s.serveCard(w, r)
		return
	}
	s.http.ServeHTTP(w, r)
}

// requestKey is the key of the context of an HTTP request in the contexts of the tool calls that it carries.
type requestKey struct{}

// untilGone ends a call with the HTTP request that carries it. In the protocol before 2026-07-28 calls outlive the
// request, for a client that reconnects; without sessions no client can.
func untilGone(ctx context.Context, cancel context.CancelFunc) (leave func()) {
	request, ok := ctx.Value(requestKey{}).(context.Context)
	if !ok {
		return func() {}
	}
	stop := context.AfterFunc(request, cancel) //nolint:contextcheck // it ends with the request as well
	return func() { stop() }
}
