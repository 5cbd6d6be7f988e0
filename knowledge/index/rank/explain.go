package rank

import (
	"slices"

	"github.com/readthru/readthru/knowledge/index/segment"
)

// Term is a part of a hit's score. The parts add up to it, but for rounding.
type Term struct {
	// Term is a term of the query, or several of a phrase or pair.
	Term string `json:"term"`

	// Field is where the term stands in the best passage: text, title or path. Or it is phrase, for words that are
	// quoted in the query; near, for neighbours in the query that stand near each other; passages, for what further
	// passages of the document add; vectors or reranker, for what a model adds.
	Field string  `json:"field"`
	Score float64 `json:"score"`
}

// Explain returns the parts of what a passage scores by words, which is score.
func (s *Scorer) Explain(passage uint32, score float64) (parts []Term) {
	seg := segment.Of(s.view.Segments, passage)
	if seg == nil {
		return nil
	}
	ord, ok := seg.Ordinal(passage)
	if !ok {
		return nil
	}
	n := slices.Index(s.view.Segments, seg)
	kind := seg.Lengths[ord].Kind
	parts = slices.Concat(s.explainTerms(n, ord), s.explainPhrases(n, ord), s.explainPairs(n, ord))
	return append(parts, Term{Term: kind.String(), Field: "kind", Score: score * (1 - 1/float64(kindFactor(kind)))})
}

// explainTerms tells what each term scores in each field.
func (s *Scorer) explainTerms(n int, ord uint32) (parts []Term) {
	length := s.view.Segments[n].Lengths[ord]
	for i := range s.terms {
		l := &s.terms[i].lists[n]
		if l.List == nil {
			continue
		}
		c := segment.NewCursor(l.List)
		if at, ok := c.Seek(ord); !ok || at != ord {
			continue
		}
		in, at := c.Posting()
		worth := l.worth(in, at, s.norms, length)
		text, title, path := in.TextCount(at), in.TitleCount(at), in.PathCount(at)
		all := s.norms.weighted(length, text, title, path)
		for f, weighted := range [...]float32{
			s.norms.weighted(length, text, 0, 0), s.norms.weighted(length, 0, title, 0), s.norms.weighted(length, 0, 0, path),
		} {
			parts = append(parts, Term{Term: s.terms[i].Stem, Field: fieldNames[f], Score: float64(worth * weighted / all)})
		}
	}
	return parts
}

// explainPhrases tells what each phrase scores.
func (s *Scorer) explainPhrases(n int, ord uint32) (parts []Term) {
	for i := range s.phrases {
		p := &s.phrases[i]
		if p.lists[n] == nil {
			continue
		}
		if title, text := segment.OccurrencesIn(ord, segment.CursorsOf(p.lists[n]), p.offsets); title+text > 0 {
			parts = append(parts, Term{
				Term: p.text, Field: "phrase",
				Score: float64(s.phraseWorth(p, s.view.Segments[n].Lengths[ord], title, text)),
			})
		}
	}
	return parts
}

// explainPairs tells what is gained by neighbours of the query that stand near each other.
func (s *Scorer) explainPairs(n int, ord uint32) (parts []Term) {
	places := segment.PlacesIn(s.cursors(n), ord)
	for _, p := range s.pairs() {
		worth := s.pairWorth(p, places, s.view.Segments[n].Lengths[ord])
		parts = append(parts, Term{Term: s.terms[p.a].Stem + " " + s.terms[p.b].Stem, Field: "near", Score: float64(worth)})
	}
	return parts
}
