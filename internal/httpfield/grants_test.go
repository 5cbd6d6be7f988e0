package httpfield_test

import (
	"net/http"
	"testing"

	"github.com/readthru/readthru/internal/httpfield"
)

func TestFieldsThatGrantSomethingAreKnown(t *testing.T) {
	for name, want := range map[string]bool{
		"Set-Cookie": true, "Set-Cookie2": true, "Authorization": true, "X-Auth-Token": true, "X-Subject-Token": true,
		"X-Csrf-Token": true, "X-Xsrf-Token": true, "X-Session-Id": true, "X-Api-Key": true, "X-Amz-Security-Token": true,
		"Replay-Nonce": true, "X-Jwt-Assertion": true, "X-Access-Key": true, "Session": true, "X-Refresh-Token": true,

		"Content-Type": false, "Etag": false, "Surrogate-Key": false, "X-Cache-Key": false, "Cache-Tag": false,
		"Www-Authenticate": false, "Authentication-Info": false, "Public-Key-Pins": false, "X-Markdown-Tokens": false,
		"X-Ratelimit-Remaining-Tokens": false, "X-Token-Count": false, "Access-Control-Allow-Credentials": false,
		"Access-Control-Allow-Headers": false, "Sec-Websocket-Accept": false, "X-Session-Expires": false,
		"Origin-Trial": false, "X-Amz-Cf-Id": false, "X-Request-Id": false, "Content-Security-Policy": false,
		"Keep-Alive": false, "Idempotency-Key": false, "X-Author": false, "Token-Limit": false, "": false,
	} {
		if got := httpfield.Grants(name); got != want {
			t.Errorf("Grants(%s) = %v, want %v", name, got, want)
		}
	}
	h := http.Header{"X-Auth-Token": {"a"}, "Etag": {`"b"`}}
	if httpfield.RemoveGrants(h); len(h) != 1 || h.Get("Etag") == "" {
		t.Errorf("left: %v", h)
	}
}
