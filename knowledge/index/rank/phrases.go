package rank

import (
	"strings"

	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/index/segment"
)

// scoredPhrase is a phrase of the query with the postings of its words in each segment.
type scoredPhrase struct {
	text    string // its stems
	offsets []int
	idf     float64
	lists   [][]*segment.List // by segment; nil where a word is missing
}

// loadPhrase finds the postings of a phrase. It is as rare as its words are together.
func (s *Scorer) loadPhrase(p query.Phrase) scoredPhrase {
	loaded := scoredPhrase{
		text: strings.Join(p.Stems, " "), offsets: p.Offsets, lists: make([][]*segment.List, len(s.view.Segments)),
	}
	df := make([]int, len(p.Stems))
	for n, seg := range s.view.Segments {
		lists := make([]*segment.List, len(p.Stems))
		missing := false
		for i, stem := range p.Stems {
			l, err := s.view.Find(seg, stem)
			if err != nil {
				s.view.Unreadable(seg, err)
			}
			if l == nil || err != nil {
				missing = true
				continue
			}
			lists[i] = l
			df[i] += l.Postings
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
func (s *Scorer) scorePhrases(n int, onlyPhrases bool, allowed segment.Bitset) {
	seg := s.view.Segments[n]
	var with segment.Bitset
	if onlyPhrases {
		with = segment.NewBitset(seg.Len())
	}
	for i := range s.phrases {
		p := &s.phrases[i]
		if p.lists[n] == nil {
			continue
		}
		err := segment.Occurrences(p.lists[n], p.offsets, func(ord uint32, title, text int) {
			if allowed != nil && !allowed.Has(ord) {
				return
			}
			s.sheet.scores[ord] += s.phraseWorth(p, seg.Lengths[ord], title, text)
			s.sheet.touched[ord>>regionBits] = true
			if with != nil {
				with.Add(ord)
			}
		})
		if err != nil {
			s.view.Unreadable(seg, err)
		}
	}
	if with != nil {
		for from, scores := range s.sheet.regions() {
			for i := range scores {
				if !with.Has(from + uint32(i)) {
					scores[i] = 0
				}
			}
		}
	}
}

// phraseWorth returns the worth of a phrase that occurs so often in the title and in the text.
func (s *Scorer) phraseWorth(p *scoredPhrase, l segment.Lengths, title, text int) float32 {
	return float32(p.idf) * float32(k1+1) * saturated(s.norms.weighted(l, text, title, 0))
}
