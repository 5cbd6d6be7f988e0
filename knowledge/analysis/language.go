package analysis

import (
	"slices"
	"strings"
	"unicode"
)

// A Language is one whose words have other endings than English ones, although they are written in the same letters.
type Language uint8

// The languages that are told by their function words. The zero Language is another one, or none that could be told.
const (
	English Language = iota + 1
	German
	French
	Spanish
	Portuguese
	Italian
	languages
)

// Others are the languages whose words have stems of their own.
var Others = [...]Language{German, French, Spanish, Portuguese, Italian}

// commonWords are the commonest words of the languages, which say little. Some belong to several.
var commonWords = [languages]string{
	English: "the of and to in is a for with that this are be by on or from as it can not an at if when which you do " +
		"no me",
	German: "der die das und ist nicht ein eine einen einem einer mit für auf den dem des von zu zum zur wird werden " +
		"sich auch oder bei wie wenn sind im nach aus kann ich es diese dieser dieses keine",
	French: "le la les des et est une un dans pour que qui sur pas avec par aux au du de ce cette ces sont ou vous " +
		"votre plus en il elle ne se comment être",
	Spanish: "el la los las una un para con por de del que es y se como más no su al este esta si o en lo son " +
		"puede cómo",
	Portuguese: "o os a as um uma para com por de do da dos das que é e em não na no nas se como mais ao ou seu sua " +
		"são pode",
	Italian: "il lo la gli le un una che per con non di del della dei delle è e si come più in nel nella al alla ai " +
		"da sono questo questa può",
}

// ofCommonWord has the languages of each of these words, by bits.
var ofCommonWord = func() map[string]uint8 {
	words := map[string]uint8{}
	for l, list := range commonWords {
		for w := range strings.FieldsSeq(list) {
			words[w] |= 1 << l
		}
	}
	return words
}()

// A Census counts the words of a text by language.
type Census struct {
	words [languages]int
	all   int
}

// Languages returns the languages that have a word among their function words, for Count.
func Languages(surface string) uint8 { return ofCommonWord[surface] }

// Count counts a word of a text. Languages are those of which it is a function word, one bit each, as the function
// Languages returns them.
func (c *Census) Count(languages uint8) {
	c.all++
	if languages == 0 {
		return
	}
	for l := range c.words {
		if languages&(1<<l) != 0 {
			c.words[l]++
		}
	}
}

// Language returns the language that has most of the words: at least so many of its function words, and a tenth of all
// words. It is none if two have as many.
func (c *Census) Language(least int) Language {
	best, second := Language(0), 0
	for l := English; l < languages; l++ {
		switch n := c.words[l]; {
		case best == 0 || n > c.words[best]:
			if best != 0 {
				second = c.words[best]
			}
			best = l
		case n > second:
			second = n
		}
	}
	if n := c.words[best]; n < least || n == second || 10*n < c.all {
		return 0
	}
	return best
}

// LanguageOf returns the language of a query, which has two of its function words at least, or one beside a letter that
// English does not have: "MIT" is a licence, too.
func LanguageOf(text string) Language {
	var c Census
	least := 2
	Tokenise(text, func(t Token) {
		if t.Part {
			return
		}
		surface := string(t.Surface)
		c.Count(Languages(surface))
		if strings.IndexFunc(surface, func(r rune) bool { return r >= 0xdf && r <= 0x24f }) >= 0 {
			least = 1
		}
	})
	return c.Language(least)
}

// Has reports whether a word is a function word of the language.
func (l Language) Has(surface string) bool { return Languages(surface)&(1<<l) != 0 }

