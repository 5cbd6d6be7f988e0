package index

import (
	"slices"
	"strings"
)

// occurrences calls f for each passage in which the terms stand at these offsets from each other, with how often they
// do so in the title and in the text.
func occurrences(lists []*list, offsets []int, f func(ord uint32, title, text int)) error {
	cursors := cursorsOf(lists)
	return common(cursors, func(ord uint32) bool {
		if title, text := occurrencesIn(ord, cursors, offsets); title+text > 0 {
			f(ord, title, text)
		}
		return true
	})
}

// common calls f for the passages that all cursors have, until f returns false.
func common(cursors []*cursor, f func(ord uint32) bool) error {
	for ord := uint32(0); ; ord++ {
		for i := 0; i < len(cursors); {
			at, ok := cursors[i].seek(ord)
			if !ok {
				return cursors[i].err
			}
			if at > ord {
				ord, i = at, 0
				continue
			}
			i++
		}
		if !f(ord) {
			return nil
		}
	}
}

// occurrencesIn returns how often the terms stand at the offsets from each other in the title and the text of a
// passage.
func occurrencesIn(ord uint32, cursors []*cursor, offsets []int) (title, text int) {
	var at termPlaces
	for i, places := range placesIn(cursors, ord) {
		if i == 0 {
			at = places
			continue
		}
		at.title = following(at.title, places.title, offsets[i])
		at.text = following(at.text, places.text, offsets[i])
	}
	return len(at.title), len(at.text)
}

// following keeps the positions after which, offset further, one of next stands. Both are ascending.
func following(at, next []uint32, offset int) []uint32 {
	return slices.DeleteFunc(at, func(p uint32) bool {
		_, ok := slices.BinarySearch(next, p+uint32(offset))
		return !ok
	})
}

// scoredPhrase is a phrase of the query with the postings of its words in each segment.
type scoredPhrase struct {
	text    string // its stems
	offsets []int
	idf     float64
	lists   [][]*list // by segment; nil where a word is missing
}

// loadPhrase finds the postings of a phrase. It is as rare as its words are together.
func (s *scorer) loadPhrase(p phrase) scoredPhrase {
	loaded := scoredPhrase{text: strings.Join(p.stems, " "), offsets: p.offsets, lists: make([][]*list, len(s.x.segments))}
	df := make([]int, len(p.stems))
	for n, seg := range s.x.segments {
		lists := make([]*list, len(p.stems))
		missing := false
		for i, stem := range p.stems {
			l, err := find(seg.refs, s.x.blocksOf(seg, true), stem)
			if err != nil {
				s.x.unreadable(seg, err)
			}
			if l == nil || err != nil {
				missing = true
				continue
			}
			lists[i] = l
			df[i] += l.postings
		}
		if !missing {
			loaded.lists[n] = lists
		}
	}
	for _, n := range df {
		loaded.idf += rarity(s.total, n)
	}
	return loaded
}

// scorePhrases adds the worth of the query's phrases to the scores of a segment's passages. If the query has only
// phrases, a passage without any is not a hit.
func (s *scorer) scorePhrases(n int, onlyPhrases bool, allowed bitset) {
	seg := s.x.segments[n]
	var with bitset
	if onlyPhrases {
		with = newBitset(seg.len())
	}
	for i := range s.phrases {
		p := &s.phrases[i]
		if p.lists[n] == nil {
			continue
		}
		err := occurrences(p.lists[n], p.offsets, func(ord uint32, title, text int) {
			if allowed != nil && !allowed.has(ord) {
				return
			}
			s.sheet.scores[ord] += s.phraseWorth(p, seg.lengths[ord], title, text)
			s.sheet.touched[ord>>regionBits] = true
			if with != nil {
				with.add(ord)
			}
		})
		if err != nil {
			s.x.unreadable(seg, err)
		}
	}
	if with != nil {
		for from, scores := range s.sheet.regions() {
			for i := range scores {
				if !with.has(from + uint32(i)) {
					scores[i] = 0
				}
			}
		}
	}
}

// phraseWorth returns the worth of a phrase that occurs so often in the title and in the text.
func (s *scorer) phraseWorth(p *scoredPhrase, l lengths, title, text int) float32 {
	return float32(p.idf) * float32(k1+1) * saturated(s.norms.weighted(l, text, title, 0))
}
