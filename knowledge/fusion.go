package knowledge

import (
	"cmp"
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// meaning is what vectors answered.
type meaning struct {
	passages []scored
	err      error
}

// askVectors starts to rank passages by vectors while the caller goes on. It returns nil if there are no vectors.
func (x *searchIndex) askVectors(ctx context.Context, q *Query, allow *roaring.Bitmap) <-chan meaning {
	answer := make(chan meaning, 1)
	if x.o.vectors == nil {
		answer <- meaning{}
		return answer
	}
	allows := x.passageFilter(q, allow)
	go func() {
		passages, err := x.o.vectors(ctx, q.Text, best, allows)
		answer <- meaning{passages, err}
	}()
	return answer
}

// fusionRank is the constant of reciprocal rank fusion; wordsCount is how much more words count than vectors.
const (
	fusionRank = 60
	wordsCount = 2
)

// fusedRanks is where a passage stood in the lists that were fused, from 1; 0: it was not in it.
type fusedRanks struct{ words, vectors int }

// wordsScore and vectorsScore are what a rank is worth.
func (r fusedRanks) wordsScore() float64   { return rankScore(r.words, wordsCount) }
func (r fusedRanks) vectorsScore() float64 { return rankScore(r.vectors, 1) }

func rankScore(rank int, weight float64) float64 {
	if rank == 0 {
		return 0
	}
	return weight / float64(fusionRank+rank)
}

// fuse ranks passages by where they stand in two lists: found by words, and near by vectors. Those that vectors alone
// found get their owners here.
func (x *searchIndex) fuse(found []match, near []scored, q *Query, allow *roaring.Bitmap) []match {
	fused := map[uint32]*match{}
	for i := range found {
		m := found[i]
		m.fused.words = i + 1
		fused[m.number] = &m
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i, n := range near {
		m := fused[n.passage]
		if m == nil {
			owners := x.allowedOwners(n.passage, q, allow)
			if len(owners) == 0 {
				continue
			}
			m = &match{number: n.passage, owners: owners}
			fused[n.passage] = m
		}
		m.fused.vectors = i + 1
	}
	all := make([]match, 0, len(fused))
	for _, m := range fused {
		m.score = m.fused.wordsScore() + m.fused.vectorsScore()
		all = append(all, *m)
	}
	slices.SortFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score),
			cmp.Compare(a.number, b.number))
	})
	return all
}
