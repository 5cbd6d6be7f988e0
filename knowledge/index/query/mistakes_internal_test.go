package query

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		most int
		want int
	}{
		{"", "", 1, 0},
		{"a", "", 1, 1},
		{"worktre", "worktree", 1, 1},
		{"wroktree", "worktree", 1, 1},
		{"stsah", "stash", 1, 1},
		{"recusive", "recursive", 2, 1},
		{"rceusive", "recursive", 2, 2},
		{"abc", "xyz", 2, 3},
		{"abcdef", "a", 2, 3},
		{"größse", "größe", 1, 1},
		{"ab", "ba", 1, 1},
		{"abc", "ca", 2, 3},
	} {
		if got := distance([]rune(tt.a), []rune(tt.b), tt.most); got != tt.want {
			t.Errorf("distance of %q and %q, at most %d: %d, want %d", tt.a, tt.b, tt.most, got, tt.want)
		}
	}
}

func TestUnlikelihoodOfMistakes(t *testing.T) {
	for _, tt := range []struct {
		word, meant string
		want        int
	}{
		{"same", "same", 0},
		{"", "a", letterMistake + beginMistake},
		{"windw", "window", letterMistake},
		{"windowx", "window", letterMistake},
		{"stagging", "staging", doubleMistake},
		{"stagging", "tagging", letterMistake + beginMistake},
		{"begining", "beginning", doubleMistake}, //nolint:misspell // a mistake
		{"stsah", "stash", swapMistake},
		{"tsash", "stash", swapMistake + beginMistake},
		{"trsnsaction", "transaction", nearMistake},
		{"brtanch", "branch", nearMistake},
		{"seperate", "separate", soundMistake}, //nolint:misspell // a mistake
		{"rebse", "reuse", otherMistake},
		{"rebse", "rebase", letterMistake},
		{"tebase", "rebase", nearMistake + beginMistake},
		{"revers", "reverse", endingMistake},
		{"authenticat", "authentication", 3 * endingMistake},
		{"größse", "größe", nearMistake},
	} {
		if got := unlikelihood([]rune(tt.word), []rune(tt.meant)); got != tt.want {
			t.Errorf("%q for %q: %d, want %d", tt.word, tt.meant, got, tt.want)
		}
	}
	long := []rune(strings.Repeat("a", maxMistakeRunes+1))
	if unlikelihood(long, long[1:]) < otherMistake {
		t.Error("a word that is too long to look at is a likely mistake")
	}
}

func TestKeysThatAreNeighbours(t *testing.T) {
	for pair, want := range map[string]bool{
		"qw": true, "qa": true, "aq": true, "as": true, "az": true, "sw": true, "se": true, "sx": true,
		"sz": true, "hb": true, "pl": true, "ml": false,
		"ad": false, "sq": false, "sc": false, "tb": false, "aa": false, "aä": false, "é1": false,
	} {
		r := []rune(pair)
		if nearKeys(r[0], r[1]) != want || nearKeys(r[1], r[0]) != want {
			t.Errorf("%q are neighbours: %t, want %t", pair, !want, want)
		}
	}
}
