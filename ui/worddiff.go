package ui

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A change is a piece of the difference between two versions of a page: it is in both, or in one alone.
type change struct {
	Kind string // "same", "del", "ins", or "gap": what is left out between two places
	Text string
}

// Limits of a difference that the dashboard shows. The comparison by words takes the square of maxDiffWords in time and
// memory.
const (
	maxDiffLines = 2000 // of a unified diff
	maxDiffWords = 600  // of a run of changed lines that is compared word by word, in each text
)

// wordDiff makes a difference by words of the unified diff by lines of two versions of a page. Lines that were removed
// and added next to each other are compared by their words. cut reports that it does not show all.
func wordDiff(unified string) (list []change, cut bool) {
	var older, newer strings.Builder
	flush := func() {
		if older.Len() > 0 || newer.Len() > 0 {
			list = append(list, words(older.String(), newer.String())...)
			older.Reset()
			newer.Reset()
		}
	}
	n := 0
	for line := range strings.Lines(unified) {
		if n++; n > maxDiffLines {
			flush()
			return list, true
		}
		// The first two lines name the versions. A backslash begins the remark that a text ends without a line break.
		switch {
		case n <= 2 && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")), strings.HasPrefix(line, `\`):
		case strings.HasPrefix(line, "@@"):
			flush()
			list = append(list, change{"gap", strings.TrimSpace(line)})
		case strings.HasPrefix(line, "-"):
			older.WriteString(line[1:])
		case strings.HasPrefix(line, "+"):
			newer.WriteString(line[1:])
		default:
			flush()
			list = append(list, change{"same", strings.TrimPrefix(line, " ")})
		}
	}
	flush()
	return list, false
}

// words compares two runs of lines of a difference word by word, by their longest common subsequence. Runs that are too
// long are shown one after the other.
func words(older, newer string) []change {
	a, b := fields(older), fields(newer)
	if len(a) > maxDiffWords || len(b) > maxDiffWords {
		return joined(joined(nil, "del", older), "ins", newer)
	}
	common := make([][]int16, len(a)+1) // of the rests from i and j
	for i := range common {
		common[i] = make([]int16, len(b)+1)
	}
	for i, word := range slices.Backward(a) {
		for j, other := range slices.Backward(b) {
			if word == other {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var list []change
	i, j := 0, 0
	// Of a removed and an added word at the same place the removed one comes first, as people expect it.
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			list = joined(list, "same", a[i])
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			list = joined(list, "del", a[i])
			i++
		default:
			list = joined(list, "ins", b[j])
			j++
		}
	}
	return list
}

// joined adds a text to a list of changes, to the last piece if that is of the same kind, so that there are few pieces.
func joined(list []change, kind, text string) []change {
	if text == "" {
		return list
	}
	if n := len(list); n > 0 && list[n-1].Kind == kind {
		list[n-1].Text += text
		return list
	}
	return append(list, change{kind, text})
}

// fields cuts a text into words and what stands between them, one character each. Together they are the text.
func fields(text string) (list []string) {
	for len(text) > 0 {
		first, n := utf8.DecodeRuneInString(text)
		for n < len(text) {
			r, size := utf8.DecodeRuneInString(text[n:])
			if !isWord(first) || !isWord(r) {
				break
			}
			n += size
		}
		list, text = append(list, text[:n]), text[n:]
	}
	return list
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
