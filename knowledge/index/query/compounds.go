package query

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/readthru/readthru/knowledge/analysis"
)

// Pages write some words as one that others write as two: worktree, work tree. What a query writes in one way is looked
// for in the other, too, if far more pages write it so.
const (
	minPart         = 3    // letters of each of two words written as one
	minCompound     = 6    // letters of two words that may be one
	maxPairPassages = 5000 // a more frequent word is not tried as one of two
	seldomJoined    = 50   // passages that have a word which may be two all the same
	farMoreApart    = 5    // times as many passages have the two beside each other
	farMoreJoined   = 5    // times as many passages have them as one word
	maxPairsTried   = 8    // of neighbours in a query
	halvesWeight    = .5   // of each of two words beside the one that they are
)

// twoWords are neighbours in a query.
type twoWords struct {
	a, b string
	pos  int // of a
}

// join returns the terms of neighbours in a query as one word, a compound, where far more passages have that.
func (s *speller) join(q *Parsed) (joined []Term) {
	for _, two := range q.neighbours {
		if len(q.Corrections) == maxCorrected {
			break
		}
		one := two.a + two.b
		if slices.ContainsFunc(q.Terms, func(t Term) bool { return t.Form == one }) || !s.rather(one, two, q.language) {
			continue
		}
		weight := 0.
		for i := range q.Terms {
			if t := &q.Terms[i]; t.Pos == two.pos && t.Form == two.a || t.Pos == two.pos+1 && t.Form == two.b {
				weight = max(weight, t.Weight)
				t.Weight *= halvesWeight
				t.half = true
			}
		}
		if weight == 0 {
			continue
		}
		q.Corrections = append(q.Corrections, Correction{two.a + " " + two.b, one, true})
		joined = append(joined, Term{Form: one, Stem: analysis.Stem(one), Weight: weight, Pos: two.pos})
	}
	return joined
}

// rather reports whether far more passages have two words as one, a compound, than beside each other.
func (s *speller) rather(one string, two twoWords, language analysis.Language) bool {
	t := Term{Form: one, Stem: analysis.Stem(one)}
	if s.ownPassages(&t, language, seldom) <= seldom ||
		min(s.passages(analysis.Stem(two.a)), s.passages(analysis.Stem(two.b))) > maxPairPassages {
		return false
	}
	least := max(seldom, farMoreJoined*s.together([]string{two.a, two.b}))
	return s.formPassages(one, least) > least
}

// mayBeOne reports whether two words may be parts of one, a compound.
func mayBeOne(a, b string) bool {
	return utf8.RuneCountInString(a)+utf8.RuneCountInString(b) >= minCompound && onlyLetters(a) && onlyLetters(b) &&
		(!SaysLittle(a) || !SaysLittle(b))
}

// split returns the two words that a word, a compound, is made of if they stand together in least passages.
func (s *speller) split(word string, least int) []string {
	type division struct {
		parts []string
		df    int
	}
	var tries []division
	for at := range word {
		parts := []string{word[:at], word[at:]}
		if min(utf8.RuneCountInString(parts[0]), utf8.RuneCountInString(parts[1])) < minPart {
			continue
		}
		if SaysLittle(parts[0]) || SaysLittle(parts[1]) {
			continue
		}
		df := s.passages(analysis.Stem(parts[0]))
		if df > 0 {
			df = min(df, s.passages(analysis.Stem(parts[1])))
		}
		if df > 0 && df <= maxPairPassages {
			tries = append(tries, division{parts, df})
		}
	}
	slices.SortStableFunc(tries, func(a, b division) int { return cmp.Compare(b.df, a.df) })
	for _, d := range tries[:min(len(tries), 2)] {
		if s.together(d.parts) >= least {
			return d.parts
		}
	}
	return nil
}
