package proxy

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/readthru/readthru/proxy/strict"
)

// wellFormed resolves the target of a request of the proxy. It refuses a request that two parsers could interpret
// differently, and a loop.
func (x *incoming) wellFormed() *strict.Refusal {
	if bad := strict.Malformed(x.r); bad != nil {
		return bad
	}
	resolve := x.resolve
	if x.inside == nil && !x.r.URL.IsAbs() {
		resolve = x.resolveDirect
	}
	if bad := resolve(); bad != nil {
		return bad
	}
	return x.p.via.Looped(x.r.Header)
}

// resolve completes the target of the request, a URL, from its connection and brings it into canonical form. It refuses
// a target that two parsers could interpret differently. A request inside an intercepted connection must be for the
// target of the CONNECT or for the server name of the TLS handshake; any other is misdirected (RFC 9110 §15.5.20).
func (x *incoming) resolve() *strict.Refusal {
	r := x.r
	if x.inside == nil {
		return strict.ResolvePlain(r)
	}
	if r.URL.Host != "" || r.URL.Scheme != "" {
		return strict.BadRequest("The target of a request inside a tunnel must be a path, not a URL.")
	}
	if ofServer := r.Method == http.MethodOptions && r.RequestURI == "*"; !ofServer && r.ProtoMajor == 1 &&
		!strings.HasPrefix(r.RequestURI, "/") {
		return strict.BadRequest("The target of a request inside a tunnel must be a path.")
	}
	host, port, err := strict.SplitAuthority(r.Host, "443")
	if err != nil {
		return strict.BadRequest(fmt.Sprintf("Host %q: %v.", strict.Shown(r.Host), err))
	}
	if port != x.inside.port || host != x.inside.host && host != x.inside.named {
		return &strict.Refusal{
			Status: http.StatusMisdirectedRequest, Title: "Misdirected request", ProxyError: "http_request_denied",
			Detail: fmt.Sprintf("The request is for %s, but the tunnel is to %s.", strict.Shown(r.Host), x.inside.target()),
		}
	}
	return strict.SetTarget(r, "https", strict.JoinAuthority(host, port, "443"))
}
