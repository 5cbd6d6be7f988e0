package proxy_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestFieldsSelectAPartOfAPage(t *testing.T) {
	b, s := newSiteBench(t, nil)
	_, whole := b.get("http://a.test/page", "Accept: */*")
	for field, want := range map[string]struct{ has, lacks string }{
		"X-Readthru-Selector: h1":       {"# On Foxes", "quick brown"},
		"X-Readthru-Drop: h1, a":        {"quick brown", "# On Foxes"},
		"X-Readthru-Content: whole":     {"Home About", "<nav>"},
		"X-Readthru-Links: text":        {"More", "]("},
		"X-Readthru-Section: on-foxes":  {"# On Foxes", "Home About"},
		"X-Readthru-Start: 12":          {"quick brown", "# On Foxes"},
		"X-Readthru-Images: none":       {"quick brown", "!["},
		"X-Readthru-Selector: p a.none": {"quick brown", "Home About"},
	} {
		resp, body := b.get("http://a.test/page", "Accept: */*", field)
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, want.has) || strings.Contains(body, want.lacks) {
			t.Errorf("%s: %d %q", field, resp.StatusCode, body)
		}
		if resp.Header.Get("Etag") == "" || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/markdown") {
			t.Errorf("%s: fields %v", field, resp.Header)
		}
	}
	resp, cut := b.get("http://a.test/page", "Accept: */*", "X-Readthru-Max-Tokens: 8")
	if resp.Header.Get("X-Readthru-Next") != "12" || !strings.Contains(cut, "[Cut here: 8 of about ") {
		t.Errorf("next %q of %q", resp.Header.Get("X-Readthru-Next"), cut)
	}
	if _, again := b.get("http://a.test/page", "Accept: */*"); again != whole {
		t.Errorf("the page itself changed to %q", again)
	}
	for _, asked := range s.asked {
		if strings.Contains(asked, "Readthru") {
			t.Errorf("the origin was told %q", asked)
		}
	}
	head, _ := b.do(http.MethodHead, "http://a.test/page", nil, "Accept: */*", "X-Readthru-Selector: h1")
	if n := head.Header.Get("Content-Length"); head.StatusCode != http.StatusOK || n != "" {
		t.Errorf("HEAD of a part: %d, Content-Length %q", head.StatusCode, n)
	}
}
