package page_test

import (
	"testing"

	"github.com/readthru/readthru/page"
)

func TestBlockedMatchesHostsBySuffix(t *testing.T) {
	domains := []string{"medium.com", ".Substack.com.", "www.b.test", "*.c.test", ""}
	for _, tt := range []struct {
		host string
		want bool
	}{
		{"medium.com", true},
		{"MEDIUM.com", true},
		{"www.medium.com", true},
		{"x.substack.com", true},
		{"medium.com:443", true},
		{"medium.com.", true},
		{"medium.com.:443", true},
		{"b.test", true},
		{"c.test", true},
		{"x.c.test", true},
		{"notmedium.com", false},
		{"medium.com.evil.test", false},
		{"", false},
		{"[::1]:80", false},
	} {
		if got := page.Blocked(tt.host, domains); got != tt.want {
			t.Errorf("Blocked(%q) = %v, want %v", tt.host, got, tt.want)
		}
	}
}
