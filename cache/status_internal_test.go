package cache

import (
	"net/http"
	"testing"
	"time"
)

func TestCacheStatus(t *testing.T) {
	for _, tt := range []struct {
		status status
		want   string
	}{
		{status{hit: true, ttl: 59900 * time.Millisecond}, "readthru; hit; ttl=59"},
		{
			status{hit: true, ttl: -1500 * time.Millisecond, detail: "disconnected"},
			"readthru; hit; ttl=-2; detail=disconnected",
		},
		{
			status{fwd: "uri-miss", fwdStatus: 200, stored: true, collapsed: true},
			"readthru; fwd=uri-miss; fwd-status=200; stored; collapsed",
		},
		{status{fwd: "stale", fwdStatus: 304}, "readthru; fwd=stale; fwd-status=304"},
	} {
		if got := tt.status.String(); got != tt.want {
			t.Errorf("%+v = %q, want %q (RFC 9211 §2)", tt.status, got, tt.want)
		}
	}
}

func TestKey(t *testing.T) {
	for in, want := range map[string]string{
		"http://A.Test":                    "http://a.test/",
		"https://a.test:443/x":             "https://a.test/x",
		"http://a.test:80/x?b=1&a=2#top":   "http://a.test/x?b=1&a=2",
		"https://a.test:80/":               "https://a.test:80/",
		"http://user:secret@a.test/x":      "http://a.test/x",
		"http://a.test/a%2Fb?":             "http://a.test/a%2Fb?",
		"http://[::1]:80/":                 "http://[::1]/",
		"HTTP://a.test/Path?Query=Case%20": "http://a.test/Path?Query=Case%20",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := Key(req); got != want {
			t.Errorf("Key(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestInvalidated(t *testing.T) {
	for _, tt := range []struct {
		method string
		code   int
		fields string
		want   int // keys
	}{
		{"GET", 200, "", 0},
		{"PROPFIND", 200, "", 0},
		{"POST", 200, "", 1},
		{"M-SEARCH", 200, "", 1},
		{"POST", 500, "", 0},
		{"POST", 201, "Location: /new\nContent-Location: https://a.test/other", 3},
		{"POST", 201, "Location: https://b.test/new", 1},
		{"POST", 201, "Location: http://a.test/new", 1},
		{"POST", 201, "Location: https://a.test:443/new", 2},
		{"POST", 201, "Location: :%", 1},
	} {
		q := get(&shared, "")
		q.Method = tt.method
		if got := invalidated(q, tt.code, fields(tt.fields)); len(got) != tt.want {
			t.Errorf("%s %d %q invalidates %q, want %d keys (RFC 9111 §4.4)", tt.method, tt.code, tt.fields, got, tt.want)
		}
	}
}