// Stem returns the term that a surface form has in the language, beside the one of Stem; empty for a word that has
// none: a short one, one that is not of Latin letters alone, and a function word. It is told from all other terms by
// what it begins with.
func (l Language) Stem(surface string) string {
	if l <= English || l >= languages || len(surface) < minInflected || l.Has(surface) ||
		strings.IndexFunc(surface, func(r rune) bool { return !unicode.IsLetter(r) || r > 0x24f }) >= 0 {
		return ""
	}
	word := withoutAccents(strings.ReplaceAll(surface, "ß", "ss"))
	switch l {
	case German:
		word = lightGerman(word)
	case French:
		word = minimalFrench(word)
	case Spanish:
		word = lightSpanish(word)
	case Portuguese:
		word = lightPortuguese(word)
	default:
		word = lightItalian(word)
	}
	return ":" + string(rune('0'+l)) + word
}

// minInflected is how many bytes a word has at least that gets a stem of its language.
const minInflected = 4

// The stemmers are after the light and minimal ones of Savoy (UniNE). They get words without accents.

// lightGerman removes the endings that words have in the language German: of plurals and cases, and of comparisons.
func lightGerman(w string) string {
	switch {
	case len(w) > 6 && hasEnding(w, "nen", "ern"):
		w = w[:len(w)-3]
	case len(w) > 4 && hasEnding(w, "em", "en", "er", "es"):
		w = w[:len(w)-2]
	case len(w) > 3 && hasEnding(w, "e", "n", "s"):
		w = w[:len(w)-1]
	}
	switch {
	case len(w) > 6 && hasEnding(w, "est"):
		return w[:len(w)-3]
	case len(w) > 6 && hasEnding(w, "er", "en"):
		return w[:len(w)-2]
	}
	return w
}

// minimalFrench removes the endings that words have in the language French: of plurals, genders and infinitives.
func minimalFrench(w string) string {
	if len(w) < 5 {
		return w
	}
	if stem, ok := strings.CutSuffix(w, "aux"); ok {
		return stem + "al"
	}
	w = strings.TrimSuffix(w, "x")
	for _, ending := range [...]string{"s", "r", "e", "e"} {
		w = strings.TrimSuffix(w, ending)
	}
	if n := len(w); n > 2 && w[n-1] == w[n-2] {
		w = w[:n-1]
	}
	return w
}

// lightSpanish removes the endings that words have in the language Spanish: of plurals and genders.
func lightSpanish(w string) string {
	if len(w) < 5 {
		return w
	}
	switch {
	case hasEnding(w, "eses"):
		return w[:len(w)-2]
	case hasEnding(w, "ces"):
		return w[:len(w)-3] + "z"
	case hasEnding(w, "os", "as", "es"):
		return w[:len(w)-2]
	case hasEnding(w, "o", "a", "e", "s"):
		return w[:len(w)-1]
	}
	return w
}

// lightPortuguese removes the endings that words have in the language Portuguese: of plurals and genders.
func lightPortuguese(w string) string {
	if len(w) < 4 {
		return w
	}
	for _, plural := range [...][2]string{
		{"oes", "ao"},
		{"aes", "ao"},
		{"ais", "al"},
		{"eis", "el"},
		{"ois", "ol"},
		{"is", "il"},
		{"ns", "m"},
		{"res", "r"},
		{"ses", "s"},
		{"les", "l"},
		{"zes", "z"},
		{"s", ""},
	} {
		if stem, ok := strings.CutSuffix(w, plural[0]); ok {
			w = stem + plural[1]
			break
		}
	}
	if len(w) > 4 && hasEnding(w, "a", "e", "o") && !strings.HasSuffix(w, "ao") {
		w = w[:len(w)-1]
	}
	return w
}

// lightItalian removes the endings that words have in the language Italian: of plurals and genders.
func lightItalian(w string) string {
	if len(w) < 5 {
		return w
	}
	switch {
	case hasEnding(w, "ie", "he", "hi", "ii", "ia", "io"):
		return w[:len(w)-2]
	case hasEnding(w, "e", "i", "a", "o"):
		return w[:len(w)-1]
	}
	return w
}

// hasEnding reports whether a word has one of some endings of a language.
func hasEnding(w string, endings ...string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(w, e) })
}
