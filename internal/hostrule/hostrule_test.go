package hostrule_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/hostrule"
)

func TestFirstMatchingRuleWins(t *testing.T) {
	rules := hostrule.Rules{
		{Host: "*.example.com", Path: "/docs/*", Mode: "docs"},
		{Host: "*.example.com", Mode: "example"},
		{Host: "exact.test", Mode: "exact"},
		{Path: "/any/*/end", Mode: "path"},
	}
	for _, tt := range []struct{ host, path, want string }{
		{"example.com", "/docs/a", "docs"},
		{"a.b.example.com:8443", "/docs/a/b", "docs"},
		{"EXAMPLE.com.", "/docs/", "docs"},
		{"example.com", "/docs/../x", "example"},
		{"example.com", "/x/../docs/y", "docs"},
		{"example.com", "", "example"}, // at CONNECT
		{"notexample.com", "/docs/a", ""},
		{"example.com.evil.test", "/docs/a", ""},
		{"exact.test", "/", "exact"},
		{"sub.exact.test", "/", ""},
		{"other.test", "/any/thing/at/all/end", "path"},
		{"other.test", "/any/end", ""},
		{"other.test", "", ""},
	} {
		if rule, ok := rules.Match(tt.host, tt.path); rule.Mode != tt.want || ok != (tt.want != "") {
			t.Errorf("Match(%q, %q) = %q, %v, want %q", tt.host, tt.path, rule.Mode, ok, tt.want)
		}
	}
}

func TestPatternsOfManyStarsTakeNoTime(t *testing.T) {
	rules := hostrule.Rules{{Host: strings.Repeat("*a", 200) + "b"}}
	if _, ok := rules.Match(strings.Repeat("a", 5000), "/"); ok {
		t.Error("matched, want no match")
	}
}

func TestRulesForTheCache(t *testing.T) {
	rules := hostrule.Rules{{Host: "live.test", Path: "/now/*", Bypass: true}, {Host: "*.test", TTL: time.Hour}}
	for target, want := range map[string]cache.Rule{
		"https://live.test/now/x": {Bypass: true},
		"https://live.test/then":  {Lifetime: time.Hour},
		"https://a.test:8443/":    {Lifetime: time.Hour},
		"https://a.example/now/x": {},
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Cache(u); got != want {
			t.Errorf("%s: %+v, want %+v", target, got, want)
		}
	}
}

// TestNoEscapeEvadesARule has rules look at the path that the origin decodes (RFC 3986 §6.2.2.2: escapes of unreserved
// characters mean what these mean).
func TestNoEscapeEvadesARule(t *testing.T) {
	rules := hostrule.Rules{{Host: "a.test", Path: "/no/*", Action: "block"}}
	for target, want := range map[string]bool{
		"https://a.test/no/x": true, "https://a.test/%6eo/x": true, "https://a.test/n%6F/x": true,
		"https://a.test:8443/no/x": true, "https://a.test/yes": false, "https://b.test/no/x": false,
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := rules.For(u); got != want {
			t.Errorf("a rule for %s: %v, want %v", target, got, want)
		}
	}
}
