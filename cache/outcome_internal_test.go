package cache

import (
	"net/http"
	"testing"
	"time"
)

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		outcome        Outcome
		field, summary string
		read           Outcome // as it is read again: whole seconds
	}{
		{
			Outcome{Hit: true, TTL: 59900 * time.Millisecond},
			"readthru; hit; ttl=59", "hit",
			Outcome{Hit: true, TTL: 59 * time.Second},
		},
		{
			Outcome{Hit: true, TTL: -1500 * time.Millisecond, Detail: "disconnected"},
			"readthru; hit; ttl=-2; detail=disconnected", "stale",
			Outcome{Hit: true, TTL: -2 * time.Second, Detail: "disconnected"},
		},
		{
			Outcome{Forward: "uri-miss", Status: 200, Stored: true, Collapsed: true},
			"readthru; fwd=uri-miss; fwd-status=200; stored; collapsed", "miss",
			Outcome{Forward: "uri-miss", Status: 200, Stored: true, Collapsed: true},
		},
		{
			Outcome{Forward: "stale", Status: 304},
			"readthru; fwd=stale; fwd-status=304", "revalidated",
			Outcome{Forward: "stale", Status: 304},
		},
		{
			Outcome{Forward: "method", Status: 200},
			"readthru; fwd=method; fwd-status=200", "bypass",
			Outcome{Forward: "method", Status: 200},
		},
		{Outcome{}, "", "", Outcome{}},
	} {
		if got := tt.outcome.String(); got != tt.field {
			t.Errorf("%+v = %q, want %q (RFC 9211 §2)", tt.outcome, got, tt.field)
		}
		if got := tt.outcome.Summary(); got != tt.summary {
			t.Errorf("%+v in a word is %q, want %q", tt.outcome, got, tt.summary)
		}
		h := http.Header{}
		tt.outcome.AddTo(h)
		if got := ParseOutcome(h); got != tt.read {
			t.Errorf("%q is read as %+v, want %+v", h, got, tt.read)
		}
	}
}

func TestOnlyOurLastMemberIsAnOutcomeOfOurs(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  Outcome
	}{
		{[]string{"cdn; hit, readthru; fwd=stale"}, Outcome{Forward: "stale"}},
		{[]string{"cdn; fwd=miss", "readthru; hit; ttl=-412"}, Outcome{Hit: true, TTL: -412 * time.Second}},
		{[]string{"readthru; hit; ttl=9, cdn; hit; ttl=5"}, Outcome{}},
		{[]string{`"readthru"; hit`}, Outcome{}},
		{[]string{"readthru; hit; ttl=;"}, Outcome{}},
		{nil, Outcome{}},
	} {
		if got := ParseOutcome(http.Header{"Cache-Status": tt.lines}); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.lines, got, tt.want)
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
