package journal_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/journal"
)

func TestAReplayCarriesWhatIsKnownAndNothingOfTheConnection(t *testing.T) {
	long := strings.Repeat("a", 2000)
	e := journal.Entry{Method: "GET", URL: "https://a.test/?q=1", Asked: journal.RequestFields(http.Header{
		"Accept": {"text/markdown", "text/html"}, "Authorization": {"Bearer s3cret"}, "Cookie": {"id=s3cret"},
		"Connection": {"keep-alive, From"}, "From": {"me@a.test"}, "Keep-Alive": {"timeout=5"}, "Te": {"trailers"},
		"Http2-Settings": {"AAMAAABkAAQAAP__"}, "Trailer": {"Date"}, "Proxy-Connection": {"keep-alive"},
		"Via": {"1.1 other"}, "Referer": {"https://b.test/?token=s3cret"},
		"X-Request-Id": {"first"}, "Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		"Accept-Language": {long},
	})}
	r, err := e.Replay(t.Context(), "again")
	if err != nil {
		t.Fatal(err)
	}
	if r.Method != http.MethodGet || r.URL.String() != "https://a.test/?q=1" || r.Header.Get("X-Request-Id") != "again" ||
		len(r.Header["Accept"]) != 2 {
		t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	for name := range r.Header {
		if name != "Accept" && name != "X-Request-Id" && name != "User-Agent" {
			t.Errorf("%s: %q is sent", name, r.Header[name])
		}
	}
}

func TestWhatCannotBeSentAgainIsRefused(t *testing.T) {
	for _, test := range []struct{ method, url, why string }{
		{"POST", "https://a.test/", "a request by POST may change something"},
		{"CONNECT", "a.test:443", "a request by CONNECT may change something"},
		{"GET", "https://a.test/?token=***", "held a secret"},
		{"GET", "https://***@a.test/", "held a secret"},
		{"GET", "https://a.test:x/", "cannot be asked for"},
	} {
		e := journal.Entry{Method: test.method, URL: test.url}
		if _, err := e.Replay(t.Context(), "again"); err == nil || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s %s: %v", test.method, test.url, err)
		}
	}
}
