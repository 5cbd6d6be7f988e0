package markdownnew

import (
	"io"
	"net/http"
	"testing"
	"time"
)

// TestWhatIsSent shows the forms of a request: the GET form has the service's options behind the page's address, so
// that a page with a query of its own, or an escape, is sent by POST.
func TestWhatIsSent(t *testing.T) {
	c, err := New("https://service.test/md/")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ target, method, want string }{
		{"https://a.test/x", Auto, "GET https://service.test/md/https://a.test/x "},
		{"https://a.test/x", Browser, "GET https://service.test/md/https://a.test/x?method=browser "},
		{
			"https://a.test/x?y=1", Browser,
			`POST https://service.test/md/ {"method":"browser","retain_images":false,"url":"https://a.test/x?y=1"}`,
		},
		{
			"https://a.test/%20", Auto,
			`POST https://service.test/md/ {"method":"auto","retain_images":false,"url":"https://a.test/%20"}`,
		},
	} {
		req, err := c.Request(tt.target, tt.method)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := req.Method + " " + req.URL.String() + " " + string(body); got != tt.want {
			t.Errorf("%s by %s: %s, want %s", tt.target, tt.method, got, tt.want)
		}
	}
	if _, err := New("not an address"); err == nil {
		t.Error("no error for a malformed address")
	}
}

// TestWhatIsBelieved reads answers as the service writes them, and as a service in trouble does.
func TestWhatIsBelieved(t *testing.T) {
	const md = "# Title\n\nWords of a page, and [a link](https://a.test/).\n"
	for name, tt := range map[string]struct{ contentType, content, markdown, title, failure string }{
		"markdown":        {"text/markdown; charset=utf-8", md, md, "", ""},
		"without a label": {"", md, md, "", ""},
		"JSON": {
			"application/json", `{"success":true,"title":"T","content":"# Title\n\n- a\n- b\n","tokens":7}`,
			"# Title\n\n- a\n- b\n", "T", "",
		},
		"JSON of a failure": {"application/json", `{"error":"no"}`, "", "", "markdown.new failed: no"},
		"no JSON":           {"application/json", `{`, "", "", "markdown.new returned malformed JSON"},
		"an image":          {"image/png", "x", "", "", "markdown.new returned image/png"},
		"nothing":           {"text/markdown", " \n", "", "", "markdown.new returned nothing"},
		"HTML": {
			"text/plain", "<!doctype html><p>x", "", "", "the answer of markdown.new does not look like markdown",
		},
	} {
		h := http.Header{"Content-Type": {tt.contentType}, "X-Markdown-Tokens": {"9"}}
		got, err := Read(h, []byte(tt.content))
		switch {
		case tt.failure != "":
			if err == nil || err.Error() != tt.failure {
				t.Errorf("%s: error %v, want %s", name, err, tt.failure)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case string(got.Markdown) != tt.markdown || got.Title != tt.title:
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestThePauseThatAServiceAsksFor is until Retry-After has passed, or until the next day (UTC) when no request is left.
func TestThePauseThatAServiceAsksFor(t *testing.T) {
	now := time.Date(2026, 5, 1, 22, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		h      http.Header
		failed bool
		until  time.Time
	}{
		"nothing":              {http.Header{}, true, time.Time{}},
		"some are left":        {http.Header{"X-Rate-Limit-Remaining": {"1"}}, false, time.Time{}},
		"none is left":         {http.Header{"X-Rate-Limit-Remaining": {"0"}}, false, now.Add(2 * time.Hour)},
		"wait":                 {http.Header{"Retry-After": {"60"}}, true, now.Add(time.Minute)},
		"wait, of a success":   {http.Header{"Retry-After": {"60"}}, false, time.Time{}},
		"wait for a long time": {http.Header{"Retry-After": {"99999999"}}, true, now.Add(longestPause)},
	} {
		c, err := New("")
		if err != nil {
			t.Fatal(err)
		}
		c.noteLimits(tt.h, tt.failed, now)
		paused := c.Paused(now)
		if paused == tt.until.IsZero() || paused && (!c.Paused(tt.until.Add(-time.Second)) || c.Paused(tt.until)) {
			t.Errorf("%s: until %v, want until %v", name, time.Unix(c.pause.Load(), 0).UTC(), tt.until)
		}
	}
}
