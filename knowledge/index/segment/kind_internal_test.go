package segment

import (
	"strings"
	"testing"
)

func TestKindsOfPassages(t *testing.T) {
	links := strings.Repeat("* [fetch a page](a.html)\n", 8)
	for _, tt := range []struct {
		text  string
		words int
		lead  bool
		want  Kind
	}{
		{"Text.", 1, false, 0},
		{"Text.", 1, true, LeadPassage},
		{links, 24, false, LinkPassage},
		{links, 24, true, LeadPassage | LinkPassage},
		{links + strings.Repeat("words ", 50), 74, false, 0},
		{"[a](b) [c](d)", 2, false, 0},
	} {
		if got := kindOf(tt.text, tt.words, tt.lead); got != tt.want {
			t.Errorf("kind of %.20q: %d, want %d", tt.text, got, tt.want)
		}
	}
}
