package proxy

import (
	"errors"
	"net/http"
)

var errOffline = errors.New("this session is offline")

// storedOnly lets only stored responses, however stale, answer a request with the fields h (RFC 9111 §5.2.1).
func storedOnly(h http.Header) {
	h["Cache-Control"] = append(h["Cache-Control"], "only-if-cached, max-stale")
}

// offlineRefusal is the answer of an offline session without a stored response, like that of a cache to only-if-cached
// (RFC 9111 §5.2.1.7).
func offlineRefusal(target string) *refusal {
	return &refusal{
		status: http.StatusGatewayTimeout, title: "Offline", proxyError: "destination_unavailable",
		detail: "This session is offline, and no stored response answers a request to " + target + ".",
	}
}
