package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
)

func TestRPCKeepsToJSONRPC(t *testing.T) {
	w := newWorldOver(t, manyPages, nil, nil)
	addr := w.listen(t)
	for _, tt := range []struct{ name, body, want string }{
		{
			"a call", `{"jsonrpc":"2.0","method":"LLM.detect_urls","params":["https://a.test/x"],"id":1}`,
			`{"jsonrpc":"2.0","result":[{"url":"https://a.test/x","url_type":"web","display":"a.test/x"}],"id":1}`,
		},
		{
			"by name", `{"jsonrpc":"2.0","method":"LLM.detect_urls","params":{"text":"none"},"id":"a"}`,
			`{"jsonrpc":"2.0","result":[],"id":"a"}`,
		},
		{
			"an id of null is one", `{"jsonrpc":"2.0","method":"LLM.detect_urls","params":["none"],"id":null}`,
			`{"jsonrpc":"2.0","result":[],"id":null}`,
		},
		{
			"an id is given back as it came",
			`{"jsonrpc":"2.0","method":"LLM.detect_urls","params":["none"],"id":12345678901234567890.5}`,
			`{"jsonrpc":"2.0","result":[],"id":12345678901234567890.5}`,
		},
		{"a notification has no answer", `{"jsonrpc":"2.0","method":"LLM.detect_urls","params":["none"]}`, ``},
		{"nor has one that fails", `{"jsonrpc":"2.0","method":"LLM.nothing"}`, ``},
		{"no JSON", `{"jsonrpc":"2.0","method":"LLM.det`, `-32700 null`},
		{"nothing", ``, `-32700 null`},
		{"two values", `{} {}`, `-32700 null`},
		{"a number", `1`, `-32600 null`},
		{"an empty object", `{}`, `-32600 null`},
		{"an older version", `{"method":"LLM.detect_urls","params":["x"],"id":1}`, `-32600 1`},
		{"a method that is a number", `{"jsonrpc":"2.0","method":1,"id":1}`, `-32600 1`},
		{"a method that is null", `{"jsonrpc":"2.0","method":null,"id":1}`, `-32600 1`},
		{"parameters that are text", `{"jsonrpc":"2.0","method":"LLM.detect_urls","params":"x","id":1}`, `-32600 1`},
		{"an id that is an object", `{"jsonrpc":"2.0","method":"LLM.detect_urls","params":["x"],"id":{}}`, `-32600 null`},
		{"an id that is true", `{"jsonrpc":"2.0","method":"LLM.detect_urls","params":["x"],"id":true}`, `-32600 null`},
		{"names are exact", `{"JSONRPC":"2.0","Method":"LLM.detect_urls","id":1}`, `-32600 1`},
		{"an unknown method", `{"jsonrpc":"2.0","method":"LLM.detect","id":1}`, `-32601 1`},
		{"a method that is reserved", `{"jsonrpc":"2.0","method":"rpc.discover","id":1}`, `-32601 1`},
		{"a parameter that is missing", `{"jsonrpc":"2.0","method":"LLM.detect_urls","id":1}`, `-32602 1`},
		{"a parameter of another type", `{"jsonrpc":"2.0","method":"LLM.detect_urls","params":[1],"id":1}`, `-32602 1`},
		{
			"a parameter of another name",
			`{"jsonrpc":"2.0","method":"LLM.detect_urls","params":{"text":"x","txet":"y"},"id":1}`, `-32602 1`,
		},
		{
			"a wish of another name",
			`{"jsonrpc":"2.0","method":"LLM.fetch_url","params":{"url":"https://example.com/p/1","use_cash":true},"id":1}`,
			`-32602 1`,
		},
		{"too many by position", `{"jsonrpc":"2.0","method":"LLM.detect_urls","params":["x","y"],"id":1}`, `-32602 1`},
		{
			"parameters where there are none", `{"jsonrpc":"2.0","method":"LLM.clear_url_cache","params":[1],"id":1}`,
			`-32602 1`,
		},
		{"what is no URL", `{"jsonrpc":"2.0","method":"LLM.fetch_url","params":["file:///etc/passwd"],"id":1}`, `-32602 1`},
		{"no URL to forget", `{"jsonrpc":"2.0","method":"LLM.remove_fetched_url","params":[""],"id":1}`, `-32602 1`},
		{"an empty batch", `[]`, `-32600 null`},
		{"a batch of notifications", `[{"jsonrpc":"2.0","method":"LLM.detect_urls","params":["none"]}]`, ``},
		{"a batch", ` [1, {"jsonrpc":"2.0","method":"LLM.detect_urls","params":["none"],"id":1}, {"jsonrpc":"2.0","method":"LLM.detect_urls","params":["none"]}, {"jsonrpc":"2.0","method":"no","id":2}]`, `[-32600 null, {"jsonrpc":"2.0","result":[],"id":1}, -32601 2]`},
		{"a batch that is too long", `[` + strings.Repeat(`1,`, 50) + `1]`, `-32600 null`},
		{"deep nesting", strings.Repeat("[", 20000), `-32700 null`},
	} {
		resp := ask(t, addr, "POST", "/rpc", tt.body, "Content-Type: application/json")
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if status := map[bool]int{
			true:  http.StatusNoContent,
			false: http.StatusOK,
		}[tt.want == ""]; resp.StatusCode != status {
			t.Errorf("%s: status %d, want %d", tt.name, resp.StatusCode, status)
		}
		if got := briefly(t, b); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	for path, want := range map[string]int{
		"GET /rpc":  http.StatusMethodNotAllowed,
		"POST /rpc": http.StatusUnsupportedMediaType,
	} {
		method, path, _ := strings.Cut(path, " ")
		if resp := ask(t, addr, method, path, map[string]string{"POST": "{}"}[method],
			"Content-Type: text/plain"); resp.StatusCode != want {
			t.Errorf("%s %s: status %d, want %d", method, path, resp.StatusCode, want)
		}
	}
	large := ask(t, addr, "POST", "/rpc", `"`+strings.Repeat("x", 1<<20)+`"`, "Content-Type: application/json")
	if large.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a content that is too large: status %d", large.StatusCode)
	}
}

// briefly shows errors in an answer by code and id alone.
func briefly(t *testing.T, b []byte) string {
	t.Helper()
	if len(b) == 0 {
		return ""
	}
	if b[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		var parts []string
		for _, one := range list {
			parts = append(parts, briefly(t, one))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	var answer struct {
		Error *struct {
			Code    int
			Message string
		}
		ID json.RawMessage
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	if answer.Error == nil {
		return strings.TrimSpace(string(b))
	}
	if answer.Error.Message == "" {
		t.Errorf("%s has no message", b)
	}
	return fmt.Sprintf("%d %s", answer.Error.Code, answer.ID)
}

// rpc makes a call and returns its result, or its error.
func rpc[T any](t *testing.T, addr, method string, params ...any) (result T, failure *rpcFailure) {
	t.Helper()
	call, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": method,
		"params": append([]any{}, params...),
	})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result T
		Error  *rpcFailure
	}
	b, err := io.ReadAll(ask(t, addr, "POST", "/rpc", string(call), "Content-Type: application/json").Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		t.Fatalf("%s: %v: %s", method, err, b)
	}
	return answer.Result, answer.Error
}

type rpcFailure struct {
	Code    int
	Message string
	Data    *page.Page
}
