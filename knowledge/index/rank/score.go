package rank

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/index/segment"
)

// maxQueryTerms is how many words of a query rank: the rarest.
const maxQueryTerms = 64

// Scorer ranks passages for one query. It is used while the view holds.
type Scorer struct {
	view    *segment.View
	query   *query.Parsed
	from    int // postings of a list that make it worth looking whether they are needed: worthPruning, but in tests
	norms   *norms
	avg     segment.Averages
	total   int   // passages in all segments
	DF      []int // passages that have the terms of the query, one after the other; of a prefix not told
	terms   []scoredTerm
	phrases []scoredPhrase
	top     top
	sheet   *sheet // scores in the current segment
}

// scoredTerm is a term of the query with its postings in each segment.
type scoredTerm struct {
	query.Term
	idf   float64
	df    int
	lists []termList // by segment
}

// termList is the postings of a term in a segment.
type termList struct {
	*segment.List
	exact uint8   // bits of the query's own form
	only  uint8   // if not 0, only postings with one of these forms count
	most  float64 // the most that a posting is worth, see saturated

	plain, own float32 // what saturated is multiplied with: of other forms, and of the query's own
}

// New returns a scorer for a query over segments whose passages have these average lengths.
func New(view *segment.View, avg segment.Averages, from int, q *query.Parsed) *Scorer {
	s := &Scorer{view: view, query: q, from: from, avg: avg}
	s.norms = newNorms(s.avg)
	s.load()
	return s
}

// load finds the postings of the query's terms.
func (s *Scorer) load() {
	q := s.query
	for _, seg := range s.view.Segments {
		s.total += seg.Len()
	}
	s.DF = make([]int, len(q.Terms))
	for i := range q.Terms {
		t := &q.Terms[i]
		if t.Prefix {
			s.expand(t)
			continue
		}
		named := []scoredTerm{s.find(t)}
		if same := analysis.SameName[t.Form]; same != "" && t.Language == 0 {
			other := *t
			other.Form, other.Stem = same, analysis.Stem(same)
			named = append(named, s.find(&other))
		}
		df := 0
		for i := range named {
			df += named[i].df
		}
		s.DF[i] = df
		for _, st := range named {
			if st.df == 0 {
				continue
			}
			st.idf = rarity(s.total, df) * t.Weight // names of one thing are as rare as they are together
			if t.Part {
				st.idf *= partWeight
			}
			if analysis.FunctionWords[t.Form] {
				st.idf *= query.FunctionWeight
			}
			s.terms = append(s.terms, st)
		}
	}
	slices.SortStableFunc(s.terms, func(a, b scoredTerm) int {
		return cmp.Or(cmp.Compare(b.idf, a.idf), strings.Compare(a.Stem, b.Stem))
	})
	s.terms = s.terms[:min(len(s.terms), maxQueryTerms)]
	for i := range s.terms {
		t := &s.terms[i]
		for n := range t.lists {
			t.lists[n].plain = float32(t.idf * (k1 + 1))
			t.lists[n].own = float32(t.idf * (k1 + 1) * (1 + query.ExactForm))
		}
	}
	for _, p := range q.Phrases {
		s.phrases = append(s.phrases, s.loadPhrase(p))
	}
}

// find returns a term of the query with its postings.
func (s *Scorer) find(t *query.Term) scoredTerm {
	st := scoredTerm{Term: *t, lists: make([]termList, len(s.view.Segments))}
	for n, seg := range s.view.Segments {
		l, err := s.view.Find(seg, t.Stem)
		if err != nil {
			s.view.Unreadable(seg, err)
			continue
		}
		if l == nil {
			continue
		}
		st.df += l.Postings
		st.lists[n] = termList{List: l, exact: l.FormBit(t.Form), most: s.most(seg, l)}
	}
	return st
}

// Weigh tells the words of the query how rare they are: the rarest that passages have 1, others their share of that.
func (s *Scorer) Weigh(q *query.Parsed) {
	most := 0.0
	for _, df := range s.DF {
		if df > 0 {
			most = max(most, rarity(s.total, df))
		}
	}
	for i, df := range s.DF {
		if df > 0 {
			q.Terms[i].Rarity = rarity(s.total, df) / most
		}
	}
}

