package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestTextIsCleanedForAgentsAndPassesToTools(t *testing.T) {
	const hostile = "# Title\n\nKEEP\x1b[31m\u202e and more words than a stub has <!-- HIDE --> KEEP\n"
	b := newBenchOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", strings.TrimPrefix(r.URL.Path, "/"))
		w.Header().Set("Etag", `"o"`)
		w.Header().Set("Cache-Control", "max-age=600")
		io.WriteString(w, hostile)
	}), nil)
	for _, tt := range []struct {
		path, field string
		clean       bool
		warning     string
	}{
		{"text/markdown", "Accept: */*", true, "hidden-text-removed=2"},
		{"text/x-markdown", "Accept: text/markdown", true, "hidden-text-removed=2"},
		{"text/plain", "Accept: text/markdown, */*", true, "hidden-text-removed=2"},
		{"text/plain", "X-Readthru-Mode: markdown", true, "hidden-text-removed=2"},
		{"application/json", "Accept: text/markdown", true, "hidden-text-removed=1"},
		{"text/plain", "Accept: */*", false, ""},
		{"application/json", "Accept: */*", false, ""},
		{"text/markdown", "X-Readthru-Mode: raw", false, "unfiltered"},
		{"text/plain", "X-Readthru-Mode: raw", false, "unfiltered"},
		{"image/png", "X-Readthru-Mode: raw", false, ""},
	} {
		for range 2 { // from the origin, and from the cache
			resp, body := b.get("https://a.test/"+tt.path, tt.field)
			if clean := !strings.ContainsAny(body, "\x1b\u202e"); clean != tt.clean || clean &&
				strings.Count(body, "KEEP") != 2 ||
				!clean && body != hostile {
				t.Errorf("%s with %s: %q", tt.path, tt.field, body)
			}
			if comment := strings.Contains(body, "HIDE"); comment != (!tt.clean || tt.path == "application/json") {
				t.Errorf("%s with %s: %q", tt.path, tt.field, body)
			}
			if got := strings.Join(resp.Header["X-Readthru-Warning"], " "); got != tt.warning {
				t.Errorf("%s with %s: warning %q, want %q", tt.path, tt.field, got, tt.warning)
			}
			if ours := strings.HasPrefix(resp.Header.Get("Etag"), `"rt-`); ours != tt.clean {
				t.Errorf("%s with %s: ETag %s", tt.path, tt.field, resp.Header.Get("Etag"))
			}
		}
	}
}
