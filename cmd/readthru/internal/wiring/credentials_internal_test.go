package wiring

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/store"
)

// A page that was read with credentials is for that reader alone (AD4), whatever field they are in and whatever its
// origin says about caching. What is no page follows RFC 9111: it may be shared unless it was read with Authorization
// (§3.5) or, stricter, with a cookie, and its origin does not say public.
func TestPagesReadWithCredentialsStayWithTheirReader(t *testing.T) {
	types := []struct {
		contentType, body string // the body has a %s for the reader
		page              bool
	}{
		{"text/html; charset=utf-8", "<html><body><h1>Feed</h1><p>secret of %s and more words</p></body></html>", true},
		{"application/xhtml+xml", "<html><body><h1>Feed</h1><p>secret of %s and more words</p></body></html>", true},
		{"text/markdown", "# Feed\n\nsecret of %s and more words\n", true},
		{"text/x-markdown; charset=utf-8", "# Feed\n\nsecret of %s and more words\n", true},
		{"application/rss+xml", `<rss version="2.0"><channel><title>Feed</title><item><title>One</title>` +
			`<description>secret of %s and more words</description></item></channel></rss>`, true},
		{"APPLICATION/ATOM+XML; charset=utf-8", `<feed xmlns="http://www.w3.org/2005/Atom"><title>Feed</title>` +
			`<entry><title>One</title><summary>secret of %s and more words</summary></entry></feed>`, true},
		{"application/feed+json", `{"version":"https://jsonfeed.org/version/1.1","title":"Feed",` +
			`"items":[{"id":"1","content_text":"secret of %s and more words"}]}`, true},
		{"application/pdf", "%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n" +
			"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]" +
			"/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n4 0 obj<<>>stream\nBT /F 12 Tf 72 700 Td " +
			"(secret of %s and more words) Tj ET\nendstream endobj\n" +
			"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF\n", true},
		{"text/plain", "secret of %s", false},
		{"application/zip", "PK secret of %s", false},
		{"application/json", `{"secret of":"%s"}`, false},
		{"text/csv", "a,b\nsecret of,%s\n", false},
	}
	credentials := []struct {
		name, field, cacheControl string
		shared                    bool // whether what is no page may be shared
	}{
		{"none", "", "max-age=3600", true},
		{"cookie", "Cookie: sid=ALICE", "max-age=3600", false},
		{"public-cookie", "Cookie: sid=ALICE", "public, max-age=3600", true},
		{"key", "X-Api-Key: ALICE", "max-age=3600", false},
		{"silent-key", "X-Api-Key: ALICE", "", false},
		{"unheard-of", "Whatever: ALICE", "s-maxage=3600", true},
		{"authorization", "Authorization: Bearer ALICE", "max-age=3600", false},
		{"public", "Authorization: Bearer ALICE", "public, max-age=3600", true},
	}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i, tt := range types {
			if strings.HasPrefix(r.URL.Path, fmt.Sprintf("/%d/", i)) {
				reader := r.Header.Get("Cookie") + r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") +
					r.Header.Get("Whatever")
				if reader == "" {
					reader = "nobody"
				}
				w.Header().Set("Content-Type", tt.contentType)
				for _, cred := range credentials {
					if strings.Contains(r.URL.Path, "/"+cred.name+"/") && cred.cacheControl != "" {
						w.Header().Set("Cache-Control", cred.cacheControl)
					}
				}
				_, _ = fmt.Fprintf(w, tt.body, reader)
			}
		}
	}))
	t.Cleanup(origin.Close)
	c, client := startCore(t)
	for i, tt := range types {
		for _, cred := range credentials {
			for _, accept := range []string{"*/*", "text/html"} {
				t.Run(fmt.Sprintf("%s, %s, %s", tt.contentType, cred.name, accept), func(t *testing.T) {
					target := fmt.Sprintf("%s/%d/%s/%d", origin.URL, i, cred.name, len(accept))
					read(t, client, target, "Accept: "+accept, cred.field)
					_, body := read(t, client, target, "Accept: "+accept)
					leaks := strings.Contains(body, "ALICE")
					if want := cred.field != "" && cred.shared && !tt.page; leaks != want {
						t.Errorf("a reader without credentials gets what was read with them: %t, want %t\n%s", leaks, want, body)
					}
					status, _ := read(t, client, target, "Accept: "+accept)
					if hit := cred.cacheControl != "" || tt.page; strings.Contains(status, "hit") != hit {
						t.Errorf("the third answer: %q, want a hit: %t", status, hit)
					}
				})
			}
		}
	}
	indexed := pagesOf(t, c.store)
	for i, tt := range types {
		for _, cred := range credentials {
			target := fmt.Sprintf("%s/%d/%s/3", origin.URL, i, cred.name)
			text, stored := indexed[target]
			if strings.Contains(text, "ALICE") {
				t.Errorf("%s, %s: the content of one reader is indexed:\n%s", tt.contentType, cred.name, text)
			}
			if stored != tt.page {
				t.Errorf("%s, %s: it is a stored page: %t, want %t", tt.contentType, cred.name, stored, tt.page)
			}
		}
	}
	// An own fetch makes pages of other types too: of JSON, CSV and plain text.
	for i := range types {
		for _, cred := range credentials {
			u, err := url.Parse(fmt.Sprintf("%s/%d/%s/3", origin.URL, i, cred.name))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := c.fetcher.Page(t.Context(), fetch.Request{URL: u, Own: true})
			if err != nil {
				t.Fatal(err)
			}
			if answer.Response != nil {
				t.Errorf("%s: an own fetch gives no page", u)
				_ = answer.Response.Body.Close() // the claim failed
			} else if bytes.Contains(answer.Body, []byte("ALICE")) {
				t.Errorf("%s: an own fetch gets what was read with credentials:\n%s", u, answer.Body)
			}
		}
	}
	for target, text := range pagesOf(t, c.store) {
		if strings.Contains(text, "ALICE") {
			t.Errorf("%s: an own fetch made a page of what was read with credentials:\n%s", target, text)
		}
	}
}

