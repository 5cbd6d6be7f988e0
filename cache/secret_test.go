package cache_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
)

func TestNothingOfAURLWithASecretIsStoredInASharedCache(t *testing.T) {
	secret := func(u *url.URL) bool { return u.Query().Has("token") }
	forced := func(*url.URL) cache.Rule { return cache.Rule{Lifetime: time.Hour} }
	for _, tt := range []struct {
		name    string
		options cache.Options
		path    string
		hit     bool
	}{
		{"a secret in the query", cache.Options{Secret: secret}, "/?token=x", false},
		{"not even by a rule", cache.Options{Secret: secret, Rule: forced}, "/?token=x", false},
		{"another query", cache.Options{Secret: secret}, "/?page=x", true},
		{"a private cache", cache.Options{Secret: secret, Private: true}, "/?token=x", true},
		{"without a judge of secrets", cache.Options{}, "/?token=x", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.options, fixed("x", "Cache-Control: public, max-age=60", `ETag: "a"`, "Content-Type: text/plain"))
			r.do(r.request("GET", tt.path))
			g := r.do(r.request("GET", tt.path))
			if hit := strings.Contains(g.status, "hit"); hit != tt.hit {
				t.Errorf("second answer: %q", g.status)
			}
			list, err := r.store.Responses(cache.Key(r.request("GET", tt.path)))
			if err != nil || len(list) > 0 != tt.hit {
				t.Errorf("stored: %v, %v", list, err)
			}
		})
	}
}

func TestUserInfoIsASecretByItself(t *testing.T) {
	r := newRig(t, cache.Options{}, fixed("x", "Cache-Control: public, max-age=60"))
	for range 2 {
		req := r.request("GET", "/")
		req.URL.User = url.UserPassword("ann", "x")
		if g := r.do(req); strings.Contains(g.status, "stored") || strings.Contains(g.status, "hit") {
			t.Errorf("Cache-Status = %q", g.status)
		}
	}
	r.wantAsked(2)
}

func TestARulesLifetimeIsVisible(t *testing.T) {
	r := newRig(t, cache.Options{Rule: func(*url.URL) cache.Rule { return cache.Rule{Lifetime: time.Hour} }},
		fixed("x", "Cache-Control: no-cache"))
	r.get()
	if g := r.get(); !strings.Contains(g.status, "hit") || !strings.HasSuffix(g.status, "; detail=override") {
		t.Errorf("Cache-Status = %q", g.status)
	}
	if g := r.get("Authorization: Bearer x"); strings.Contains(g.status, "hit") {
		t.Errorf("with credentials: %q", g.status)
	}
}

func TestBypassedRequestsLeaveTheStoreAlone(t *testing.T) {
	r := newRig(t, cache.Options{Rule: func(u *url.URL) cache.Rule { return cache.Rule{Bypass: u.Path == "/live"} }},
		fixed("x", "Cache-Control: max-age=60"))
	for range 2 {
		if g := r.do(r.request("GET", "/live")); g.status != "readthru; fwd=bypass; fwd-status=200" {
			t.Errorf("Cache-Status = %q", g.status)
		}
	}
	r.wantAsked(2)
}
