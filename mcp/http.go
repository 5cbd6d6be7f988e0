package mcp

import (
	"context"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"readthru/users"
)

// maxRequest is the largest content of a request over HTTP, and the longest message on a stream, in bytes.
const maxRequest = 4 << 20

// handler answers the protocol over HTTP, without sessions. The caller must check Host, Origin and token before.
func (s *Server) handler() http.Handler {
	h := sdk.NewStreamableHTTPHandler(s.forRole, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the configuration may add names of this server
	})
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accel-Buffering", "no")
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context())))
	}))
}

// forRole returns the server with the tools that who asks may use.
func (s *Server) forRole(r *http.Request) *sdk.Server {
	if who, _ := users.Of(r.Context()); who.User != nil && !who.User.Role.Allows(users.Write) {
		return s.reading
	}
	return s.sdk
}

// ServeHTTP answers one request of streamable HTTP: only POST, since there are no sessions. It refuses cross-origin
// requests of browsers. The caller must check Host, Origin and token.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.http.ServeHTTP(w, r) }
