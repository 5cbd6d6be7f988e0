package e2e_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/fetch/sitecheck"
)

// through asks by the proxy, whose answers are then those of the site.
type through struct{ client *http.Client }

func (a through) Ask(req *http.Request, _ int64) (int, http.Header, []byte, error) {
	resp, err := a.client.Transport.RoundTrip(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, content, err
}

func (through) Allowed(context.Context, *url.URL) (fetch.Verdict, error) {
	return fetch.Verdict{Allowed: true, Status: http.StatusOK}, nil
}

// TestWhatIsServedIsRightForCachesBehind has what site owners check their sites with look at a site that serves HTML
// alone, through the proxy: both forms say Vary, weights count, validators are compared, and what the origin states
// about use comes along.
func TestWhatIsServedIsRightForCachesBehind(t *testing.T) {
	page := "<html><head><title>Harbour</title></head><body><main><h1>Harbour</h1>" +
		strings.Repeat("<p>The harbour lies in the north of the town, and its cranes move by day and by night.</p>", 30) +
		"</main></body></html>"
	w := newWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/harbour" {
			http.NotFound(rw, r)
			return
		}
		h := rw.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "max-age=600")
		h.Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Signal", "search=yes, ai-train=no")
		_, _ = io.WriteString(rw, page)
	}))
	d := serve(t, w)
	for name, target := range map[string]string{
		"proxied":     "http://town.test/harbour",
		"prefix form": "http://" + d.proxy + "/http://town.test/harbour",
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		asker := through{d.client()}
		if u.Host == d.proxy {
			asker = through{&http.Client{Transport: &http.Transport{DisableCompression: true}}}
			defer asker.client.CloseIdleConnections()
		}
		r, err := sitecheck.Check(t.Context(), asker, u)
		if err != nil {
			t.Fatal(err)
		}
		states := map[string]string{}
		for _, f := range r.Findings {
			states[f.Name] = f.State
			if f.State == sitecheck.Wrong || f.State == sitecheck.Advice && f.Name != "llms.txt" && f.Name != "twin" {
				t.Errorf("%s: %s is %s: %s", name, f.Name, f.State, f.Detail)
			}
		}
		for _, must := range []string{"negotiation", "preferences", "validation"} {
			if states[must] != sitecheck.Good {
				t.Errorf("%s: %s is %q, want good", name, must, states[must])
			}
		}
		if name == "proxied" && (states["Vary"] != sitecheck.Good || states["weights"] != sitecheck.Good) {
			t.Errorf("%s: %v", name, states)
		}
	}
}
