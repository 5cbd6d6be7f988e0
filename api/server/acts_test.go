package server_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
)

// TestActsOfAdministratorsAreRecorded has an administrator, a writer and the operator do things.
func TestActsOfAdministratorsAreRecorded(t *testing.T) {
	m := newTeam(t, func(o *server.Options) { o.Switch = func(api.Switches) error { return nil } })
	secret := "correct horse"
	for _, tt := range []struct{ user, method, path, body string }{
		{"admin", "POST", "/api/v1/users", `{"name":"eve","role":"write","tokens_per_day":9,"password":"` + secret + `"}`},
		{"admin", "POST", "/api/v1/users", `{"name":"eve"}`}, // fails
		{"write", "POST", "/api/v1/users/eve", `{"role":"admin"}`},
		{"admin", "GET", "/api/v1/users", ""},
		{"admin", "POST", "/api/v1/users/eve", `{"disabled":true,"password":"another horse"}`},
		{"admin", "POST", "/api/v1/users/eve/tokens", `{"scopes":["api"]}`},
		{"admin", "DELETE", "/api/v1/users/eve", ""},
		{"admin", "POST", "/api/v1/rules", `{"host":"b.test","action":"block"}`},
		{"admin", "POST", "/api/v1/switches", `{"paused":true}`},
		{"admin", "DELETE", "/api/v1/sites/a.test", ""},
		{"write", "POST", "/api/v1/notes", `{"text":"A note."}`},
		{"admin", "GET", "/api/v1/backup", ""},
	} {
		m.as(t, tt.user, tt.method, tt.path, tt.body)
	}
	code := m.linkOf(t, "admin")
	signed := send(t, m.server, "/signin", url.Values{"code": {code}}).signedIn(t)
	send(t, m.server, "/signin", url.Values{"name": {"admin"}, "password": {"a wrong password"}})
	send(t, m.server, "/signout", nil, signed)

	list, err := m.client.Acts(t.Context(), api.ListQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range list.Acts[:len(list.Acts)-3] { // before these, newTeam made users
		failed := ""
		if a.Error != "" {
			failed = " failed"
		}
		got = append(got, strings.TrimSpace(a.User+" "+a.Act+": "+a.Object)+failed)
		if a.Time.IsZero() || a.From == "" && a.User != "" {
			t.Errorf("no time, or not from where: %+v", a)
		}
	}
	slices.Reverse(got)
	want := []string{
		"admin addUser: eve, role write, 9 tokens a day, password", "admin addUser: eve failed",
		"admin changeUser: eve, disabled, password", "admin addToken: eve, for api", "admin removeUser: eve",
		"admin addRule: b.test: block", "admin setSwitches: paused: true", "admin removeSite: a.test",
		"admin getBackup:", "createSigninLink: admin", "admin signIn: by a link", "admin signOut:",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text := visit(t, m.server, "GET", "/api/v1/acts", "", "Authorization: Bearer of the operator").text(t)
	for _, kept := range []string{secret, "another horse", code, "rt_", "wrong password"} {
		if strings.Contains(text, kept) {
			t.Errorf("the record has %q", kept)
		}
	}
	if status, _ := m.as(t, "write", "GET", "/api/v1/acts", ""); status != http.StatusForbidden {
		t.Errorf("a writer: status %d", status)
	}
	first, err := m.client.Acts(t.Context(), api.ListQuery{Limit: 2})
	if err != nil || len(first.Acts) != 2 || first.Next == "" {
		t.Fatal(first, err)
	}
	next, err := m.client.Acts(t.Context(), api.ListQuery{Limit: 2, Cursor: first.Next})
	if diff := cmp.Diff(list.Acts[:4], append(slices.Clone(first.Acts), next.Acts...)); err != nil || diff != "" {
		t.Errorf("in parts: %v, %s", err, diff)
	}
	if status, _ := m.as(t, "admin", "GET", "/api/v1/acts?cursor=x", ""); status != http.StatusBadRequest {
		t.Errorf("a malformed cursor: status %d", status)
	}
	if again, _, err := m.store.Acts("", 100); err != nil || len(again) != len(list.Acts) {
		t.Errorf("in the store: %d, %v", len(again), err)
	}
}
