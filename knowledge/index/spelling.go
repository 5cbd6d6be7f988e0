package index

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/knowledge/analysis"
)

// A word of a query that no passage has, or hardly any, is looked for as it may have been meant: as two words that
// stand together (cherrypick), or as a word of the index that it differs from by a letter or two.
const (
	maxCorrected    = 4    // words of a query that are corrected
	maxSpellBlocks  = 240  // blocks of terms that are read for them
	maxLookedFor    = 6    // words of a query that other words are looked for in place of
	enoughWords     = 4    // a query with more words that the index knows is not corrected: they find enough
	minSpelt        = 4    // letters of a word that is corrected
	minMistake      = 5    // letters of one whose mistake is another than two letters in each other's place
	minTwoMistakes  = 8    // letters of a word that may have two mistakes
	minPart         = 3    // letters of each of two words written as one
	maxPairPassages = 5000 // a more frequent word is not tried as one of two
	seldom          = 2    // passages that have a word which may be a mistake all the same
	seldomJoined    = 8    // passages that have a word which may be two all the same
	farMoreApart    = 5    // times as many passages have the two beside each other
	farMore         = 100  // times as many passages have the word that was meant
	spellWeight     = .8   // of a corrected word
)

// Correction is a word of a query that was looked for in another form, since hardly any passage has it.
type Correction struct {
	From string `json:"from"`
	To   string `json:"to"` // one word, or two
}

// String says it to people.
func (c Correction) String() string {
	return fmt.Sprintf("searched for %q: hardly any page has %q", c.To, c.From)
}

// speller corrects the words of one query.
type speller struct {
	x      *Index
	blocks int      // still to be read
	others int      // words of the query beside the one that is corrected
	known  []string // stems of those that the index knows
}

// correct puts other words in the place of words that df passages have, none or hardly any, and reports whether it did.
// Df is by term of the query. The caller holds mu.
func (x *Index) correct(q *ParsedQuery, df []int) bool {
	s, lookedFor := speller{x: x, blocks: maxSpellBlocks}, 0
	df = s.knownIn(q, df)
	if !fewKnown(q, df) {
		return false
	}
	for i := range q.terms {
		if t := &q.terms[i]; !empty(t.form) && !t.prefix {
			s.others++
			if df[i] > seldom {
				s.known = append(s.known, t.stem)
			}
		}
	}
	s.others--
	terms := make([]queryTerm, 0, len(q.terms)+maxCorrected)
	for i := range q.terms {
		t := &q.terms[i]
		var meant []string
		if t.mayBeMeant(df[i]) && len(q.corrections) < maxCorrected && lookedFor < maxLookedFor {
			lookedFor++
			meant = s.meant(t.form, df[i])
		}
		if meant == nil || df[i] > 0 {
			terms = append(terms, *t)
		}
		if meant == nil {
			continue
		}
		q.corrections = append(q.corrections, Correction{t.form, strings.Join(meant, " ")})
		for _, form := range meant {
			other := *t
			other.form, other.stem, other.weight = form, analysis.Stem(form), t.weight*spellWeight
			s.known = append(s.known, other.stem)
			terms = append(terms, other)
		}
	}
	q.terms = terms
	return len(q.corrections) > 0
}

// fewKnown reports whether there are words of a query that the index does not know, and few that it does, so that other
// forms of them may find more.
func fewKnown(q *ParsedQuery, df []int) bool {
	known, unknown := 0, 0
	for i := range q.terms {
		t := &q.terms[i]
		switch {
		case empty(t.form):
		case df[i] > seldom || t.prefix:
			known++
			if t.mayBeMeant(df[i]) {
				unknown++
			}
		case t.spellable():
			unknown++
		}
	}
	return unknown > 0 && known <= enoughWords
}

// spellable reports whether a word may be a misspelt one: letters alone, and not too few.
func (t *queryTerm) spellable() bool {
	return !t.prefix && !t.inflected && t.language == 0 && utf8.RuneCountInString(t.form) >= minSpelt && !empty(t.form) &&
		strings.IndexFunc(t.form, func(r rune) bool { return !unicode.IsLetter(r) || r > 0x24f }) < 0
}

// mayBeMeant reports whether other words are looked for in place of a word that df passages have.
func (t *queryTerm) mayBeMeant(df int) bool {
	return t.spellable() && (df <= seldom || df <= seldomJoined && utf8.RuneCountInString(t.form) >= 2*minPart)
}

// passages returns how many passages have a term.
func (s *speller) passages(stem string) (df int) {
	for _, seg := range s.x.segments {
		if l, err := find(seg.refs, s.x.blocksOf(seg, true), stem); err == nil && l != nil {
			df += l.postings
		}
	}
	return df
}

