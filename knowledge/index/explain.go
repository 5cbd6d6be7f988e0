package index

import (
	"slices"

	"github.com/readthru/readthru/knowledge/index/query"
)

// explain sets in the hits of a search how their scores came about, for a query that asks for that. Docs are the hits'
// documents. What their words are worth is computed again, because a search keeps only the sum.
func (x *Index) explain(q *query.Parsed, hits []Hit, docs []ranked) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.newScorer(q)
	for i := range hits {
		d := &docs[i]
		words := s.Explain(d.best.number, d.best.score-d.best.fused.vectors-d.best.site)
		hits[i].Explain = slices.DeleteFunc(append(words, d.explainOthers()...), func(t Term) bool { return t.Score == 0 })
	}
}

// explainOthers returns the parts of a document's score that words of its best passage do not make.
func (d *ranked) explainOthers() []Term {
	parts := []Term{{Term: "named", Field: "site", Score: d.best.site}}
	if f := d.best.fused; f.vectors > 0 {
		parts = append(parts, Term{Term: "meaning", Field: "vectors", Score: f.vectors})
	}
	return append(parts, Term{Term: "relevance", Field: "reranker", Score: d.reranked},
		Term{Term: "named", Field: "definition", Score: d.defines},
		Term{Term: "further", Field: "passages", Score: d.score - d.reranked - d.defines - d.best.score})
}
