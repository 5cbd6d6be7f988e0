package convert_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"word", 1},
		{"two words", 2},
		{"internationalisation", 4}, // 20 letters: 1 + 13/5
		{"1234567", 3},
		{"a  b", 3},
		{"a\n\n\nb", 3},
		{"----", 1},
		{"-----", 2},
		{"日本語日", 3},
		{"...", 1},
	} {
		if got := convert.Tokens(tt.text); got != tt.want {
			t.Errorf("Tokens(%q) = %d, want %d", tt.text, got, tt.want)
		}
		if got := convert.Tokens([]byte(tt.text)); got != tt.want {
			t.Errorf("Tokens of the bytes of %q = %d, want %d", tt.text, got, tt.want)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	text := strings.Repeat("Some ordinary words, 123 numbers and `code` in a line.\n", 2000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		convert.Tokens(text)
	}
}
