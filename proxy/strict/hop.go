package strict

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/readthru/readthru/internal/httpfield"
)

// WebSocket is the protocol of RFC 6455.
const WebSocket = "websocket"

// UpgradeOf returns the protocol that a request asks to switch to (RFC 9110 §7.8), if it is one that is relayed, else
// "": a WebSocket (RFC 6455 §4.1), and what kubectl (SPDY/3.1) and docker (tcp) use for exec and attach. No other is:
// h2c would bypass every check of this package.
func UpgradeOf(r *http.Request) string {
	if r.ProtoMajor != 1 || !httpfield.Has(r.Header, "Connection", "upgrade") {
		return ""
	}
	if r.Method == http.MethodGet && httpfield.Has(r.Header, "Upgrade", WebSocket) {
		return WebSocket
	}
	if r.Method == http.MethodGet || r.Method == http.MethodPost {
		for _, protocol := range []string{"SPDY/3.1", "tcp"} {
			if httpfield.Has(r.Header, "Upgrade", protocol) {
				return protocol
			}
		}
	}
	return ""
}

// WarnUpgrade is the warning that the answer to a request has which was forwarded without the upgrade that it asked
// for.
const WarnUpgrade = "upgrade-not-relayed"

// Malformed refuses requests that net/http accepts, but that the parser at the next hop could interpret differently. It
// returns nil for a well-formed request.
func Malformed(r *http.Request) *Refusal {
	// HTTP/2's preface looks like a request with the method PRI. Forwarded as one, it may begin HTTP/2 at a server behind
	// this proxy.
	if r.Method == "PRI" {
		return BadRequest("PRI begins a connection of HTTP/2 and is the method of no request (RFC 9113 §3.4).")
	}
	if r.RequestURI == "*" && r.Method != http.MethodOptions {
		return BadRequest("Only OPTIONS has the target * (RFC 9112 §3.2.4).")
	}
	// A field that Connection names is removed before the request is forwarded. The next server would then find another
	// end of the message, or another host, than was checked here.
	for name := range httpfield.ConnectionNames(r.Header) {
		switch strings.ToLower(name) {
		case "content-length", "transfer-encoding", "host":
			return BadRequest(fmt.Sprintf("The Connection field must not name %s, which frames or routes the message.", name))
		}
	}
	if r.ProtoMajor >= 2 { // RFC 9113 §8.2.2
		for _, name := range []string{"Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade"} {
			if r.Header[name] != nil {
				return BadRequest("HTTP/2 does not allow the field " + name + ".")
			}
		}
		if te := r.Header["Te"]; te != nil && (len(te) != 1 || te[0] != "trailers") {
			return BadRequest("HTTP/2 allows the field TE only with the value trailers.")
		}
		if !httpguts.ValidHeaderFieldName(r.Method) { // net/http looks in HTTP/1 only; a method is a token, as a name is
			return BadRequest("The request's method is not a token (RFC 9110 §9.1).")
		}
		if e := r.Header.Get("Expect"); e != "" && !strings.EqualFold(e, "100-continue") { // net/http looks in HTTP/1 only
			return &Refusal{
				Status: http.StatusExpectationFailed, Title: "Expectation failed", ProxyError: "http_request_error",
				Detail: "The only expectation is 100-continue (RFC 9110 §10.1.1).",
			}
		}
		// The length was declared and the stream had its own end: with HTTP/1 on the other side the declared one frames.
		lengths := r.Header["Content-Length"]
		if len(lengths) > 1 || len(lengths) == 1 && lengths[0] != strconv.FormatInt(r.ContentLength, 10) {
			return BadRequest("The request's Content-Length is not one number.")
		}
		if strings.ContainsFunc(r.RequestURI, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
			return BadRequest("A request's target must not contain spaces or control characters.")
		}
	}
	if strings.Contains(r.RequestURI, "#") {
		return BadRequest("A request's target must not have a fragment.")
	}
	return nil
}

// EndToEndTrailer reports whether a trailer field may be forwarded: fields that frame, route or authenticate may not
// (RFC 9110 §6.5.1), nor those of this proxy.
func EndToEndTrailer(name string) bool {
	switch name = http.CanonicalHeaderKey(name); name {
	case "Content-Length", "Transfer-Encoding", "Host", "Trailer", "Content-Encoding", "Content-Type", "Content-Range",
		"Authorization",
		"Cookie", "Set-Cookie", "Cache-Control", "Expires", "Vary", "Location", "Via", "Age", "Date", "Max-Forwards",
		"Www-Authenticate":
		return false
	}
	return !httpfield.OfConnection(name) && !strings.HasPrefix(name, httpfield.OurPrefix)
}