// startCore serves a proxy on a core with the default configuration, adjusted, and returns a client that uses it and
// trusts its authority.
func startCore(t *testing.T, adjust ...func(*settings.Settings)) (*Core, *http.Client) {
	t.Helper()
	return startLogged(t, slog.New(slog.DiscardHandler), adjust...)
}

// startLogged is startCore with a log.
func startLogged(t *testing.T, log *slog.Logger, adjust ...func(*settings.Settings)) (*Core, *http.Client) {
	t.Helper()
	dir := t.TempDir()
	s := &settings.Settings{Config: settings.Defaults(), Source: map[string]string{}, DataDir: dir}
	s.MarkdownNew.Mode, s.Render.Mode, s.Fetch.AllowPrivate = "off", "never", true
	for _, f := range adjust {
		f(s)
	}
	c, err := Open(s, dir, false, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	authority, err := certs.Open(certs.Options{Dir: filepath.Join(dir, "ca")})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := c.Proxy(authority, "")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a listener of a test
	if err != nil {
		t.Fatal(err)
	}
	c.ListensOn(l)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- handler.Serve(ctx, l) }()
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	transport := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()}),
		TLSClientConfig: &tls.Config{RootCAs: roots},
	}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return c, &http.Client{Transport: transport}
}

// read gets a URL with fields given as "Name: value", empty ones left out, and returns Cache-Status and the body.
func read(t *testing.T, client *http.Client, target string, fields ...string) (status, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		if name, value, ok := strings.Cut(field, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", target, resp.Status, err)
	}
	return resp.Header.Get("Cache-Status"), string(content)
}

// pagesOf returns the markdown of all stored pages by URL.
func pagesOf(t *testing.T, st *store.Store) map[string]string {
	t.Helper()
	pages, _, err := st.Pages(store.PageQuery{Sort: "url", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, p := range pages {
		key, _, err := st.FindPage(p.Doc)
		if err != nil {
			t.Fatal(err)
		}
		text, err := st.Markdown(key)
		if err != nil {
			t.Fatal(err)
		}
		texts[p.URL] = string(text)
	}
	return texts
}
