package query

import (
	"slices"
	"unicode/utf8"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/segment"
)

// knownIn returns in how many passages the words of a query are known, by term: df, less the passages that have another
// word with the same stem, in another language. "Recusive" has the stem of the French "reçus", and is misspelt all the
// same. Passages count, too, that have the word as the query's language has it. A number above seldomJoined may be too
// low.
func (s *speller) knownIn(q *Parsed, df []int) []int {
	known := slices.Clone(df)
	for i := range q.Terms {
		t := &q.Terms[i]
		if df[i] > seldom && t.spellable() {
			known[i] = s.ownPassages(t, q.language, seldomJoined)
		}
		for j := range q.Terms {
			if o := &q.Terms[j]; t.inflected && o.Language != 0 && o.Pos == t.Pos {
				t.abroad += df[j]
			}
		}
		if q.language != 0 {
			known[i] += t.abroad
		}
	}
	return known
}

// ownPassages returns how many passages have a term in a form that may be of its word: the word itself, or any form in
// a passage of the query's language. It stops counting above most.
func (s *speller) ownPassages(t *Term, language analysis.Language, most int) (n int) {
	for _, seg := range s.view.Segments {
		l, err := s.view.Find(seg, t.Stem)
		if err != nil || l == nil {
			continue
		}
		postings := segment.NewCursor(l)
		exact, accented := l.FormBit(t.Form), accentedForms(l, t.Form)
		var foreign []*segment.Cursor // of the same words as other languages have them; made when they are needed
		for ord := uint32(0); n <= most; ord++ {
			at, ok := postings.Seek(ord)
			if !ok {
				break
			}
			ord = at
			forms := postings.Forms()
			if forms&exact == 0 {
				if forms&^accented == 0 {
					continue
				}
				if foreign == nil {
					foreign = s.foreignWords(seg, l, language)
				}
				if anyHas(foreign, ord) {
					continue
				}
			}
			n++
		}
		if postings.Err != nil {
			s.view.Unreadable(seg, postings.Err)
		}
	}
	return n
}

// formPassages returns how many passages have a word as it is written. It stops counting above most.
func (s *speller) formPassages(form string, most int) (n int) {
	for _, seg := range s.view.Segments {
		l, err := s.view.Find(seg, analysis.Stem(form))
		if err != nil || l == nil {
			continue
		}
		exact, postings := l.FormBit(form), segment.NewCursor(l)
		for ord := uint32(0); exact != 0 && n <= most; ord++ {
			at, ok := postings.Seek(ord)
			if !ok {
				break
			}
			ord = at
			if postings.Forms()&exact != 0 {
				n++
			}
		}
		if postings.Err != nil {
			s.view.Unreadable(seg, postings.Err)
		}
	}
	return n
}

// passages returns how many passages have a term: in so many its words are known.
func (s *speller) passages(stem string) (df int) {
	for _, seg := range s.view.Segments {
		if l, err := s.view.Find(seg, stem); err == nil && l != nil {
			df += l.Postings
		}
	}
	return df
}

// together returns in how many passages the second of two words follows the first, in the title or in the text.
func (s *speller) together(words []string) (n int) {
	for _, seg := range s.view.Segments {
		var lists []*segment.List
		for _, w := range words {
			if l, err := s.view.Find(seg, analysis.Stem(w)); err == nil && l != nil {
				lists = append(lists, l)
			}
		}
		if len(lists) < len(words) {
			continue
		}
		if err := segment.Occurrences(lists, []int{0, 1}, func(uint32, int, int) { n++ }); err != nil {
			s.view.Unreadable(seg, err)
		}
	}
	return n
}

// foreignWords returns the postings of a list's words in the languages that are not a query's.
func (s *speller) foreignWords(seg *segment.Segment, l *segment.List, language analysis.Language) []*segment.Cursor {
	words := []*segment.Cursor{}
	stems := map[string]bool{}
	for _, other := range analysis.Others {
		for _, form := range l.Forms {
			stem := other.Stem(form)
			if other == language || stem == "" || stems[stem] {
				continue
			}
			stems[stem] = true
			if word, err := s.view.Find(seg, stem); err == nil && word != nil {
				words = append(words, segment.NewCursor(word))
			}
		}
	}
	return words
}

// anyHas reports whether one of the cursors, which only go forward, is at a passage, so that a word is known there.
func anyHas(cursors []*segment.Cursor, ord uint32) bool {
	for _, c := range cursors {
		if at, ok := c.Seek(ord); ok && at == ord {
			return true
		}
	}
	return false
}

// accentedForms returns, of the forms by which a word is known, the bits of those that have accents where a word has
// none, and are more than the word with accents.
func accentedForms(l *segment.List, word string) (bits uint8) {
	if !isASCII(word) {
		return 0
	}
	for i, form := range l.Forms {
		if !isASCII(form) && !differsInAccents(form, word) {
			bits |= 1 << i
		}
	}
	return bits
}

// differsInAccents reports whether a form has the letters of a word in ASCII, but for accents.
func differsInAccents(form, word string) bool {
	if utf8.RuneCountInString(form) != len(word) {
		return false
	}
	i := 0
	for _, r := range form {
		if r < utf8.RuneSelf && byte(r) != word[i] {
			return false
		}
		i++
	}
	return true
}

// isASCII reports whether a word of a query has no letter beyond ASCII.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// fewKnown reports whether there are words of a query that the index does not know, and few that it does, so that other
// forms of them may find more.
func fewKnown(q *Parsed, df []int) bool {
	known, unknown := 0, 0
	for i := range q.Terms {
		t := &q.Terms[i]
		switch {
		case SaysLittle(t.Form):
		case df[i] > seldom || t.Prefix:
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
