package httpfield

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// HasCredentials reports whether the fields of a request may tell the origin who asks: Authorization and Cookie, but
// also X-Api-Key, X-Auth-Token and whatever else an origin has invented. Nobody can list those. So it is the other way
// round: the fields that clients send for everybody are known, and every other one counts as a credential.
func HasCredentials(h http.Header) bool {
	for name := range h {
		if !Impersonal(name) {
			return true
		}
	}
	return false
}

// Credentials returns the fields that [HasCredentials] finds, without those named, in one string that is the same for
// the same credentials; empty if there are none.
func Credentials(h http.Header, without ...string) string {
	if !HasCredentials(h) {
		return ""
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !Impersonal(name) && !slices.Contains(without, name) {
			for _, value := range h[name] {
				b.WriteString(name + ": " + value + "\n")
			}
		}
	}
	return b.String()
}

// Impersonal reports whether a request field with this canonical name says the same whoever asks: what is accepted,
// which client it is, conditions, ranges, framing, tracing.
//
// Fields by which proxies say for whom they ask (Forwarded, X-Forwarded-*, X-Real-Ip) are not among them: some origins
// let in by address or by X-Forwarded-User, and what X-Forwarded-Host names gets into pages. Of Sec-* only the families
// that browsers send with every request are: Sec-Token-Binding and Sec-Secure-Session-Response are credentials.
func Impersonal(name string) bool {
	switch name {
	// what is accepted, and how (RFC 9110 §12, RFC 7240, RFC 3229, RFC 9842)
	case "Accept", "Accept-Charset", "Accept-Datetime", "Accept-Encoding", "Accept-Language", "Accept-Signature",
		"Accept-Patch", "Accept-Ranges", "Accept-Ch", "Accept-Push-Policy", "A-Im", "Available-Dictionary", "Dictionary-Id",
		"Prefer", "Priority", "Save-Data", "Te", "Want-Content-Digest", "Want-Digest", "Want-Repr-Digest",
		// which client it is, and from where it comes
		"User-Agent", "From", "Referer", "Origin", "Via", "Dnt", "Alt-Used", "Purpose", "X-Purpose", "X-Moz", "X-Client-Data",
		"Upgrade-Insecure-Requests", "Service-Worker", "Service-Worker-Navigation-Preload", "Last-Event-Id", "Early-Data",
		// client hints from before they began with Sec-
		"Device-Memory", "Downlink", "Dpr", "Ect", "Rtt", "Viewport-Width", "Width", //nolint:misspell // it is a client hint
		// caching, conditions, ranges (RFC 9110 §13, §14, RFC 9111 §5)
		"Cache-Control", "Pragma", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since",
		"Range",
		// the message itself
		"Content-Encoding", "Content-Language", "Content-Length", "Content-Type", "Date", "Expect", "Expires", "Host",
		"Max-Forwards",
		// what is asked of a connection; never sent on
		"Connection", "Http2-Settings", "Keep-Alive", "Proxy-Connection", "Trailer", "Transfer-Encoding", "Upgrade",
		// tracing
		"Traceparent", "Tracestate", "Baggage", "B3", "X-B3-Traceid", "X-B3-Spanid", "X-B3-Parentspanid", "X-B3-Sampled",
		"X-B3-Flags", "X-Request-Id", "Request-Id", "X-Correlation-Id", "Correlation-Context", "X-Trace-Id",
		"X-Amzn-Trace-Id", "X-Cloud-Trace-Context", "Sentry-Trace", "Uber-Trace-Id", "Elastic-Apm-Traceparent", "Newrelic",
		"X-Datadog-Trace-Id", "X-Datadog-Parent-Id", "X-Datadog-Sampling-Priority", "X-Datadog-Origin", "X-Datadog-Tags",
		// tools
		"Git-Protocol", "Mcp-Protocol-Version", "Npm-Auth-Type", "Npm-Command", "Npm-In-Ci", "Npm-Scope", "Npm-Session",
		"Pacote-Integrity", "Pacote-Pkg-Id", "Pacote-Req-Type", "Pacote-Version", "X-Nuget-Client-Version",
		"X-Nuget-Session-Id", "X-Pub-Command", "X-Pub-Environment", "X-Pub-Os", "X-Pub-Reason", "X-Pub-Session-Id",
		"X-Terraform-Version", "X-Github-Api-Version", "Cargo-Protocol",
		// the public suite of cache tests, which numbers its requests
		"Test-Id", "Test-Name", "Req-Num":
		return true
	// what browsers say of a request
	case "Sec-Gpc", "Sec-Purpose", "Sec-Speculation-Tags", "Sec-Websocket-Extensions", "Sec-Websocket-Key",
		"Sec-Websocket-Version":
		return true
	}
	return strings.HasPrefix(name, "Sec-Fetch-") || strings.HasPrefix(name, "Sec-Ch-")
}
