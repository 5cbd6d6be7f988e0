package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/segment"
)

// A word of a query that no passage has, or hardly any, is looked for as it may have been meant: as two words that
// stand together (cherrypick), or as a word of the index that it differs from by a letter or two. Words in quotation
// marks are looked for as they are.
const (
	maxCorrected   = 4   // words of a query that are corrected
	maxSpellBlocks = 240 // blocks of terms that are read for them
	maxLookedFor   = 6   // words of a query that other words are looked for in place of
	enoughWords    = 4   // a query with more words that the index knows is not corrected: they find enough
	minSpelt       = 4   // letters of a word that is corrected
	minMistake     = 5   // letters of one whose mistake is another than two letters in each other's place
	minTwoMistakes = 8   // letters of a word that may have two mistakes
	seldom         = 2   // passages that have a word which may be a mistake all the same
	seldomMistake  = 8   // passages that have a word which may be a likely mistake all the same
	farMore        = 100 // times as many passages have the word that was meant
	moreByMistake  = 20  // the same where the mistake is a likely one
	likelyMistake  = 7   // how unlikely such a mistake is at most
	spellWeight    = .9  // of a corrected word
)

// Correction is a word of a query that was looked for in another form, since hardly any page has it, or since far more
// pages write it so.
type Correction struct {
	From string `json:"from"`           // one word, or two
	To   string `json:"to"`             // one word, or two
	Also bool   `json:"also,omitempty"` // what the query has was looked for, too
}

// String says it to people.
func (c Correction) String() string {
	if c.Also {
		return fmt.Sprintf("also searched for %q: far more pages have that than %q", c.To, c.From)
	}
	return fmt.Sprintf("searched for %q: hardly any page has %q", c.To, c.From)
}

// speller corrects the words of one query.
type speller struct {
	view   *segment.View
	blocks int      // still to be read
	others int      // words of the query beside the one that is corrected
	known  []string // stems of those that the index knows
}

// Correct puts other words in the place of words that df passages have, none or hardly any, and joins words that pages
// write as one. It reports whether it did. Df is by term of the query.
func (q *Parsed) Correct(view *segment.View, df []int) bool {
	s := speller{view: view, blocks: maxSpellBlocks}
	joined := s.join(q)
	if df = s.knownIn(q, df); fewKnown(q, df) {
		q.Terms = s.respell(q, df)
	}
	q.Terms = append(q.Terms, joined...)
	return len(q.Corrections) > 0
}

// respell returns the terms of a query with other words in the place of those that hardly any passage has.
func (s *speller) respell(q *Parsed, df []int) []Term {
	for i := range q.Terms {
		if t := &q.Terms[i]; !SaysLittle(t.Form) && !t.Prefix {
			s.others++
			if df[i] > seldom {
				s.known = append(s.known, t.Stem)
			}
		}
	}
	s.others--
	terms := make([]Term, 0, len(q.Terms)+maxCorrected)
	lookedFor := 0
	for i := range q.Terms {
		t := &q.Terms[i]
		var meant []string
		if t.mayBeMeant(df[i]) && len(q.Corrections) < maxCorrected && lookedFor < maxLookedFor {
			lookedFor++
			meant = s.meant(t, df[i], q.language)
		}
		if meant == nil || df[i] > 0 {
			terms = append(terms, *t)
		}
		if meant == nil {
			continue
		}
		q.Corrections = append(q.Corrections, Correction{t.Form, strings.Join(meant, " "), df[i] > 0})
		for _, form := range meant {
			other := *t
			other.Form, other.Stem, other.Weight = form, analysis.Stem(form), t.Weight*spellWeight
			s.known = append(s.known, other.Stem)
			terms = append(terms, other)
		}
	}
	return terms
}

// spellable reports whether a word may be a misspelt one: letters alone, and not too few.
func (t *Term) spellable() bool {
	return !t.Prefix && !t.insisted && !t.half && t.Language == 0 && !SaysLittle(t.Form) &&
		utf8.RuneCountInString(t.Form) >= minSpelt && onlyLetters(t.Form)
}
