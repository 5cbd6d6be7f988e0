package cache

import "net/http"

// hopByHop are the fields that concern one connection only, and those of a proxy's own sign-in (RFC 9110 §7.6.1, RFC
// 9111 §3.1).
var hopByHop = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
	"Proxy-Connection",
	"Te", "Transfer-Encoding", "Upgrade", "Http2-Settings",
}

// endToEnd removes from a response's fields those that are never stored and never passed on: the fields that its
// Connection names, and the hop-by-hop fields. The fields of framing stay even where Connection names them.
func endToEnd(h http.Header) {
	for name := range elements(h["Connection"]) {
		switch name = http.CanonicalHeaderKey(name); name {
		case "Content-Length", "Date", "Cache-Control":
		default:
			delete(h, name)
		}
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}