// Rank returns the best passages, at most n, best first. Only those that allowed has for their segment may be among
// them; nil allows all of a segment.
func (s *Scorer) Rank(ctx context.Context, n int, allowed []segment.Bitset) ([]candidate, error) {
	s.top.max = n
	for i := range s.view.Segments {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.score(i, allowed[i])
	}
	s.scoreNeighbours()
	s.scoreKinds()
	return s.top.ranked(), nil
}

// score ranks the passages of a segment. Only passages in allowed may be hits; nil allows all.
//
// It reads the rarest term first. Once the remaining terms cannot lift a passage that has no other term among the best,
// it looks up only the passages that can still get there and skips the chunks between them, so that it never reads most
// postings of a common word.
func (s *Scorer) score(n int, allowed segment.Bitset) {
	seg := s.view.Segments[n]
	left := s.mostLeft(n)
	if left[0] == 0 {
		return
	}
	s.sheet = sheets.Get().(*sheet)
	s.sheet.begin(seg.Len())
	defer func() {
		s.sheet.end()
		sheets.Put(s.sheet)
		s.sheet = nil
	}()
	var open []uint32 // passages that can still be among the best; nil means all
	var c segment.Chunk
	for i := range s.terms {
		l := &s.terms[i].lists[n]
		if l.List == nil {
			continue
		}
		if open == nil && l.Postings >= s.from && len(s.phrases) == 0 {
			if least := s.leastOfBest(); least > left[i] {
				open = s.above(least - left[i])
			}
		}
		var err error
		if open != nil {
			err = s.lookUp(open, seg, l)
		} else {
			err = l.Each(&c, func(c *segment.Chunk) error {
				s.addChunk(c, seg, l, allowed)
				return nil
			})
		}
		if err != nil {
			s.view.Unreadable(seg, err)
		}
	}
	if len(s.phrases) > 0 {
		s.scorePhrases(n, s.query.OnlyPhrases, allowed)
	}
	for from, scores := range s.sheet.regions() {
		for i, score := range scores {
			if score > 0 && (!s.top.full() || score >= s.top.least()) {
				s.top.offer(candidate{Seg: n, Ord: from + uint32(i), Score: score})
			}
		}
	}
}

// scoreKinds weighs the best passages by what kind they are of.
func (s *Scorer) scoreKinds() {
	for i := range s.top.list {
		c := &s.top.list[i]
		kind := s.view.Segments[c.Seg].Lengths[c.Ord].Kind
		c.Score *= kindFactor(kind)
		c.Lead = kind&segment.LeadPassage != 0
	}
}

// addChunk adds the worth of a term in the passages of a chunk to their scores. It is the innermost loop of a search.
func (s *Scorer) addChunk(c *segment.Chunk, seg *segment.Segment, l *termList, allowed segment.Bitset) {
	scores, touched, lens, norms := s.sheet.scores, s.sheet.touched, seg.Lengths, s.norms
	exact, only, plain, own := l.exact, l.only, l.plain, l.own
	for i := range c.N {
		ord := c.Ords[i]
		if allowed != nil && !allowed.Has(ord) || only != 0 && c.Forms[i]&only == 0 {
			continue
		}
		factor := plain
		if c.Forms[i]&exact != 0 {
			factor = own
		}
		scores[ord] += factor * saturated(weighted(c, i, norms, lens[ord]))
		touched[ord>>regionBits] = true
	}
}

// worth returns what a term is worth in the passage of a posting.
func (l *termList) worth(c *segment.Chunk, i int, norms *norms, length segment.Lengths) float32 {
	if l.only != 0 && c.Forms[i]&l.only == 0 {
		return 0
	}
	factor := l.plain
	if c.Forms[i]&l.exact != 0 {
		factor = l.own
	}
	return factor * saturated(weighted(c, i, norms, length))
}
