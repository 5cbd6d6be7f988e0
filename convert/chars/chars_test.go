package chars_test

import (
	"testing"

	"readthru/convert/chars"
)

func TestVisibleRemovesInvisibleCharacters(t *testing.T) {
	for _, tt := range []struct {
		name, text, clean string
		smuggled          bool
	}{
		{"plain text is left alone", "a b\n", "a b\n", false},
		{"soft hyphens and zero-width spaces go", "co\u00adop\u200berate", "cooperate", false},
		{"a joiner between emoji stays", "👩\u200d💻", "👩\u200d💻", false},
		{"a joiner between Latin letters goes", "a\u200db", "ab", false},
		{"an emoji keeps its variation selector", "❤\ufe0f", "❤\ufe0f", false},
		{"tag characters are smuggled text", "x\U000e0068\U000e0069", "x", true},
		{"a bidirectional override is smuggled text", "a\u202eb", "ab", true},
		{"a run of variation selectors is smuggled text", "x\ufe01\ufe02", "x", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if clean, smuggled := chars.Visible(tt.text); clean != tt.clean || smuggled != tt.smuggled {
				t.Errorf("Visible(%+q) = %+q, %v, want %+q, %v", tt.text, clean, smuggled, tt.clean, tt.smuggled)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]int{"": 0, " - ": 0, "one": 1, "one,2 three": 3, "Größe über": 2, "日本語": 3} {
		if got := chars.Words(text); got != want {
			t.Errorf("Words(%q) = %d, want %d", text, got, want)
		}
	}
}
