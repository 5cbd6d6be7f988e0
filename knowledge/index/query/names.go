package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/outline"
)

// namesIn returns what a query asks for by name: identifiers with their qualifiers, calls and options, beside few other
// words; in a query of one or two words also what may be a class. A query that has more than maxBeside other words asks
// for what they say. Only reports whether there are no other words at all.
func namesIn(text string) (names []string, only bool) {
	words := strings.Fields(clip.Bytes(text, maxQueryText))
	beside := 0
	for _, word := range words {
		name, _, called := strings.Cut(strings.Trim(word, "\"'`,;:?!"), "(")
		name = outline.Qualified(strings.TrimRight(name, ".*"))
		switch {
		case len(name) > 1 && (called || len(words) == 1 || isCode(name, len(words) <= maxWithClass)):
			names = append(names, name)
		case !SaysLittle(strings.ToLower(word)):
			beside++
		}
	}
	if beside > maxBeside || len(names) > maxNames {
		return nil, false
	}
	return names, beside == 0
}

// SiteNames returns what a query may call a site: its words, and other names of the same things. A query of a single
// word names none: it is asked for the word.
func (q *Parsed) SiteNames() (names []string) {
	words := 0
	for i := range q.Terms {
		t := &q.Terms[i]
		if t.Part || t.Prefix || t.Language != 0 || SaysLittle(t.Form) {
			continue
		}
		words++
		names = append(names, t.Form)
		if same := analysis.SameName[t.Form]; same != "" {
			names = append(names, same)
		}
	}
	if words < 2 {
		return nil
	}
	return names
}

const (
	maxNames     = 4
	maxBeside    = 4
	maxWithClass = 2
)

// isCode reports whether a word is written as an identifier or an option is, and as no word of a sentence. A word that
// begins with a capital and has others is one with class; else it may be the name of a product.
func isCode(word string, class bool) bool {
	if word[0] == '-' {
		return true
	}
	first, _ := utf8.DecodeRuneInString(word)
	class = class || !unicode.IsUpper(first)
	before := ' '
	for _, r := range word {
		switch {
		case r == '_', before == '.' && unicode.IsLetter(r), class && unicode.IsUpper(r) && unicode.IsLower(before):
			return true
		}
		before = r
	}
	return false
}
