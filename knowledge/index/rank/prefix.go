package rank

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/index/segment"
)

const (
	maxExpansion = 64   // terms that a prefix stands for: the most frequent
	maxWalk      = 1024 // of this many in each segment
)

// expand adds the terms that a prefix stands for, the most frequent ones. They count as one word: each has the rarity
// of all together.
func (s *Scorer) expand(t *query.Term) {
	byStem := map[string]*scoredTerm{}
	df := 0
	add := func(n int, l *segment.List) {
		only := l.FormBits(t.Form)
		if only == 0 {
			return
		}
		st := byStem[l.Term]
		if st == nil {
			st = &scoredTerm{Term: *t, lists: make([]termList, len(s.view.Segments))}
			st.Stem = l.Term
			byStem[l.Term] = st
		}
		st.df += l.Postings
		st.lists[n] = termList{List: l, only: only, most: 1}
		df += l.Postings
	}
	for n, seg := range s.view.Segments {
		// An ending changes a stem's last letter: the stem may be shorter than the prefix, or differ from it at its end.
		for _, stem := range shorterStems(t.Form) {
			if l, err := s.view.Find(seg, stem); err == nil && l != nil {
				add(n, l)
			}
		}
		next := s.view.Walk(seg, t.Form)
		for range maxWalk {
			l, err := next()
			if err != nil {
				s.view.Unreadable(seg, err)
			}
			if l == nil || err != nil || !strings.HasPrefix(l.Term, t.Form) {
				break
			}
			add(n, l)
		}
	}
	expanded := slices.SortedFunc(maps.Values(byStem), func(a, b *scoredTerm) int {
		return cmp.Or(cmp.Compare(b.df, a.df), strings.Compare(a.Stem, b.Stem))
	})
	for _, st := range expanded[:min(len(expanded), maxExpansion)] {
		st.idf = rarity(s.total, df) * t.Weight
		s.terms = append(s.terms, *st)
	}
}

// shorterStems returns the stems that words beginning with prefix may have, but for those that begin with it, too.
func shorterStems(prefix string) []string {
	stems := []string{}
	if stem := analysis.Stem(prefix); !strings.HasPrefix(stem, prefix) {
		stems = append(stems, stem)
	}
	for n := len(prefix) - 1; n >= max(3, len(prefix)-4); n-- {
		if s := clip.Bytes(prefix, n); !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	return stems
}
