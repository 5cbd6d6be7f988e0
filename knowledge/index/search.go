package index

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/index/rank"
	"github.com/readthru/readthru/knowledge/index/segment"
)

const (
	// Documents are ranked by the best passages: this many, or this many for each hit wanted.
	best           = 300
	passagesPerHit = 3

	defaultHits = 5
	maxHits     = 1000

	// maxOwners is how many documents with one passage can be hits by it.
	maxOwners = 32

	// maxAlso is how many other URLs a hit names.
	maxAlso = 10
)

// ErrEmptyQuery means that a query has no text.
var ErrEmptyQuery = errors.New("the query is empty")

// Search returns the documents whose passages suit a query best. Any text is a query but an empty one (ErrEmptyQuery)
// without a subject; one without words has no hits.
func (x *Index) Search(ctx context.Context, q Query) (*Results, error) {
	var allow *roaring.Bitmap
	if q.KB != "" {
		if x.o.Members == nil {
			return nil, fmt.Errorf("search knowledge base %s: no knowledge bases exist", q.KB)
		}
		var err error
		if allow, err = x.o.Members(q.KB); err != nil {
			return nil, err
		}
	}
	switch {
	case allow == nil:
		allow = q.documents
	case q.documents != nil:
		allow = roaring.And(allow, q.documents)
	}
	return x.search(ctx, q, allow)
}

// search is Search among the documents that allow holds; nil: all. It does not look at q.KB.
func (x *Index) search(ctx context.Context, q Query, allow *roaring.Bitmap) (*Results, error) {
	all := strings.TrimSpace(q.Text) == ""
	if all && q.among == nil {
		return nil, ErrEmptyQuery
	}
	if all {
		q.Text = q.Subject
	}
	if q.Limit <= 0 {
		q.Limit = defaultHits
	}
	q.Limit = min(q.Limit, maxHits)
	parsed := query.Parse(q.Text)
	near := x.askVectors(ctx, &q, allow)
	words, err := x.lexical(ctx, &parsed, &q, allow)
	byMeaning := <-near // in any case: nothing goes on behind a search that has ended
	if err != nil {
		return nil, err
	}
	results := &Results{Hits: []Hit{}, Corrected: parsed.Corrections, Unknown: words.unknown}
	if byMeaning.Err != nil {
		results.degrade("ranked without vectors", byMeaning.Err)
	}
	found := words.passages
	if byMeaning.Err == nil && byMeaning.says() {
		found = x.fuse(words, byMeaning, &q, allow)
	}
	if all {
		found = x.rest(found, &q, allow)
	}
	docs := groupByDocument(found)
	x.favourDefinitions(&parsed, docs)
	if x.o.Reranker != nil && !all && !parsed.IsExact(q.Text) {
		if err := x.rerank(ctx, q.Text, docs); err != nil {
			results.degrade("ranked without the reranker", err)
		}
	}
	shown, err := x.present(ctx, results, docs, &parsed, q.Limit, q.Chars)
	if err == nil && q.Explain {
		x.explain(&parsed, results.Hits, shown)
	}
	return results, err
}

// match is a passage found, with the documents it makes hits of.
type match struct {
	number uint32
	score  float64
	lead   bool     // it has more because it begins its document
	owners []uint32 // ascending
	fused  fusedScores
	site   float64 // what of score its site adds, because the query names it
}

// told is how much a passage tells of what was asked: its score without what it has as the beginning of a document.
// That leads to the document, but the answer stands further down.
func (m *match) told() float64 {
	if m.lead {
		return m.score / rank.LeadFactor
	}
	return m.score
}

// lexicalResult is what words found.
type lexicalResult struct {
	passages []match  // best first
	coverage float64  // how much of the query the best of them have, from 0 to 1
	exact    bool     // words alone decide
	unknown  []string // words of the query that no passage has
}

// lexical searches by words: it ranks passages by those of a query. Before, it adds stems of other languages than
// English to the query, and puts other words in the place of those that hardly any passage has.
func (x *Index) lexical(ctx context.Context, parsed *query.Parsed, q *Query, allow *roaring.Bitmap) (
	found lexicalResult, err error,
) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	docs := x.filter(q, allow)
	s := x.newScorer(parsed)
	if parsed.Inflect(x.view(), s.DF) {
		s = x.newScorer(parsed)
	}
	if parsed.Correct(x.view(), s.DF) {
		s = x.newScorer(parsed)
	}
	found.unknown = parsed.Unknown(s.DF)
	s.Weigh(parsed)
	candidates, err := s.Rank(ctx, max(best, passagesPerHit*q.Limit), x.allowed(docs, q.among))
	if err != nil {
		return found, err
	}
	if x.o.Vectors != nil {
		found.coverage, found.exact = s.Coverage(candidates), parsed.IsExact(q.Text)
	}
	found.passages = make([]match, 0, len(candidates))
	for _, c := range candidates {
		seg := x.segments[c.Seg]
		found.passages = append(found.passages, match{
			number: seg.Numbers[c.Ord], score: float64(c.Score), lead: c.Lead,
			owners: x.ownersIn(seg, c.Ord, docs),
		})
	}
	x.favourSites(parsed, found.passages)
	return found, nil
}

// view returns the segments as a search sees them. The caller holds mu as long as it uses the view.
func (x *Index) view() *segment.View {
	return &segment.View{Segments: x.segments, Blocks: x.blocks, Unreadable: x.unreadable}
}

// newScorer returns a scorer for a search. The caller holds mu as long as it uses the scorer.
func (x *Index) newScorer(q *query.Parsed) *rank.Scorer {
	return rank.New(x.view(), x.sums.averages(), x.pruneFrom, q)
}

// rest adds to the passages that a query for a subject alone has found those about the subject (q.among) that it has
// not, with a score of 0, up to the number that a search considers.
func (x *Index) rest(found []match, q *Query, allow *roaring.Bitmap) []match {
	missing := q.among.Clone()
	for i := range found {
		missing.Remove(found[i].number)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for it := missing.Iterator(); it.HasNext() && len(found) < max(best, passagesPerHit*q.Limit); {
		number := it.Next()
		if owners := x.allowedOwners(number, q, allow); len(owners) > 0 {
			found = append(found, match{number: number, owners: owners})
		}
	}
	return found
}

// Query asks for passages.
type Query struct {
	Text    string    // may be empty with a Subject: then all its passages are found
	KB      string    // a knowledge base; empty: everything
	Subject string    // only passages about it, in any case
	Host    string    // only this host
	Kind    string    // only documents of this kind
	Since   time.Time // only what was fetched since
	Limit   int       // documents; 0: 5, at most 1000
	Chars   int       // of the first hit's passage; 0: as many as of others
	Explain bool

	// Metadata are values that the metadata of ingested texts must have, a number as it was written.
	Metadata map[string]string

	documents *roaring.Bitmap // with Metadata: those that have them
	among     *roaring.Bitmap // only these passages, those about Subject; nil: any
}

// Within returns q for some documents and passages alone. nil means any; passages that do not have the words of q are
// found, too.
func (q Query) Within(documents, passages *roaring.Bitmap) Query {
	q.documents, q.among = documents, passages
	return q
}
