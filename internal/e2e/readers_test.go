package e2e_test

import (
	"crypto/tls"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// A way is how readers ask for a URL. With fields, they can say who they are.
type way struct {
	name   string
	scheme string
	fields bool
	ask    func(target string, fields ...string) string
}

// tells reports whether the way passes on content of a kind, and the fields of who asks.
func (w *way) tells(kind string) bool {
	return w.fields && w.name != "prefix" && (w.name != "Firecrawl" || kind == "html" || kind == "json")
}

// TestNobodyGetsWhatAnotherAskedFor has one reader ask by each way with each kind of credential for each type of
// content, whose origin says, one time so and the next so, how long it is fresh, and nothing of who may get it. Then
// others ask by every way. Of these cases a third is tried, in which any two of way, content and credential meet; with
// READTHRU_FULL_SIZE all are.
func TestNobodyGetsWhatAnotherAskedFor(t *testing.T) {
	names := []string{"Cookie", "Authorization", "X-Api-Key", "X-Session-Token", "X-Nobody-Knows"}
	types := map[string]string{
		"html": "text/html", "markdown": "text/markdown", "json": "application/json", "text": "text/plain",
		"image": "image/png", "bytes": "application/octet-stream", "none": "", "xml": "application/xml",
		"feed": "application/atom+xml", "rows": "text/csv",
	}
	sayings := []string{"max-age=600", "max-age=600, immutable", "max-age=1, stale-while-revalidate=600", "no-cache", ""}
	every := 3
	if os.Getenv("READTHRU_FULL_SIZE") != "" {
		every = 1
	}
	for _, mode := range []string{"shared", "private"} {
		t.Run(mode, func(t *testing.T) {
			w := newWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				reader := "NOBODY"
				for _, name := range names {
					if value := r.Header.Get(name); value != "" {
						reader = value
					}
				}
				kind := types[strings.Split(r.URL.Path, "/")[1]]
				rw.Header()["Content-Type"] = []string{kind}
				if kind == "" {
					rw.Header()["Content-Type"] = nil
				}
				if said := sayings[crc32.ChecksumIEEE([]byte(r.Host+r.URL.Path))%uint32(len(sayings))]; said != "" {
					rw.Header().Set("Cache-Control", said)
				} else {
					rw.Header().Set("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT")
				}
				rw.Header().Set("ETag", `"`+reader+`"`)
				body := fmt.Sprintf("{\"of\": %q}", reader)
				if kind == "text/html" || kind == "text/markdown" {
					body = "<h1>Account</h1>\n\n<p>This is what belongs to " + reader + " and to nobody else.</p>\n"
				}
				if kind == "application/atom+xml" {
					body = "<feed xmlns='http://www.w3.org/2005/Atom'><title>Of " + reader + "</title>" +
						"<entry><title>One</title><summary>It belongs to " + reader + "</summary></entry></feed>"
				}
				_, _ = io.WriteString(rw, body)
			}))
			d := serveIn(t, w, t.TempDir(), "READTHRU_CACHE_MODE="+mode)
			ways := waysOf(d)
			for i, first := range ways {
				for j, kind := range slices.Sorted(maps.Keys(types)) {
					for k, name := range append(names, "") {
						if (i+j+k)%every > 0 || name != "" && !first.fields {
							continue
						}
						target := fmt.Sprintf("://%s.test/%s/%s/%s", strings.ToLower(first.name), kind, name, first.name)
						if name == "" {
							_ = first.ask(first.scheme + target)
						} else {
							if got := first.ask(first.scheme+target, name+": ALICE"); !strings.Contains(got, "ALICE") &&
								first.tells(kind) {
								t.Errorf("%s by %s with %q: Alice gets %s", kind, first.name, name, got)
							}
							_ = first.ask(first.scheme+target, name+": ALICE", "Range: bytes=0-3")
						}
						for _, then := range ways {
							if got := then.ask(first.scheme + target); strings.Contains(got, "ALICE") {
								t.Errorf("%s by %s with %q: nobody gets it by %s: %s", kind, first.name, name, then.name, got)
							}
							if name == "" || !then.fields {
								continue
							}
							if got := then.ask(first.scheme+target, name+": BOB"); strings.Contains(got, "ALICE") {
								t.Errorf("%s by %s with %q: another gets it by %s: %s", kind, first.name, name, then.name, got)
							}
							if got := then.ask(first.scheme+target, name+": ALICE"); strings.Contains(got, "BOB") {
								t.Errorf("%s by %s with %q: Bob's by %s: %s", kind, first.name, name, then.name, got)
							}
						}
					}
				}
			}
		})
	}
}

// waysOf returns the ways to ask the daemon.
func waysOf(d *daemon) []way {
	d.t.Helper()
	client, second := d.client(), d.client()
	transport := second.Transport.(*http.Transport)
	transport.ForceAttemptHTTP2 = true
	transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		d.t.Error("a client was asked for its certificate, which tells who asks")
		return new(tls.Certificate), nil
	}
	send := func(c *http.Client, method, target, content string, fields ...string) string {
		req, err := http.NewRequestWithContext(d.t.Context(), method, target, strings.NewReader(content))
		if err != nil {
			d.t.Fatal(err)
		}
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			req.Header.Add(name, value)
		}
		resp, err := c.Do(req)
		if err != nil {
			d.t.Fatalf("%s %s: %v\n%s", method, target, err, d.log)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			d.t.Fatalf("%s %s: %v", method, target, err)
		}
		return string(body)
	}
	proxied := func(c *http.Client, accept string) func(string, ...string) string {
		return func(target string, fields ...string) string {
			return send(c, http.MethodGet, target, "", append(fields, "Accept: "+accept)...)
		}
	}
	post := func(path, content string) string {
		return send(http.DefaultClient, http.MethodPost, "http://"+d.admin+path, content, "Content-Type: application/json",
			"Accept: application/json, text/event-stream")
	}
	return []way{
		{"plain", "http", true, proxied(client, "*/*")},
		{"intercepted", "https", true, proxied(client, "*/*")},
		{"agent", "https", true, proxied(client, "text/markdown, text/html;q=0.9")},
		{"h2", "https", true, proxied(second, "text/html")},
		{"prefix", "https", true, func(target string, fields ...string) string {
			return send(http.DefaultClient, http.MethodGet, "http://"+d.proxy+"/"+target, "", fields...)
		}},
		{"API", "https", false, func(target string, _ ...string) string {
			return post("/api/v1/fetch", fmt.Sprintf(`{"url": %q}`, target))
		}},
		{"MCP", "https", false, func(target string, _ ...string) string {
			return post("/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call",`+
				`"params":{"name":"fetch","arguments":{"url":%q}}}`, target))
		}},
		{"Firecrawl", "https", true, func(target string, fields ...string) string {
			var headers []string
			for _, f := range fields {
				if name, value, _ := strings.Cut(f, ": "); name != "Range" {
					headers = append(headers, fmt.Sprintf("%q: %q", name, value))
				}
			}
			return post("/v1/scrape", fmt.Sprintf(`{"url": %q, "headers": {%s}}`, target, strings.Join(headers, ", ")))
		}},
	}
}
