package mcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/mcp"
)

// TestUsersGetTheToolsOfTheirRole has users of two roles list and call tools, in sessions of one name.
func TestUsersGetTheToolsOfTheirRole(t *testing.T) {
	var w *world
	w = newWorld(t, func(o *mcp.Options) { // asks as the daemon does
		o.Client = func(context.Context) (*api.Client, error) { return w.api.Client("test"), nil }
	})
	tokens := map[string]string{}
	for name, role := range map[string]string{"ann": "write", "bob": "read"} {
		made, err := w.api.Client("test").AddUser(t.Context(), api.NewUser{
			Name: name, Scopes: []string{users.ScopeMCP}, UserFields: api.UserFields{Role: &role},
		})
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = made.Token
	}
	if err := w.users.Set(nil, w.store.Users().List, true); err != nil {
		t.Fatal(err)
	}
	as := func(name, params, method string) string {
		t.Helper()
		status, body, err := w.post(t.Context(), t, "POST", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+
			params+`}}`, "MCP-Protocol-Version: 2025-06-18", "Authorization: Bearer "+tokens[name], "X-Readthru-Session: s")
		if err != nil || status != 200 {
			t.Fatalf("%s as %s: %v, status %d: %s", method, name, err, status, body)
		}
		return body
	}
	for name, writes := range map[string]bool{"ann": true, "bob": false} {
		if got := strings.Contains(as(name, "", "tools/list"), `"add_note"`); got != writes {
			t.Errorf("%s is offered tools that write: %v", name, got)
		}
		note := as(name, `"name":"add_note","arguments":{"text":"Quinces are hard."}`, "tools/call")
		if got := !strings.Contains(note, `"error"`) && !strings.Contains(note, `"isError":true`); got != writes {
			t.Errorf("%s writes: %v: %s", name, got, note)
		}
		page := as(name, `"name":"fetch","arguments":{"url":"https://example.com/guide"}`, "tools/call")
		if strings.Contains(page, `"isError":true`) {
			t.Errorf("%s: %s", name, page)
		}
		if set := w.store.Fetched(name + "+s"); len(set.Pages) != 1 {
			t.Errorf("the session of %s has %d pages", name, len(set.Pages))
		}
	}
	if set := w.store.Fetched("s"); len(set.Pages) != 0 {
		t.Errorf("nobody's session has %d pages", len(set.Pages))
	}
	used := map[string]users.Use{}
	if err := w.users.Take(func(u map[string]users.Use) error { used = u; return nil }); err != nil {
		t.Fatal(err)
	}
	for name, use := range used {
		if use.Requests != 3 || use.Pages != 1 || use.Tokens == 0 || use.Bytes == 0 {
			t.Errorf("%s used %+v", name, use)
		}
	}
	if len(used) != 2 {
		t.Errorf("%d users used something", len(used))
	}
}
