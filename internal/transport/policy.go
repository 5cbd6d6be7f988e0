package transport

import (
	"context"
	"net/http"
	"net/url"
)

// policy says on whose behalf a connection is made, and thus which addresses it may reach.
type policy int

const (
	proxied  policy = iota // a client's own request
	own                    // a fetch by readthru itself or caused by a page
	operator               // an endpoint that the operator configured
)

type (
	ownKey      struct{}
	endpointKey struct{}
	http1Key    struct{} // the connection must not use HTTP/2: its request asks for an upgrade
)

// OwnPolicy returns a context for own fetches, which reach public addresses only. The mark survives
// [context.WithoutCancel].
func OwnPolicy(ctx context.Context) context.Context { return context.WithValue(ctx, ownKey{}, true) }

// Own reports whether a request is under [OwnPolicy].
func Own(req *http.Request) bool { return req.Context().Value(ownKey{}) != nil }

// Endpoint returns a context with the policy for requests to an endpoint that the operator configured. They may go only
// to u's host and port, which may be private, and never share connections with other requests.
func Endpoint(ctx context.Context, u *url.URL) context.Context {
	return context.WithValue(ctx, endpointKey{}, hostPort(u))
}

// policyOf returns the address policy under which a request's connection is dialled, by its context: that of the
// operator's endpoints, of own fetches, or of clients.
func policyOf(ctx context.Context) policy {
	switch {
	case ctx.Value(endpointKey{}) != nil:
		return operator
	case ctx.Value(ownKey{}) != nil:
		return own
	}
	return proxied
}
