package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"readthru/api"
)

// Texts of every type, read by every way, arrive with what a reader sees and without what is hidden.
func TestNothingUnseenArrivesByAnyWay(t *testing.T) {
	file, err := os.ReadFile("../../convert/testdata/security/injection-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ ID, Cls, HTML string }
	if err := json.Unmarshal(file, &vectors); err != nil {
		t.Fatal(err)
	}
	const smuggled = "Seen\U000e0050\U000e0057\U000e004e first\u202e, \u200b\x1b[2J"
	texts := map[string]string{"characters": smuggled + "seen last.\n"}
	for _, v := range vectors {
		if v.Cls == "hidden" && len(texts) < 5 && !strings.Contains(v.HTML, "<style") {
			_, body, _ := strings.Cut(v.HTML, "<body>")
			body, _, _ = strings.Cut(body, "</body>")
			texts[v.ID] = smuggled + "\n\n" + body + "\n\nseen last.\n"
		}
	}
	types := []string{"text/markdown", "text/plain", "application/json"}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, kind, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		text := texts[name]
		if kind == "application/json" {
			text = fmt.Sprintf(`{"page": "%s"}`, smuggled+"seen last.")
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(origin.Close)
	var dir string
	d := startDaemon(t, func(s *settings) { s.Fetch.AllowPrivate, dir = true, s.dataDir })
	through := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: d.info.Proxy}), DisableKeepAlives: true,
	}}
	direct := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(c *http.Client, method, target, body, accept string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+d.info.Token)
		if c == through {
			req.Header.Del("Authorization")
			req.Header.Del("Content-Type")
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d, %v, %q", method, target, resp.StatusCode, err, all)
		}
		return string(all)
	}
	client := api.NewClient(d.info.Admin, d.info.Token, "test")
	for name := range texts {
		for _, kind := range types {
			target := origin.URL + "/" + name + "/" + kind
			got := map[string]string{"proxy": ask(through, http.MethodGet, target, "", "text/markdown")}
			p, err := client.Fetch(t.Context(), api.FetchRequest{URL: target})
			if err != nil {
				t.Fatal(err)
			}
			got["API"] = p.Content
			got["MCP"] = ask(direct, http.MethodPost, "http://"+d.info.Admin+"/mcp",
				fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{"url":%q}}}`,
					target), "application/json, text/event-stream")
			var out bytes.Buffer
			command := &program{stdio: stdio{strings.NewReader(""), &out, io.Discard}}
			args := []string{"readthru", "--data-dir", dir, "fetch", target}
			if err := command.app().RunContext(t.Context(), args); err != nil {
				t.Fatal(err)
			}
			got["command"] = out.String()
			for way, text := range got {
				if !strings.Contains(text, "Seen first") || !strings.Contains(text, "seen last.") {
					t.Errorf("%s as %s by %s lacks what is seen: %q", name, kind, way, text)
				}
				if strings.Contains(text, "PWN") || slices.ContainsFunc([]string{"\\u001b", "\\u202e", "\\u200b"},
					func(s string) bool { return strings.Contains(text, s) }) ||
					strings.ContainsFunc(text, func(r rune) bool {
						return r == '\x1b' || r == '\u202e' || r == '\u200b' || r >= 0xe0000
					}) {
					t.Errorf("%s as %s by %s has what nobody sees: %q", name, kind, way, text)
				}
			}
		}
	}
}
