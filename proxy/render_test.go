package proxy_test

import (
	"net/http"
	"slices"
	"testing"
)

func TestRenderFieldControlsRendering(t *testing.T) { // rule C7
	b, _ := newSiteBench(t, nil) // it has no browser
	for field, want := range map[string]bool{
		"X-Readthru-Render: always": true, "X-Readthru-Render: auto": false,
		"X-Readthru-Render: never": false,
	} {
		resp, body := b.get("http://a.test/page", "Accept: */*", field)
		if got := slices.Contains(resp.Header.Values("X-Readthru-Warning"), "no-browser"); resp.StatusCode != http.StatusOK ||
			got != want {
			t.Errorf("%s: %d, warned of a missing browser: %v, want %v: %q", field, resp.StatusCode, got, want, body)
		}
	}
	if resp, body := b.get("http://a.test/page", "Accept: */*",
		"X-Readthru-Render: maybe"); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("maybe: %d %q", resp.StatusCode, body)
	}
}
