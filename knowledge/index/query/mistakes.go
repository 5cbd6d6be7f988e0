package query

import "strings"

// How unlikely mistakes are, in tenths of one letter that is missing or too many.
const (
	letterMistake   = 10 // a letter that is missing, or too many
	doubleMistake   = 6  // a letter once instead of twice, or twice instead of once
	swapMistake     = 6  // two letters in each other's place
	nearMistake     = 7  // a neighbouring key instead of the right one, or beside it
	soundMistake    = 8  // a letter that may sound the same
	otherMistake    = 13 // any other letter in place of the right one
	endingMistake   = 4  // a letter of the ending that is missing
	beginMistake    = 5  // what a mistake in the first letter costs more
	maxMistakeRunes = 64
)

// rowsOfKeys are the letters of a keyboard; each row stands half a key further right than the one above.
var rowsOfKeys = [...]string{"qwertyuiop", "asdfghjkl", "zxcvbnm"}

// likeSounds are groups of letters that are taken for one another by ear.
var likeSounds = [...]string{"aeiouy", "cks", "sz", "mn", "dt", "gj", "kq", "fv"}

// nearKeys reports whether the keys of two letters are neighbours, so that one is easily mistyped for the other.
func nearKeys(a, b rune) bool {
	for y, row := range rowsOfKeys {
		x := strings.IndexRune(row, a)
		if x < 0 {
			continue
		}
		if at := strings.IndexRune(row, b); at >= 0 {
			return at == x-1 || at == x+1
		}
		if y > 0 {
			if at := strings.IndexRune(rowsOfKeys[y-1], b); at >= 0 {
				return at == x || at == x+1
			}
		}
		if y+1 < len(rowsOfKeys) {
			if at := strings.IndexRune(rowsOfKeys[y+1], b); at >= 0 {
				return at == x || at == x-1
			}
		}
	}
	return false
}

// soundAlike reports whether two letters are often mistaken for each other because they sound alike.
func soundAlike(a, b rune) bool {
	for _, group := range likeSounds {
		if strings.ContainsRune(group, a) && strings.ContainsRune(group, b) {
			return true
		}
	}
	return false
}

// distance returns how many mistakes are between two words: how many letters of one must be put in, left out, changed,
// or changed with their neighbour to make it another, or more than most.
func distance(a, b []rune, most int) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		fewest := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			fewest = min(fewest, row[j])
		}
		if fewest > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// unlikelihood returns how unlikely the mistakes are that make a word of another that was meant: the least sum.
func unlikelihood(word, meant []rune) int {
	if len(word) > maxMistakeRunes || len(meant) > maxMistakeRunes {
		return otherMistake * maxMistakeRunes
	}
	var before, last, row [maxMistakeRunes + 1]int
	for j := 1; j <= len(meant); j++ {
		last[j] = last[j-1] + missing(word, meant, 0, j)
	}
	for i := 1; i <= len(word); i++ {
		row[0] = last[0] + tooMany(word, i)
		for j := 1; j <= len(meant); j++ {
			row[j] = min(
				last[j]+tooMany(word, i),
				row[j-1]+missing(word, meant, i, j),
				last[j-1]+instead(word, meant, i, j))
			if i > 1 && j > 1 && word[i-1] == meant[j-2] && word[i-2] == meant[j-1] {
				row[j] = min(row[j], before[j-2]+swapMistake+atBeginning(i-1))
			}
		}
		before, last = last, row
	}
	return last[len(meant)]
}

// atBeginning returns what a mistake costs more if it is in the first letter of a word, which is seldom mistyped.
func atBeginning(i int) int {
	if i == 1 {
		return beginMistake
	}
	return 0
}

// tooMany returns what the mistake costs that the i-th letter of a word is too many.
func tooMany(word []rune, i int) int {
	for _, at := range [...]int{i - 1, i + 1} {
		switch {
		case at < 1 || at > len(word):
		case word[at-1] == word[i-1]:
			return doubleMistake
		case nearKeys(word[at-1], word[i-1]):
			return nearMistake + atBeginning(i)
		}
	}
	return letterMistake + atBeginning(i)
}

// missing returns what the mistake costs that the j-th letter of what was meant is missing after i letters of a word.
func missing(word, meant []rune, i, j int) int {
	switch {
	case i == len(word) && i > 0:
		return endingMistake
	case j > 1 && meant[j-1] == meant[j-2], j < len(meant) && meant[j-1] == meant[j]:
		return doubleMistake
	}
	return letterMistake + atBeginning(j)
}

// instead returns what the mistake costs that the i-th letter of a word stands in place of the j-th of what was meant.
func instead(word, meant []rune, i, j int) int {
	a, b := word[i-1], meant[j-1]
	cost := otherMistake
	switch {
	case a == b:
		return 0
	case nearKeys(a, b):
		cost = nearMistake
	case soundAlike(a, b):
		cost = soundMistake
	}
	return cost + atBeginning(i)
}
