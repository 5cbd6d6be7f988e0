package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/journal"
)

// post sends a message to a world's /mcp; fields are "Name: value" pairs that are added, or replace.
func (w *world) post(ctx context.Context, t *testing.T, method, body string, fields ...string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+w.addr+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

const (
	ping    = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	newMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

func TestHTTPIsGuardedAndSpeaksEveryVersion(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct {
		name, method, body string
		fields             []string
		status             int
		says               string
	}{
		{"a message", "POST", ping, nil, 200, `"id":1`},
		{"a foreign Host", "POST", ping, []string{"Host: evil.test"}, 403, "not a name of this server"},
		{"a foreign Origin", "POST", ping, []string{"Origin: https://evil.test"}, 403, "may not use this server"},
		{"a foreign Origin, GET", "GET", "", []string{"Origin: https://evil.test"}, 403, "may not use this server"},
		{"a foreign Origin, DELETE", "DELETE", "", []string{"Origin: https://evil.test"}, 403, "may not use this server"},
		{
			"a foreign Origin, OPTIONS", "OPTIONS", "",
			[]string{"Origin: https://evil.test", "Access-Control-Request-Method: POST"},
			403, "may not use this server",
		},
		{"our own Origin", "POST", ping, []string{"Origin: http://" + w.addr}, 200, `"id":1`},
		{"a page of another site", "POST", ping, []string{"Sec-Fetch-Site: cross-site"}, 403, "may not use this server"},
		{"a form", "POST", ping, []string{"Content-Type: text/plain"}, 415, "JSON"},
		{"GET", "GET", "", nil, 405, "takes POST"},
		{"DELETE", "DELETE", "", nil, 405, "takes POST"},
		{"no JSON", "POST", `{"jsonrpc":`, nil, 400, ""},
		{"too much", "POST", `{"a":"` + strings.Repeat("x", 5<<20) + `"}`, nil, 413, "exceeds"},
		{"an unknown method", "POST", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, nil, 400, "no/such"},
		{
			"an unknown method of the new protocol", "POST",
			`{"jsonrpc":"2.0","id":1,"method":"no/such","params":{` + newMeta + `}}`,
			[]string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: no/such"},
			404, "-32601",
		},
		{
			"a call of the new protocol without a handshake", "POST",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_knowledge_bases","arguments":{},` + newMeta +
				`}}`,
			[]string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: list_knowledge_bases"},
			200,
			"knowledge_bases",
		},
		{
			"fields that are not the message's", "POST",
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + newMeta + `}}`,
			[]string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call"},
			400, "-32020",
		},
		{"a version that nobody knows", "POST", ping, []string{"MCP-Protocol-Version: 1999-01-01"}, 400, "nsupported"},
		{
			"a handshake of 2024-11-05", "POST", strings.Replace(initialize, "VERSION", "2024-11-05", 1), nil, 200,
			`"protocolVersion":"2024-11-05"`,
		},
		{
			"a handshake of 2025-03-26", "POST", strings.Replace(initialize, "VERSION", "2025-03-26", 1), nil, 200,
			`"protocolVersion":"2025-03-26"`,
		},
		{
			"a handshake of 2025-11-25", "POST", strings.Replace(initialize, "VERSION", "2025-11-25", 1), nil, 200,
			`"protocolVersion":"2025-11-25"`,
		},
		{
			"a batch of 2025-03-26", "POST", "[" + ping + "," + strings.Replace(ping, `"id":1`, `"id":2`, 1) + "]",
			[]string{"MCP-Protocol-Version: 2025-03-26"},
			200, `"id":2`,
		},
		{"a batch of a later version", "POST", "[" + ping + "]", []string{"MCP-Protocol-Version: 2025-06-18"}, 400, "batch"},
		{"a long id", "POST", strings.Replace(ping, `"id":1`, `"id":"`+strings.Repeat("7", 100_000)+`"`, 1), nil, 200, "777"},
		{"an id that is none", "POST", strings.Replace(ping, `"id":1`, `"id":{}`, 1), nil, 400, ""},
		{"a notification", "POST", initialized, nil, 202, ""},
	} {
		status, body, err := w.post(t.Context(), t, tt.method, tt.body, tt.fields...)
		if err != nil || status != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%s: %v, status %d, %.300s; want %d with %q", tt.name, err, status, body, tt.status, tt.says)
		}
	}
}

func TestWorkEndsWithTheRequestThatAskedForIt(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct{ name, params, fields string }{
		{"2025-06-18", `"name":"fetch","arguments":{"url":"https://example.com/slow?1"}`, "MCP-Protocol-Version: 2025-06-18"},
		{
			"2026-07-28", `"name":"fetch","arguments":{"url":"https://example.com/slow?2"},` + newMeta,
			"MCP-Protocol-Version: 2026-07-28",
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, _, err := w.post(ctx, t, "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+tt.params+`}}`,
				tt.fields, "Mcp-Method: tools/call", "Mcp-Name: fetch")
			done <- err
		}()
		select {
		case <-w.came:
		case err := <-done:
			t.Fatalf("%s: the call ended: %v", tt.name, err)
		}
		cancel()
		if err := <-done; err == nil {
			t.Errorf("%s: a request that was given up was answered", tt.name)
		}
		<-w.left
		w.end <- struct{}{}
	}
}

// The card says where the server is and what it is called, to who may call it, and to no page in a browser.
func TestTheCardOfTheServer(t *testing.T) {
	w := newWorld(t, nil)
	get := func(fields ...string) (status int, head http.Header, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+w.addr+"/mcp/server-card", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err = io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header, body
	}
	_, head, body := get("Accept: application/mcp-server-card+json")
	var card struct {
		Schema                            string `json:"$schema"`
		Name, Version, Title, Description string
		Remotes                           []struct{ Type, URL string }
	}
	if err := json.Unmarshal(body, &card); err != nil {
		t.Fatal(err)
	}
	if card.Schema != "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json" ||
		!regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(card.Name) || card.Version == "" ||
		card.Title == "" || card.Description == "" || len(card.Description) > 100 {
		t.Errorf("card %+v is not as its schema says", card)
	}
	if len(card.Remotes) != 1 || card.Remotes[0].Type != "streamable-http" ||
		card.Remotes[0].URL != "http://"+w.addr+"/mcp" {
		t.Errorf("remotes %+v, want the server that was asked", card.Remotes)
	}
	if head.Get("Content-Type") != "application/mcp-server-card+json" ||
		head.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("fields %v", head)
	}
	if status, _, _ := get("If-None-Match: " + head.Get("Etag")); status != http.StatusNotModified {
		t.Errorf("status %d with its tag, want 304", status)
	}
	if status, _, _ := get("Origin: https://evil.test"); status != http.StatusForbidden {
		t.Errorf("status %d for a page of another site, want 403", status)
	}
}

// TestTheLogNamesTheClientOfACallOverHTTP: by the name that comes with the call, else by User-Agent.
func TestTheLogNamesTheClientOfACallOverHTTP(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct {
		meta   string
		fields []string
		want   string
	}{
		{"", []string{"User-Agent: Cursor/1.9"}, "Cursor/1.9"},
		{
			"," + newMeta,
			[]string{
				"User-Agent: undici", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: fetch",
			},
			"raw/1",
		},
	} {
		last := w.told.Last()
		status, text, err := w.post(t.Context(), t, "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+
			`{"name":"fetch","arguments":{"url":"https://example.com/guide"}`+tt.meta+`}}`, tt.fields...)
		if err != nil || status != http.StatusOK {
			t.Errorf("%s: status %d, %v: %s", tt.want, status, err, text)
		}
		list, _, _ := w.told.After(last, journal.Filter{}, 10)
		if len(list) != 1 || list[0].Agent != tt.want {
			t.Errorf("the log has %+v, want one row of %s", list, tt.want)
		}
	}
}
