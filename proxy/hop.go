package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"readthru/httpfield"
)

// wantsWebSocket reports whether a request asks for a WebSocket (RFC 6455 §4.1). No other upgrade is relayed: h2c is a
// way past every check made here.
func wantsWebSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ProtoMajor == 1 && httpfield.Has(r.Header, "Connection", "upgrade") &&
		httpfield.Has(r.Header, "Upgrade", "websocket")
}

// malformed returns why a request is refused although net/http read it: fields whose meaning the next parser could take
// otherwise.
func malformed(r *http.Request) *refusal {
	for name := range httpfield.ConnectionNames(r.Header) {
		switch strings.ToLower(name) {
		case "content-length", "transfer-encoding", "host":
			return badRequest(fmt.Sprintf("Connection names %s, which says where a message ends or goes.", name))
		}
	}
	if r.ProtoMajor >= 2 { // RFC 9113 §8.2.2
		for _, name := range []string{"Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade"} {
			if r.Header[name] != nil {
				return badRequest("The field " + name + " has no place in HTTP/2.")
			}
		}
		if te := r.Header["Te"]; te != nil && (len(te) != 1 || te[0] != "trailers") {
			return badRequest("In HTTP/2 the field TE may only be trailers.")
		}
	}
	if strings.Contains(r.RequestURI, "#") {
		return badRequest("A request's target has no fragment.")
	}
	return nil
}

// endToEndTrailer reports whether a trailer field may go on: not one that frames, routes, or gives rights (RFC 9110
// §6.5.1).
func endToEndTrailer(name string) bool {
	switch name = http.CanonicalHeaderKey(name); name {
	case "Content-Length", "Transfer-Encoding", "Host", "Trailer", "Content-Encoding", "Content-Type", "Content-Range",
		"Authorization",
		"Cookie", "Set-Cookie", "Cache-Control", "Expires", "Vary", "Location", "Via", "Age", "Date", "Max-Forwards",
		"Www-Authenticate":
		return false
	}
	return !httpfield.OfConnection(name)
}

// viaValue returns our entry for a message received with this protocol version (RFC 9110 §7.6.3).
func (p *Proxy) viaValue(major, minor int) string {
	switch {
	case major == 1 && minor == 1:
		return p.via11
	case major >= 2:
		return fmt.Sprintf("%d %s", major, p.pseudonym)
	}
	return fmt.Sprintf("%d.%d %s", major, minor, p.pseudonym)
}

// addVia notes in h that a message came through here.
func (p *Proxy) addVia(h http.Header, major, minor int) {
	lines := h["Via"]
	h["Via"] = append(slices.Clip(lines), p.viaValue(major, minor))
}

// looped refuses a request that has been here before.
func (p *Proxy) looped(h http.Header) *refusal {
	for _, line := range h["Via"] {
		for entry := range strings.SplitSeq(line, ",") {
			if words := strings.Fields(entry); len(words) >= 2 && words[1] == p.pseudonym {
				return &refusal{
					status: http.StatusLoopDetected, title: "Loop", proxyError: "proxy_loop_detected",
					detail: "The request came back to the proxy that sent it: some proxy setting on its way points here.",
				}
			}
		}
	}
	return nil
}
