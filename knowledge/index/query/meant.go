package query

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/segment"
)

const (
	mostLikely   = 6  // words that may be meant, of which the best is chosen by what stands beside them
	besideOthers = 5  // what a word gains that passages have beside the others of the query
	missingSpace = 10 // how unlikely it is that the space between two words is missing
)

// meant returns what may be meant by a word of the query that df passages have, or nil.
func (s *speller) meant(t *Term, df int, language analysis.Language) []string {
	two := s.split(t.Form, max(1, df*farMoreApart))
	if df > seldomMistake {
		return two
	}
	one := s.nearest(t, df, language)
	// A short word has neighbours by chance, and who asks for an "ingress" means nothing else.
	short := utf8.RuneCountInString(t.Form) < minTwoMistakes
	chance := short && !anagrams(t.Form, one.form) && one.beside == 0 && s.others > 0
	if one.form == "" || chance || two != nil && missingSpace-more(s.together(two)) <= one.unlikely {
		return two
	}
	return []string{one.form}
}

// spelling is a word that may have been meant.
type spelling struct {
	form     string
	passages int
	beside   float64 // the share of the query's other words that some passage has beside it
	unlikely float64 // how unlikely it is that it was meant
}

// more returns what a word that may be meant gains by being in so many passages.
func more(passages int) float64 { return math.Log2(float64(1 + passages)) }

// nearest returns the word of the index that a word was most likely meant to be. It has the first two letters of the
// word, or all of its letters but for one that is too many or two that changed places, or another letter at the
// beginning.
func (s *speller) nearest(t *Term, df int, language analysis.Language) spelling {
	letters := []rune(t.Form)
	mistakes := 1
	if df == 0 && len(letters) >= minTwoMistakes {
		mistakes = 2
	}
	var list []spelling
	for form, n := range s.like(letters, mistakes) {
		if SaysLittle(form) || !onlyLetters(form) || n < t.abroad*moreByMistake ||
			len(letters) < minMistake && !anagrams(t.Form, form) {
			continue
		}
		cost := unlikelihood(letters, []rune(form))
		if df > 0 && n < df*farMore && (n < df*moreByMistake || cost > likelyMistake) || df > seldom && cost > likelyMistake {
			continue
		}
		list = append(list, spelling{form: form, passages: n, unlikely: float64(cost) - more(n)})
	}
	slices.SortFunc(list, spelling.compare)
	list = list[:min(len(list), mostLikely)]
	foreign := func(c spelling) bool {
		other := Term{Form: c.form, Stem: analysis.Stem(c.form)}
		return s.ownPassages(&other, language, seldom) <= min(seldom, c.passages-1)
	}
	if own := slices.DeleteFunc(slices.Clone(list), foreign); len(own) > 0 {
		list = own
	}
	for i := range list {
		c := &list[i]
		c.beside = s.beside(c.form, t.Stem)
		c.unlikely -= besideOthers * c.beside
	}
	if len(list) == 0 {
		return spelling{}
	}
	return slices.MinFunc(list, spelling.compare)
}

// compare orders spellings that may be meant, the likeliest first.
func (s spelling) compare(o spelling) int {
	return cmp.Or(cmp.Compare(s.unlikely, o.unlikely), strings.Compare(s.form, o.form))
}

// like returns the words of the index that may be meant by a word: that differ from it by so many mistakes at most,
// with how many passages have their terms.
func (s *speller) like(word []rune, mistakes int) map[string]int {
	found := map[string]int{}
	for _, seg := range s.view.Segments {
		in := map[string]int{}
		for form := range variants(word) {
			if l, err := s.view.Find(seg, analysis.Stem(form)); err == nil && l != nil && l.Has(form) {
				in[form] = l.Postings
			}
		}
		err := s.view.WalkForms(seg, string(word[:2]), &s.blocks, func(form string, postings int) {
			if distance(word, []rune(form), mistakes) <= mistakes {
				in[form] = postings
			}
		})
		if err != nil {
			s.view.Unreadable(seg, err)
		}
		for form, n := range in {
			found[form] += n
		}
	}
	delete(found, string(word))
	return found
}

// variants yields what may be meant by a word: what it becomes without one of its letters, with two neighbours in each
// other's place, or with another letter at its beginning.
func variants(word []rune) map[string]bool {
	forms := map[string]bool{}
	for i := range word {
		forms[string(slices.Delete(slices.Clone(word), i, i+1))] = true
		if i > 0 && word[i] != word[i-1] {
			other := slices.Clone(word)
			other[i-1], other[i] = word[i], word[i-1]
			forms[string(other)] = true
		}
	}
	for letter := 'a'; letter <= 'z'; letter++ {
		for i := range 2 {
			forms[string(slices.Insert(slices.Clone(word), i, letter))] = true
			if nearKeys(letter, word[i]) || i > 0 && soundAlike(letter, word[i]) {
				other := slices.Clone(word)
				other[i] = letter
				forms[string(other)] = true
			}
		}
	}
	return forms
}

// beside returns the share of the words of the query that the index knows that some passage has beside a word that may
// be meant by one of them.
func (s *speller) beside(word, by string) float64 {
	others := slices.DeleteFunc(slices.Clone(s.known), func(stem string) bool { return stem == by })
	if len(others) == 0 {
		return 0
	}
	with := map[string]bool{}
	for _, seg := range s.view.Segments {
		l, err := s.view.Find(seg, analysis.Stem(word))
		if err != nil || l == nil {
			continue
		}
		for _, stem := range others {
			if with[stem] {
				continue
			}
			known, err := s.view.Find(seg, stem)
			if err == nil && known != nil {
				err = segment.Common(segment.CursorsOf([]*segment.List{l, known}), func(uint32) bool {
					with[stem] = true
					return false
				})
			}
			if err != nil {
				s.view.Unreadable(seg, err)
			}
		}
	}
	return float64(len(with)) / float64(len(others))
}

// anagrams reports whether a word and one that may be meant have the same letters.
func anagrams(a, b string) bool {
	letters := [2][]byte{[]byte(a), []byte(b)}
	slices.Sort(letters[0])
	slices.Sort(letters[1])
	return bytes.Equal(letters[0], letters[1])
}

// mayBeMeant reports whether other words are looked for in place of a word that df passages have.
func (t *Term) mayBeMeant(df int) bool {
	return t.spellable() && (df <= seldom || df <= seldomJoined && utf8.RuneCountInString(t.Form) >= 2*minPart)
}
