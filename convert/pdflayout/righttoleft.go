package pdflayout

import (
	"slices"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// rightToLeft reports whether most letters of words are of a script written from right to left: Hebrew, Arabic and
// others, and their presentation forms. Words without letters are not.
func rightToLeft(words []word) bool {
	right, all := 0, 0
	for _, w := range words {
		for _, r := range w.text {
			if unicode.IsLetter(r) {
				if all++; r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc {
					right++
				}
			}
		}
	}
	return 2*right > all
}

// quoted puts the words of scripts written from right to left that stand in a line of another script, into the order in
// which they are read. The words given are not changed.
func quoted(words []word) []word {
	var out []word
	for from := 0; from < len(words); from++ {
		end := from
		for end < len(words) && rightToLeft(words[end:end+1]) {
			end++
		}
		if end == from {
			continue
		}
		if out == nil {
			out = slices.Clone(words)
		}
		copy(out[from:end], reversed(words[from:end]))
		from = end
	}
	if out == nil {
		return words
	}
	return out
}

// reversed puts words of scripts written from right to left, which a PDF draws from left to right, into the order in
// which they are read: the words, and the letters in each. Presentation forms become plain letters.
func reversed(words []word) []word {
	out := slices.Clone(words)
	slices.Reverse(out)
	for i := range out {
		if rightToLeft(out[i : i+1]) {
			letters := []rune(norm.NFKC.String(out[i].text))
			slices.Reverse(letters)
			out[i].text = string(letters)
		}
	}
	return out
}
