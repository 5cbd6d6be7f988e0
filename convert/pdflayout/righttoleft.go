package pdflayout

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// rightToLeft reports whether most letters of words are of a script written from right to left: Hebrew, Arabic and
// others, and their presentation forms. Words without letters are not.
func rightToLeft(words []word) bool {
	right, all := directed(words)
	return 2*right > all
}

// directed returns how many letters words have, and how many of them are of a script written from right to left.
func directed(words []word) (right, all int) {
	for _, w := range words {
		for _, r := range w.text {
			if unicode.IsLetter(r) {
				if all++; isRightToLeft(r) {
					right++
				}
			}
		}
	}
	return right, all
}

// isRightToLeft reports whether a letter is of a script written from right to left.
func isRightToLeft(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc
}

// drawnOrder returns the text of a glyph with its letters as they are drawn, from left to right. A file states them as
// they are read: a ligature of lam and alef in this order.
func drawnOrder(text string) string {
	if r, n := utf8.DecodeRuneInString(text); n == len(text) || !isRightToLeft(r) {
		return text
	}
	letters := []rune(text)
	slices.Reverse(letters)
	return string(letters)
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
// which they are read: the words, and the letters in each. Presentation forms become plain letters, those of several
// letters in the order in which they are read; so does the text of a glyph. A bracket that closes what follows it is
// one of the other side, as these are drawn mirrored.
func reversed(words []word) []word {
	out := slices.Clone(words)
	slices.Reverse(out)
	for from, to := 0, 0; from < len(out); from = max(to, from+1) { // what is quoted of a script from left to right
		for i := from; i < len(out); i++ {
			right, all := directed(out[i : i+1])
			if right > 0 || i == from && all == 0 {
				break
			}
			if all > 0 {
				to = i + 1
			}
		}
		if to > from {
			slices.Reverse(out[from:to])
		}
	}
	for i := range out {
		if rightToLeft(out[i : i+1]) {
			letters := []rune(out[i].text)
			slices.Reverse(letters)
			out[i].text = mirrored(norm.NFKC.String(string(letters)))
		}
	}
	return out
}

// mirrored turns the brackets of a word around if they are drawn mirrored: one at its begin closes, or one at its end
// opens.
func mirrored(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if strings.ContainsRune(")]}»", first) || strings.ContainsRune("([{«", last) {
		return turn.Replace(text)
	}
	return text
}

// turn puts each bracket in the place of the one that it belongs to.
var turn = strings.NewReplacer("(", ")", ")", "(", "[", "]", "]", "[", "{", "}", "}", "{", "«", "»", "»", "«")
