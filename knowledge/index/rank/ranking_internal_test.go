package rank

import (
	"math/rand/v2"
	"testing"

	"github.com/readthru/readthru/knowledge/index/segment"
)

func TestBoundsHoldWhateverTheAveragesBecome(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 20000 {
		then := segment.Averages{Text: 1 + rng.Float64()*400, Title: 1 + rng.Float64()*20, Path: 1 + rng.Float64()*20}
		now := segment.Averages{Text: 1 + rng.Float64()*400, Title: 1 + rng.Float64()*20, Path: 1 + rng.Float64()*20}
		p := segment.Posting{Text: uint16(rng.IntN(60)), Title: uint8(rng.IntN(4)), Path: uint8(rng.IntN(4))}
		l := segment.Lengths{Text: uint16(rng.IntN(900)), Title: uint8(rng.IntN(30)), Path: uint8(rng.IntN(30))}
		bound := loosened(newNorms(then).bound(&p, l), growth(then, now))
		if got := saturated(newNorms(now).weighted(l, int(p.Text), int(p.Title), int(p.Path))); float64(got) > bound+1e-5 {
			t.Fatalf("posting %+v of %+v is worth %v with %+v, over its bound %v made with %+v", p, l, got, now, bound, then)
		}
	}
}
