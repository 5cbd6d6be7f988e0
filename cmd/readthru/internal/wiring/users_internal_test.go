//go:build linux

package wiring

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/internal/users"
)

// TestSessionsBelongToTheirUser has two users with a session of the same name.
func TestSessionsBelongToTheirUser(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = fmt.Fprintf(w, "<h1>Page %s</h1><p>A paragraph that is long enough to be content for any reader.</p>",
			r.URL.Path)
	}))
	t.Cleanup(origin.Close)
	hash, err := users.HashPassword("secret")
	if err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t, func(s *settings.Settings) {
		s.Proxy.Users = []settings.UserConfig{{Name: "ann", PasswordHash: hash}, {Name: "bob", PasswordHash: hash}}
	})
	for _, tt := range []struct {
		login, field, path string
		want               int
	}{
		{"ann+proj", "", "/a", http.StatusOK},
		{"bob+proj", "", "/b", http.StatusOK},
		{"ann", "proj", "/c", http.StatusOK},
		{"ann", "ann+proj", "/d", http.StatusOK},
		{"ann", "bob+proj", "/e", http.StatusBadRequest},
		{"bob+x", "ann+proj", "/e", http.StatusBadRequest},
		{"ann", "bob+ann+proj", "/e", http.StatusBadRequest},
	} {
		transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{
			Scheme: "http", User: url.UserPassword(tt.login, "secret"), Host: d.Info.Proxy,
		})}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, origin.URL+tt.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if tt.field != "" {
			req.Header.Set("X-Readthru-Session", tt.field)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // its status is enough
		transport.CloseIdleConnections()
		if resp.StatusCode != tt.want {
			t.Errorf("%s as %s with %q: status %d, want %d", tt.path, tt.login, tt.field, resp.StatusCode, tt.want)
		}
	}
	client := d.Server.Client(daemon.UserAgent)
	for session, want := range map[string][]string{
		"ann+proj": {"/a", "/c", "/d"}, "bob+proj": {"/b"}, "proj": nil, "x": nil, "bob+x": nil,
	} {
		c, err := client.Context(t.Context(), session, "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range c.Pages {
			got = append(got, p.URL[len(origin.URL):])
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("session %s has fetched %v, want %v", session, got, want)
		}
	}
	visits, err := client.Visits(t.Context(), api.VisitQuery{})
	if err != nil || len(visits.Visits) != 4 {
		t.Fatalf("visits: %v, %+v, want 4", err, visits)
	}
	for _, v := range visits.Visits {
		if v.Session != v.User+"+proj" {
			t.Errorf("%s: session %q of user %q", v.URL, v.Session, v.User)
		}
	}
}
