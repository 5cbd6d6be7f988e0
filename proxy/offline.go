package proxy

import (
	"errors"
	"net/http"
)

var errOffline = errors.New("this session is offline")

// storedOnly makes a request one that only what is stored may answer, however stale (RFC 9111 §5.2.1).
func storedOnly(h http.Header) {
	h["Cache-Control"] = append(h["Cache-Control"], "only-if-cached, max-stale")
}

// offlineRefusal answers what no stored response can, as a cache that may not ask its origin does (RFC 9111 §5.2.1.7).
func offlineRefusal(target string) *refusal {
	return &refusal{
		status: http.StatusGatewayTimeout, title: "Offline", proxyError: "destination_unavailable",
		detail: "This session is offline: nothing that is stored answers a request to " + target + ".",
	}
}