// split returns the two words that a word is made of if they stand together in least passages.
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
		if empty(parts[0]) || empty(parts[1]) {
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

// together returns in how many passages words follow one another.
func (s *speller) together(words []string) (n int) {
	for _, seg := range s.x.segments {
		var lists []*list
		for _, w := range words {
			if l, err := find(seg.refs, s.x.blocksOf(seg, true), analysis.Stem(w)); err == nil && l != nil {
				lists = append(lists, l)
			}
		}
		if len(lists) < len(words) {
			continue
		}
		if err := occurrences(lists, []int{0, 1}, func(uint32, int, int) { n++ }); err != nil {
			s.x.unreadable(seg, err)
		}
	}
	return n
}

// meant returns what may be meant by a word that df passages have, or nil.
func (s *speller) meant(word string, df int) []string {
	if words := s.split(word, max(1, df*farMoreApart)); words != nil {
		return words
	}
	if df > seldom {
		return nil
	}
	other := s.nearest(word, df)
	if other == "" || utf8.RuneCountInString(word) < minTwoMistakes && !anagrams(word, other) && !s.suits(other) {
		return nil
	}
	return []string{other}
}

// suits reports whether a passage has a word beside one of the query that the index knows, or the query has no others:
// a short word has neighbours by chance, and who asks for an "ingress" means nothing else.
func (s *speller) suits(word string) bool {
	if s.others == 0 {
		return true
	}
	together := false
	for _, seg := range s.x.segments {
		blocks := s.x.blocksOf(seg, true)
		l, err := find(seg.refs, blocks, analysis.Stem(word))
		if err != nil || l == nil {
			continue
		}
		for _, stem := range s.known {
			known, err := find(seg.refs, blocks, stem)
			if err == nil && known != nil {
				err = common(cursorsOf([]*list{l, known}), func(uint32) bool {
					together = true
					return false
				})
			}
			if err != nil {
				s.x.unreadable(seg, err)
			}
			if together {
				return true
			}
		}
	}
	return false
}

// nearest returns the word of the index that a word was meant to be, or "". It has the first two letters of the word,
// or all of its letters but for one that is too many or two that changed places. Of words with as few mistakes one that
// goes on where the word ends comes first, since nothing in it is wrong, then the most frequent one.
func (s *speller) nearest(word string, df int) string {
	least := 1
	mistakes := 1
	if df > 0 {
		least = df * farMore
	} else if utf8.RuneCountInString(word) >= minTwoMistakes {
		mistakes = 2
	}
	letters := []rune(word)
	found := map[string]int{} // passages by form
	for _, seg := range s.x.segments {
		blocks := s.x.blocksOf(seg, true)
		for _, form := range swapped(letters) {
			if l, err := find(seg.refs, blocks, analysis.Stem(form)); err == nil && l != nil && l.has(form) {
				found[form] += l.postings
			}
		}
		s.walk(seg, string(letters[:2]), func(form string, postings int) {
			if form != word && distance(letters, []rune(form), mistakes) <= mistakes {
				found[form] += postings
			}
		})
	}
	best := spelling{mistakes: mistakes + 1}
	for form, n := range found {
		c := spelling{form, distance(letters, []rune(form), mistakes), strings.HasPrefix(form, word), n}
		if n < least || c.mistakes > mistakes || empty(form) || len(letters) < minMistake && !anagrams(word, form) {
			continue
		}
		if c.before(best) {
			best = c
		}
	}
	return best.form
}

// spelling is a word that may have been meant.
type spelling struct {
	form     string
	mistakes int  // of the word of the query
	goesOn   bool // the word of the query is its beginning
	passages int
}

// before reports whether s is rather meant than o.
func (s spelling) before(o spelling) bool {
	switch {
	case s.mistakes != o.mistakes:
		return s.mistakes < o.mistakes
	case s.goesOn != o.goesOn:
		return s.goesOn
	case s.passages != o.passages:
		return s.passages > o.passages
	}
	return s.form < o.form
}

// empty reports whether a word says nothing, or little.
func empty(word string) bool { return analysis.StopWords[word] || analysis.FunctionWords[word] }

// anagrams reports whether words have the same letters.
func anagrams(a, b string) bool {
	letters := [2][]byte{[]byte(a), []byte(b)}
	slices.Sort(letters[0])
	slices.Sort(letters[1])
	return bytes.Equal(letters[0], letters[1])
}

// has reports whether a word is one of the list.
func (l *list) has(form string) bool { return l.others || slices.Contains(l.forms, form) }

// swapped returns what a word becomes without one of its letters, or with two neighbours in each other's place.
func swapped(word []rune) (forms []string) {
	for i := range word {
		forms = append(forms, string(slices.Delete(slices.Clone(word), i, i+1)))
		if i > 0 && word[i] != word[i-1] {
			other := slices.Clone(word)
			other[i-1], other[i] = word[i], word[i-1]
			forms = append(forms, string(other))
		}
	}
	return forms
}

// walk calls f for the words of a segment whose terms begin with prefix, with how many passages have the term.
func (s *speller) walk(seg *segment, prefix string, f func(form string, postings int)) {
	blocks := s.x.blocksOf(seg, true)
	for n := blockOf(seg.refs, prefix); n < len(seg.refs) && s.blocks > 0; n++ {
		if first := seg.refs[n].first; first > prefix && !strings.HasPrefix(first, prefix) {
			return
		}
		s.blocks--
		b, err := blocks(n)
		if err != nil {
			s.x.unreadable(seg, err)
			return
		}
		r := blockReader{rest: b}
		for {
			ok, err := r.next()
			if err != nil {
				s.x.unreadable(seg, err)
				return
			}
			if !ok {
				break
			}
			if !strings.HasPrefix(string(r.term), prefix) || r.flags&flagGoesOn != 0 {
				continue
			}
			e, err := r.entry()
			if err != nil {
				s.x.unreadable(seg, err)
				return
			}
			for _, form := range e.forms {
				f(form, e.postings)
			}
		}
	}
}

// distance returns how many letters of a word must be put in, left out, changed, or changed with their neighbour to
// make it another, or more than most.
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
