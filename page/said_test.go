package page_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
)

func TestAServersMessageIsToldWithoutTheKey(t *testing.T) {
	for _, tt := range []struct{ text, key, want string }{
		{"", "sk-1", ""},
		{"no key here", "sk-1", "no key here"},
		{"no key\nat all\x00", "", "no key at all"},
		{"wrong key sk-1: sk-1 was revoked", "sk-1", "wrong key ***: *** was revoked"},
		{strings.Repeat("x", 298) + "sk-123456", "sk-123456", strings.Repeat("x", 298) + "*…"},
	} {
		if got := page.Said(tt.text, tt.key); got != tt.want {
			t.Errorf("Said(%q, %q) = %q, want %q", tt.text, tt.key, got, tt.want)
		}
	}
}
