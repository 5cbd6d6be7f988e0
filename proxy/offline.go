package proxy

import (
	"errors"
	"net/http"

	"github.com/readthru/readthru/proxy/strict"
)

var errOffline = errors.New("this session is offline")

// storedOnly lets only stored responses, however stale, answer a request with the fields h (RFC 9111 §5.2.1).
func storedOnly(h http.Header) {
	h["Cache-Control"] = append(h["Cache-Control"], "only-if-cached, max-stale")
}

// Which listeners may be offline.
const (
	thisSession = "This session"
	readthru    = "readthru"
)

// offlineRefusal is the answer without a stored response of an offline session, or of readthru as a whole, like that of
// a cache to only-if-cached (RFC 9111 §5.2.1.7).
func offlineRefusal(who, target string) *strict.Refusal {
	return &strict.Refusal{
		Status: http.StatusGatewayTimeout, Title: "Offline", ProxyError: "destination_unavailable",
		Detail: who + " is offline, and no stored response answers a request to " + target + ".",
	}
}
