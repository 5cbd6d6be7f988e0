package chars_test

import (
	"testing"

	"readthru/convert/chars"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]int{"": 0, " - ": 0, "one": 1, "one,2 three": 3, "Größe über": 2, "日本語": 3} {
		if got := chars.Words(text); got != want {
			t.Errorf("Words(%q) = %d, want %d", text, got, want)
		}
	}
}
