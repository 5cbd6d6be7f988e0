package css

import "testing"

func TestHasClass(t *testing.T) {
	for _, tt := range []struct {
		attr, class  string
		plain, quirk bool
	}{
		{"a", "a", true, true},
		{" b\ta\n", "a", true, true},
		{"ab ba aba", "a", false, false},
		{"abab x", "ab", false, false},
		{"abab ab", "ab", true, true},
		{"aab ab", "ab", true, true},
		{"A", "a", false, true},
		{"", "a", false, false},
		{"a b", "a b", false, false},
		{"a", "", false, false},
		{"\u212a", "k", false, false},
	} {
		if m := (matcher{}); m.hasClass(tt.attr, tt.class) != tt.plain {
			t.Errorf("%q has the class %q: %t, want %t", tt.attr, tt.class, !tt.plain, tt.plain)
		}
		if m := (matcher{quirks: true}); m.hasClass(tt.attr, tt.class) != tt.quirk {
			t.Errorf("in quirks mode %q has the class %q: %t, want %t", tt.attr, tt.class, !tt.quirk, tt.quirk)
		}
	}
}
