package wiring

import (
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/fetch"
)

// What an origin says in our name never reaches a client: in no form, by no way, from the origin or from the store.
func TestAnOriginNeverSpeaksInOurName(t *testing.T) {
	origin := http.HandlerFunc(forge)
	plain, secure := httptest.NewServer(origin), httptest.NewTLSServer(origin)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	ca := filepath.Join(t.TempDir(), "origin.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	c, client := startCore(t, func(s *settings.Settings) {
		s.Upstream.CAFile = ca
		s.Proxy.ConnectPorts = []int{secure.Listener.Addr().(*net.TCPAddr).Port}
	})
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	check := func(what string, h http.Header) {
		t.Helper()
		for name, values := range h {
			if all := strings.Join(values, "\n"); strings.Contains(all, "forged") {
				t.Errorf("%s: %s: %s", what, name, all)
			}
		}
	}
	paths := []string{"/html", "/json", "/md", "/bin", "/hints", "/gone", "/moved"}
	fields := []string{
		"Accept: */*", "Accept: text/html", "X-Readthru-Mode: raw", "X-Readthru-Mode: markdown",
		"Cache-Control: no-cache", "Range: bytes=0-3", "Upgrade: websocket",
	}
	through, err := client.Transport.(*http.Transport).Proxy(nil)
	if err != nil {
		t.Fatal(err)
	}
	direct := &http.Client{Transport: &http.Transport{}, CheckRedirect: client.CheckRedirect}
	t.Cleanup(direct.CloseIdleConnections)
	for base, client := range map[string]*http.Client{
		plain.URL: client, secure.URL: client, through.String() + "/" + plain.URL: direct,
	} {
		for _, path := range paths {
			for _, field := range fields {
				for _, when := range []string{"first", "second"} {
					what := fmt.Sprintf("%s%s, %s, %s time", base, path, field, when)
					interim := func(code int, h http.Header) { check(fmt.Sprintf("%s: %d", what, code), h) }
					resp := askWith(t, client, base+path, field, interim) //nolint:bodyclose // askWith closes it
					check(what, resp.Header)
					check(what+": trailer", resp.Trailer)
					status := strings.Join(resp.Header["Cache-Status"], ", ")
					if resp.StatusCode < 400 && field != "Upgrade: websocket" && !strings.Contains(status, "edge; hit") {
						t.Errorf("%s: Cache-Status: %s, want the members of other caches kept", what, status)
					}
				}
			}
		}
	}
	for _, path := range []string{"/html", "/json", "/md"} { // as API and MCP do
		u, err := url.Parse(plain.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.fetcher.Page(t.Context(), fetch.Request{URL: u, Own: true})
		if err != nil {
			t.Fatal(err)
		}
		check("an own fetch of "+path, answer.Header)
	}
}

// forge answers with fields and trailers in our name, all of which say "forged".
func forge(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	say := func(prefix string) {
		h.Set(prefix+"X-Readthru-Warning", "forged")
		h.Set(prefix+"X-Readthru-Source", "forged")
		h.Set(prefix+"X-Readthru-Unheard-Of", "forged")
		h[prefix+"Cache-Status"] = []string{"edge; hit, readthru; hit; ttl=999; detail=forged"}
		h[prefix+"Proxy-Status"] = []string{`"readthru"; error=dns_error; details="forged"`}
	}
	say("")
	if r.Header.Get("Upgrade") != "" {
		h.Set("Upgrade", "websocket")
		h.Set("Connection", "Upgrade")
		w.WriteHeader(http.StatusSwitchingProtocols)
		return
	}
	if r.URL.Path == "/hints" {
		w.WriteHeader(http.StatusEarlyHints)
	}
	h.Set("Content-Type", map[string]string{
		"/json": "application/json", "/md": "text/markdown", "/bin": "application/octet-stream",
	}[r.URL.Path])
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "text/html")
	}
	h.Set("Cache-Control", "public, max-age=60")
	h.Set("Trailer", "X-Readthru-Source, Cache-Status")
	switch r.URL.Path {
	case "/gone":
		w.WriteHeader(http.StatusGone)
	case "/moved":
		h.Set("Location", "/html")
		w.WriteHeader(http.StatusFound)
	}
	_, _ = io.WriteString(w, "<h1>Page</h1><p>Some words that are the content of this page.</p>")
	say(http.TrailerPrefix)
}

// askWith gets a URL with one field, given as "Name: value", reads the answer to its end, and calls interim for each
// interim response.
func askWith(t *testing.T, client *http.Client, target, field string, interim func(int, http.Header)) *http.Response {
	t.Helper()
	ctx := httptrace.WithClientTrace(t.Context(),
		&httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			interim(code, http.Header(h))
			return nil
		}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	name, value, _ := strings.Cut(field, ": ")
	req.Header.Set(name, value)
	if name == "Upgrade" {
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Sec-Websocket-Version", "13")
		req.Header.Set("Sec-Websocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		_, _ = io.Copy(io.Discard, resp.Body) // its trailer is what counts
	}
	return resp
}
