package mcp_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestReportsOfOtherServers sends the messages, made small, that users of other MCP servers and clients reported as
// answered wrongly. docs/reports.md says what each report is about.
func TestReportsOfOtherServers(t *testing.T) {
	w := newWorld(t, nil)
	call := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"` + arguments + `}}`
	}
	const guide = `"url":"https://example.com/guide"`
	for _, tt := range []struct {
		report string
		accept string // empty: both types
		body   string
		status int
		says   string // what the answer has; empty: it has no content
	}{
		{"python-sdk#2057", "", `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, 400, "missing id"},
		{"pgedge-postgres-mcp#142", "", initialized, 202, ""},
		{"pgedge-postgres-mcp#142, cancelled", "", `{"jsonrpc":"2.0","method":"notifications/cancelled",` +
			`"params":{"requestId":7}}`, 202, ""},
		{"open-webSearch#82", "", `{"method":"notifications/initialized","jsonrpc":"2.0"}`, 202, ""},
		{"python-sdk#1641", "*/*", ping, 200, `"id":1`},
		{"python-sdk#1641, a part of it", "application/*, text/event-stream", ping, 200, `"id":1`},
		{"python-sdk#2349", "text/event-stream", ping, 200, "event: message\ndata: {"},
		{"python-sdk#2349, JSON", "application/json", ping, 200, `{"jsonrpc":"2.0","id":1,`},
		{"python-sdk#2349, neither", "text/html", ping, 400, "Accept"},
		{"python-sdk#3153", "application/json, text/event-stream;q=0", ping, 200, `{"jsonrpc":"2.0","id":1,`},
		{"tidebreak#1464", "", call("list_knowledge_bases", ""), 200, "knowledge_bases"},
		{"tidebreak#1464, null", "", call("list_knowledge_bases", `,"arguments":null`), 200, "knowledge_bases"},
		{"ai-memory-mcp#6", "", call("fetch", `,"arguments":["a"]`), 200, "not a JSON object"},
		{
			"claude-code#95239", "", call("fetch", `,"arguments":{`+guide+`,"start_index":null,"section":null}`), 200, "# Guide",
		},
		{
			"claude-code#95239, as text", "",
			call("fetch", `,"arguments":{`+guide+`,"start_index":"null","section":"null"}`), 200, "# Guide",
		},
		{"mcp-cli#1", "", call("fetch", `,"arguments":{`+guide+`,"max_length":"","section":""}`), 200, "# Guide"},
		{
			"mcp-cli#1, a number as text", "", call("fetch", `,"arguments":{`+guide+`,"max_length":"7"}`), 200,
			"start_index of 7 to get more",
		},
		{
			"hermes-agent#78335", "", call("fetch", `,"arguments":{`+guide+`,"max_length":7.0}`), 200,
			"start_index of 7 to get more",
		},
	} {
		var fields []string
		if tt.accept != "" {
			fields = []string{"Accept: " + tt.accept}
		}
		status, body, err := w.post(t.Context(), t, http.MethodPost, tt.body, fields...)
		if err != nil || status != tt.status || !strings.Contains(body, tt.says) || tt.says == "" && body != "" {
			t.Errorf("%s: %v, %d %.300s; want %d with %q", tt.report, err, status, body, tt.status, tt.says)
		}
		if strings.HasPrefix(tt.says, "{") && !strings.HasPrefix(body, "{") {
			t.Errorf("%s: %.300s, want JSON alone", tt.report, body)
		}
	}
}

// TestReportsOfCutCharacters fetches a text in parts that begin and end beside a character of four bytes.
func TestReportsOfCutCharacters(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	for _, tt := range []struct {
		report     string
		start, max int
		want       string
	}{
		{"eliza#23474", 0, 4, "abc🦊"},
		{"eliza#23474, before it", 0, 3, "abc"},
		{"eliza#23474, after it", 4, 2, " –"},
		{"claude-code#75095", 3, 100, "🦊 – größer 日本"},
	} {
		got, _ := use(t, s, "fetch", map[string]any{
			"url": "https://example.com/letters", "start_index": tt.start, "max_length": tt.max,
		})
		_, got, _ = strings.Cut(got, "/letters:\n")
		got, _, _ = strings.Cut(got, "\n\n<error>")
		if got = strings.TrimSuffix(got, "\n"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.report, got, tt.want)
		}
	}
}
