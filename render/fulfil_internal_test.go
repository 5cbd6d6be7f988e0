package render

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestTheBrowserGetsNoFieldOfTheConnection(t *testing.T) {
	h := http.Header{
		"Connection": {"close, X-Own"}, "X-Own": {"1"}, "Keep-Alive": {"timeout=5"}, "Proxy-Authentication-Info": {"x"},
		"Proxy-Connection": {"close"}, "Te": {"trailers"}, "Trailer": {"Date"}, "Transfer-Encoding": {"chunked"},
		"Upgrade": {"h2c"}, "Content-Encoding": {"gzip"}, "Content-Length": {"9"}, "Content-Disposition": {"attachment"},
		"Alt-Svc": {"h3"}, "Content-Type": {"text/html"}, "Set-Cookie": {"a=1", "b=2"},
	}
	var given []string
	for _, f := range fulfil("1", http.StatusOK, h, nil).ResponseHeaders {
		given = append(given, f.Name+": "+f.Value)
	}
	slices.Sort(given)
	if got, want := strings.Join(given, "\n"), "Content-Type: text/html\nSet-Cookie: a=1\nSet-Cookie: b=2"; got != want {
		t.Errorf("the browser got\n%s\nwant\n%s", got, want)
	}
	if len(h) != 15 {
		t.Errorf("the response lost fields: %v", h)
	}
}
