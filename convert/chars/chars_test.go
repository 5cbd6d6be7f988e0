package chars_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/convert/chars"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]int{"": 0, " - ": 0, "one": 1, "one,2 three": 3, "Größe über": 2, "日本語": 3} {
		if got := chars.Words(text); got != want {
			t.Errorf("Words(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, s := range []string{
		"", " ", "a", " a", "a ", "a b", "a  b", "a\nb", "a\u00a0b", "\u3000a", "a \u2003", "é è", "\xff \xfe", "a \xc2", "  ",
	} {
		if got, want := chars.OneLine(s), strings.Join(strings.Fields(s), " "); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", s, got, want)
		}
	}
}
