package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/internal/fault"
)

// Meaning is what vectors answered.
type Meaning struct {
	Passages []Scored // best first
	Trust    float64  // in the model, from 0 to 1
	Failed   bool     // the model was tried and is not trusted at all
	Err      error    // why words alone rank
}

// SureOf is how many passages of a meaning are exactly the nearest, and in their order.
const SureOf = 10

// SameScore is how much cosines may differ that are the same but for rounding.
const SameScore = 1e-6

// says reports whether vectors tell anything that is worth a fusion: not those of a model that gives every text the
// same vector, which its trial has shown and which prefer no passage to another.
func (m Meaning) says() bool {
	n := len(m.Passages)
	return n > 0 && (!m.Failed || m.Passages[0].Score-m.Passages[min(n, SureOf)-1].Score > SameScore)
}

// askVectors starts to rank passages by vectors, for the fusion of both rankings, while the caller goes on. It returns
// nil if there are no vectors.
func (x *Index) askVectors(ctx context.Context, q *Query, allow *roaring.Bitmap) <-chan Meaning {
	answer := make(chan Meaning, 1)
	if x.o.Vectors == nil {
		answer <- Meaning{}
		return answer
	}
	allows := x.passageFilter(q, allow)
	go fault.Contain("knowledge: end a search by meaning", func() {
		var m Meaning
		err := fault.Catch("knowledge: search by meaning", func() error {
			m = x.o.Vectors(ctx, q.Text, best, allows)
			return nil
		})
		if err != nil {
			m = Meaning{Err: err}
		}
		answer <- m
	})()
	return answer
}

// Fusion keeps the scores of words and adds to them what vectors say, as a share of the best score. The share is small
// where the best passage has all words of the query, the larger the fewer it has, and the smaller the less the model is
// trusted.
const (
	besideWords  = .2 // the share where a passage has all words
	withoutWords = .8 // what is added to that where none has any
	afterAll     = .1 // where words decide: less than what the last of the best is worth
)

// fusedScores are what words and vectors made of the score of a passage that was fused.
type fusedScores struct{ words, vectors float64 }

// share returns, for the fusion, how much the nearest vector is worth, as a share of the best score by words.
func share(trust, coverage float64) float64 {
	return trust * (besideWords + withoutWords*(1-coverage))
}

// fuse ranks passages by their scores: found by words, which are in order, and near by vectors. Those that vectors
// alone found get their owners here. Where words decide, or the model is not trusted at all, those stand behind all
// others.
func (x *Index) fuse(found lexicalResult, near Meaning, q *Query, allow *roaring.Bitmap) []match {
	nearest, farthest := near.Passages[0].Score, near.Passages[len(near.Passages)-1].Score
	worth, behind := 1.0, false
	if n := len(found.passages); n > 0 {
		worth = found.passages[0].score * share(near.Trust, found.coverage)
		if behind = worth == 0 || found.exact; behind {
			worth = found.passages[n-1].score * afterAll
		}
	}
	fused := make(map[uint32]*match, len(found.passages)+len(near.Passages))
	for i := range found.passages {
		m := found.passages[i]
		m.fused.words = m.score
		fused[m.number] = &m
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, n := range near.Passages {
		m := fused[n.Passage]
		if m == nil {
			owners := x.allowedOwners(n.Passage, q, allow)
			if len(owners) == 0 {
				continue
			}
			m = &match{number: n.Passage, owners: owners}
			fused[n.Passage] = m
		} else if behind {
			continue
		}
		m.fused.vectors = worth
		if nearest > farthest {
			m.fused.vectors *= max((n.Score-farthest)/(nearest-farthest), 1e-6)
		}
	}
	all := make([]match, 0, len(fused))
	for _, m := range fused {
		m.score = m.fused.words + m.fused.vectors
		all = append(all, *m)
	}
	sortMatches(all)
	return all
}

// sortMatches sorts passages by their scores after the fusion, the best first.
func sortMatches(list []match) {
	slices.SortFunc(list, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.number, b.number))
	})
}
