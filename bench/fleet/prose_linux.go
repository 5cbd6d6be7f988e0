package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// prose returns a page of about 4 KB, another one for each number. Its words are as frequent as those of a language:
// few are in every sentence, and most are rare.
func prose(number int) string {
	random := rand.New(rand.NewPCG(uint64(number), 0)) //nolint:gosec // the same pages each time
	var text strings.Builder
	fmt.Fprintf(&text, "# Page %d\n", number)
	for text.Len() < 4096 {
		if random.IntN(8) == 0 {
			fmt.Fprintf(&text, "\n## Part %d\n", text.Len())
		}
		text.WriteString("\n")
		for range 8 + random.IntN(60) {
			text.WriteString(word(int(math.Pow(20_000, random.Float64()))) + " ")
		}
		text.WriteString("\n")
	}
	return text.String()
}

// word returns the word of a rank.
func word(rank int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var text strings.Builder
	for n := rank; ; n /= len(consonants) * len(vowels) {
		syllable := n % (len(consonants) * len(vowels))
		text.WriteByte(consonants[syllable/len(vowels)])
		text.WriteByte(vowels[syllable%len(vowels)])
		if n < len(consonants)*len(vowels) {
			return text.String()
		}
	}
}
