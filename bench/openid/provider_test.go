// Package openid has no code but this test: people sign in to readthru by a real provider of identities, on loopback.
package openid_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/openid"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// get returns the status and the content of the answer to a request.
func get(t *testing.T, client *http.Client, req *http.Request) (int, string, *url.URL) {
	t.Helper()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Request.URL
}

func TestAPersonSignsInByARealProvider(t *testing.T) {
	provider := httptest.NewUnstartedServer(nil)
	issuer := "http://" + provider.Listener.Addr().String() + "/"
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	directory := users.NewDirectory(nil)
	s := server.New(server.Options{
		Store: st, Token: "token", Users: directory, Proxy: func() string { return "" },
		Changed: func() error { all := st.Users(); return directory.Set(nil, all.List, all.Closed) },
		Identity: openid.New(openid.Options{
			Issuer: issuer, ClientID: "web", ClientSecret: "secret",
		}),
	})
	defer s.Stop()
	us := httptest.NewServer(s)
	defer us.Close()

	quiet := slog.New(slog.DiscardHandler)
	storage.RegisterClients(storage.WebClient("web", "secret", us.URL+"/signin/provider/back"))
	provider.Config.Handler = exampleop.SetupServer(issuer, storage.NewStorage(storage.NewUserStore(issuer)), quiet, false)
	provider.Start()
	defer provider.Close()

	request := func(method, at string, form url.Values) *http.Request {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return r
	}
	signIn := func(user string) (client *http.Client, status int, body string, at *url.URL) {
		t.Helper()
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		client = &http.Client{Jar: jar}
		status, body, at = get(t, client, request(http.MethodGet, us.URL+"/signin/provider?page=/api/v1/account", nil))
		id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindStringSubmatch(body)
		if status != http.StatusOK || id == nil {
			t.Fatalf("the provider's page: status %d at %s: %s", status, at, body)
		}
		form := url.Values{"id": {id[1]}, "username": {user}, "password": {"verysecure"}}
		status, body, at = get(t, client, request(http.MethodPost, issuer+"login/username", form))
		return client, status, body, at
	}
	host, _, _ := net.SplitHostPort(provider.Listener.Addr().String())
	client, status, body, at := signIn("test-user@" + host)
	if status != http.StatusOK || !strings.Contains(body, "Signed in as test-user") ||
		!strings.Contains(body, `url=/api/v1/account"`) {
		t.Fatalf("back: status %d at %s: %s", status, at, body)
	}
	status, account, _ := get(t, client, request(http.MethodGet, us.URL+"/api/v1/account", nil))
	if status != http.StatusOK || !strings.Contains(account, `"name":"test-user"`) ||
		!strings.Contains(account, fmt.Sprintf("%q", issuer+" id1")) || !strings.Contains(account, `"role":"read"`) {
		t.Errorf("the account: status %d: %s", status, account)
	}
	if status, body, _ := get(t, client, request(http.MethodGet, at.String(), nil)); status != http.StatusForbidden {
		t.Errorf("the same way back again: status %d: %s", status, body)
	}
	stranger := &http.Client{}
	if status, body, _ := get(t, stranger, request(http.MethodGet, at.String(), nil)); status != http.StatusForbidden {
		t.Errorf("the same way back in another browser: status %d: %s", status, body)
	}

	ops := s.Client("test")
	if _, err := ops.ChangeUser(t.Context(), api.UserChange{
		Name: "test-user", UserFields: api.UserFields{Role: new("write")},
	}); err != nil {
		t.Fatal(err)
	}
	client, _, _, _ = signIn("test-user@" + host)
	if _, account, _ := get(t, client, request(http.MethodGet, us.URL+"/api/v1/account", nil)); !strings.Contains(account,
		`"role":"write"`) {
		t.Errorf("for the second time: %s", account)
	}
	if _, err := ops.AddUser(t.Context(), api.NewUser{Name: "test-user2"}); err != nil {
		t.Fatal(err)
	}
	subject := issuer + " id2"
	if _, status, body, _ := signIn("test-user2"); status != http.StatusForbidden ||
		!strings.Contains(body, "there is a user test-user2 here") || !strings.Contains(body, subject) {
		t.Errorf("a name that is taken: status %d: %s", status, body)
	}
	if _, err := ops.ChangeUser(t.Context(), api.UserChange{
		Name: "test-user2", UserFields: api.UserFields{Subject: &subject},
	}); err != nil {
		t.Fatal(err)
	}
	if _, status, body, _ := signIn("test-user2"); status != http.StatusOK ||
		!strings.Contains(body, "Signed in as test-user2") {
		t.Errorf("a name whose user an administrator has given to the same person: status %d: %s", status, body)
	}
	if _, err := ops.ChangeUser(t.Context(), api.UserChange{
		Name: "test-user", UserFields: api.UserFields{Disabled: new(true)},
	}); err != nil {
		t.Fatal(err)
	}
	if _, status, body, _ := signIn("test-user@" + host); status != http.StatusForbidden ||
		!strings.Contains(body, "is disabled") {
		t.Errorf("who is disabled: status %d: %s", status, body)
	}
}
