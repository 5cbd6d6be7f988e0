package signs_test

import (
	"testing"

	"github.com/readthru/readthru/convert/signs"
)

func TestPhrasesAreWholeWordsWhereverTheyStand(t *testing.T) {
	for text, want := range map[string]string{
		"404": "404", "error 404.": "404", "40404 and then 404": "404", "404404": "", "40404": "", "": "",
	} {
		if got := signs.FirstIn([]string{"403", "404"}, text); got != want {
			t.Errorf("FirstIn(%q) = %q, want %q", text, got, want)
		}
	}
}
