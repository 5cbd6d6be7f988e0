package mcp

import (
	"context"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxRequest is the largest content of a request over HTTP, and the longest message on a stream, in bytes.
const maxRequest = 4 << 20

// handler answers the protocol over HTTP, without sessions. Who mounts it checks Host, Origin and token before.
func (s *Server) handler() http.Handler {
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // names of ours that the configuration adds are good, too
	})
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accel-Buffering", "no")
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context())))
	}))
}

// ServeHTTP answers one request of streamable HTTP: POST alone, since there are no sessions. It refuses cross-origin
// requests of browsers; Host, Origin and token are for whoever mounts it to check.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.http.ServeHTTP(w, r) }
