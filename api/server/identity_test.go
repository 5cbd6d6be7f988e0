package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/openid"
)

// TestTheWayToAProviderAndBack begins attempts and comes back with what is wrong. The whole way, by a real provider, is
// gone in the module bench.
func TestTheWayToAProviderAndBack(t *testing.T) {
	var away atomic.Bool
	provider := httptest.NewUnstartedServer(nil)
	provider.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() || !strings.HasPrefix(r.URL.Path, "/.well-known/") {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		at := "http://" + r.Host
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"issuer":"` + at + `","authorization_endpoint":"` + at + `/authorize","token_endpoint":"` +
			at + `/token","jwks_uri":"` + at + `/keys"}`))
	})
	provider.Start()
	defer provider.Close()
	away.Store(true)
	m := newTeam(t, func(o *server.Options) {
		o.Identity = openid.New(openid.Options{Issuer: provider.URL, ClientID: "us", Client: provider.Client()})
	})
	link := []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}
	if body := visit(t, m.server, "GET", "/signin", "").text(t); !strings.Contains(body,
		`href="/signin/provider?page=%2f"`) || !strings.Contains(body, "Sign in by 127.0.0.1:") {
		t.Errorf("the page that signs in: %s", body)
	}
	if got := visit(t, m.server, "GET", "/signin/provider", "", link...); got.StatusCode != http.StatusBadGateway ||
		len(got.Cookies()) > 0 {
		t.Errorf("a provider that is away: status %d", got.StatusCode)
	}
	away.Store(false)
	begin := func(page string) (cookie, state string) {
		t.Helper()
		got := visit(t, m.server, "GET", "/signin/provider?page="+url.QueryEscape(page), "", link...)
		cookies, at := got.Cookies(), got.Header.Get("Location")
		u, err := url.Parse(at)
		if err != nil || got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(at, provider.URL+"/authorize?") ||
			len(cookies) != 1 {
			t.Fatalf("status %d, to %s, %v", got.StatusCode, at, cookies)
		}
		c := cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/signin/provider" || c.MaxAge > 600 ||
			c.Name != "readthru-7888-provider" {
			t.Errorf("cookie %v", c)
		}
		if back := u.Query().Get("redirect_uri"); back != "http://localhost:7888/signin/provider/back" {
			t.Errorf("back to %s", back)
		}
		return "Cookie: " + c.Name + "=" + c.Value, u.Query().Get("state")
	}
	cookie, state := begin("/pages")
	for what, tt := range map[string]struct {
		query  string
		fields []string
		says   string
	}{
		"no cookie":             {"?code=x&state=" + state, nil, "of another browser"},
		"a changed cookie":      {"?code=x&state=" + state, []string{cookie[:len(cookie)-4] + "AAAA"}, "of another browser"},
		"a session's cookie":    {"?code=x&state=" + state, []string{m.enter(t, "read")}, "of another browser"},
		"another state":         {"?code=x&state=y", []string{cookie}, "of another browser"},
		"refused there":         {"?error=access_denied&state=" + state, []string{cookie}, "did not sign you in"},
		"a provider that fails": {"?code=x&state=" + state, []string{cookie}, "did not say who you are"},
		"HTML":                  {"?error=%3Cb%3E&state=" + state, []string{cookie}, "did not sign you in"},
	} {
		got := visit(t, m.server, "GET", "/signin/provider/back"+tt.query, "", append(tt.fields, link...)...)
		body := got.text(t)
		if got.StatusCode != http.StatusForbidden || !strings.Contains(body, tt.says) || strings.Contains(body, "<b>") {
			t.Errorf("%s: status %d: %s", what, got.StatusCode, body)
		}
		for _, c := range got.Cookies() {
			if c.MaxAge >= 0 {
				t.Errorf("%s: a cookie %v", what, c)
			}
		}
	}
	attempt := strings.Replace(cookie, "-provider=", "=", 1)
	if got := visit(t, m.server, "GET", "/openapi.json", "", attempt); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("an attempt as a session: status %d", got.StatusCode)
	}
	for what, fields := range map[string][]string{
		"a script of another site": {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"},
		"DNS rebinding":            {"Host: evil.test"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost:7888/signin/provider", http.NoBody)
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			if name == "Host" {
				r.Host = value
			}
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		if m.server.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("%s: status %d", what, w.Code)
		}
	}
	other := newTeam(t, nil)
	if got := visit(t, other.server, "GET", "/signin/provider", ""); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a provider: status %d", got.StatusCode)
	}
}
