package index

import (
	"slices"

	"github.com/readthru/readthru/knowledge/index/segment"
)

// explain sets in the hits how their scores came about. Docs are the hits' documents.
func (x *Index) explain(q *ParsedQuery, hits []Hit, docs []ranked) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.newScorer(q)
	for i := range hits {
		hits[i].Explain = s.explain(&docs[i])
	}
}

// explain returns the parts of a document's score: those of its best passage, and what its other passages add.
func (s *scorer) explain(d *ranked) (parts []Term) {
	if seg := segment.Of(s.view.Segments, d.best.number); seg != nil {
		if ord, ok := seg.Ordinal(d.best.number); ok {
			n := slices.Index(s.view.Segments, seg)
			kind := seg.Lengths[ord].Kind
			parts = slices.Concat(s.explainTerms(n, ord), s.explainPhrases(n, ord), s.explainPairs(n, ord))
			parts = append(parts, Term{
				Term: kind.String(), Field: "kind",
				Score: (d.best.score - d.best.fused.vectors - d.best.site) * (1 - 1/float64(kindFactor(kind))),
			})
		}
	}
	parts = append(parts, Term{Term: "named", Field: "site", Score: d.best.site})
	if f := d.best.fused; f.vectors > 0 {
		parts = append(parts, Term{Term: "meaning", Field: "vectors", Score: f.vectors})
	}
	parts = append(parts, Term{Term: "relevance", Field: "reranker", Score: d.reranked},
		Term{Term: "named", Field: "definition", Score: d.defines},
		Term{Term: "further", Field: "passages", Score: d.score - d.reranked - d.defines - d.best.score})
	return slices.DeleteFunc(parts, func(t Term) bool { return t.Score == 0 })
}

// explainTerms tells what each term scores in each field.
func (s *scorer) explainTerms(n int, ord uint32) (parts []Term) {
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
			parts = append(parts, Term{Term: s.terms[i].stem, Field: fieldNames[f], Score: float64(worth * weighted / all)})
		}
	}
	return parts
}

// explainPhrases tells what each phrase scores.
func (s *scorer) explainPhrases(n int, ord uint32) (parts []Term) {
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
func (s *scorer) explainPairs(n int, ord uint32) (parts []Term) {
	places := segment.PlacesIn(s.cursors(n), ord)
	for _, p := range s.pairs() {
		worth := s.pairWorth(p, places, s.view.Segments[n].Lengths[ord])
		parts = append(parts, Term{Term: s.terms[p.a].stem + " " + s.terms[p.b].stem, Field: "near", Score: float64(worth)})
	}
	return parts
}
