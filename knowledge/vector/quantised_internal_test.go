package vector

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fault/faulttest"
)

// vectorsOf returns n unit vectors and 50 queries of the same kind: "random" directions; "clusters" of them, so tight
// that all of a cluster are nearer to each other than to anything else; or "offset", as models make them: all on one
// side of the origin, with most of what differs in few numbers.
func vectorsOf(kind string, n, dimension int) (data, queries [][]float32) {
	rng := rand.New(rand.NewPCG(7, 7))
	random := func() []float32 {
		v := make([]float32, dimension)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return Unit(v)
	}
	mix := func(a []float32, weight float32, b []float32) []float32 {
		for i := range b {
			b[i] = a[i] + weight*b[i]
		}
		return Unit(b)
	}
	draw := random
	switch kind {
	case "clusters":
		centres := make([][]float32, 100)
		for i := range centres {
			centres[i] = random()
		}
		draw = func() []float32 { return mix(centres[rng.IntN(len(centres))], .5, random()) }
	case "offset":
		side := random()
		draw = func() []float32 {
			v := random()
			for i := range v {
				v[i] /= float32(math.Sqrt(float64(i + 1)))
			}
			return mix(side, .5, Unit(v))
		}
	}
	for range n {
		data = append(data, draw())
	}
	for range 50 {
		queries = append(queries, draw())
	}
	return data, queries
}

var vectorKinds = []string{"random", "clusters", "offset"}

func quantisedOf(data [][]float32) *Quantised {
	const sample = 4096
	centre := make([]float32, len(data[0]))
	for _, v := range data[:min(len(data), sample)] {
		for i, x := range v {
			centre[i] += x / float32(min(len(data), sample))
		}
	}
	s := NewQuantised(centre)
	for i, v := range data {
		s.Add(uint32(i), [16]byte{byte(i), byte(i >> 8), byte(i >> 16), byte(i >> 24)}, v)
	}
	return s
}

// firstTen returns the ten vectors nearest to a query.
func firstTen(data [][]float32, query []float32) []int {
	order, score := make([]int, len(data)), make([]float32, len(data))
	for i, v := range data {
		order[i], score[i] = i, Dot(v, query)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return order[:10]
}

func TestTheTrueFirstTenAreAmongThoseThatAreComparedExactly(t *testing.T) {
	for _, kind := range vectorKinds {
		for _, dimension := range []int{100, 384} {
			t.Run(fmt.Sprintf("%s of %d numbers", kind, dimension), func(t *testing.T) {
				data, queries := vectorsOf(kind, 3000/raceFactor, dimension)
				s := quantisedOf(data)
				found := 0
				for _, q := range queries {
					near := s.Nearest(q, 10, nil)
					exact := map[int]bool{}
					for _, c := range near[:Unsure(near, 10, 400)] {
						exact[c.Slot] = true
					}
					for _, i := range firstTen(data, q) {
						if exact[i] {
							found++
						}
					}
				}
				if recall := float64(found) / float64(10*len(queries)); recall < .98 {
					t.Errorf("recall@10 = %.3f, want at least .98", recall)
				}
			})
		}
	}
}

// BenchmarkNearest asks for the nearest of 100,000 vectors. It reports how many of the true first ten are among those
// to compare exactly, how many that are, and what a vector takes in memory.
func BenchmarkNearest(b *testing.B) {
	const n = 100_000
	for _, kind := range vectorKinds {
		b.Run(kind, func(b *testing.B) {
			data, queries := vectorsOf(kind, n, 384)
			before := liveHeap()
			s := quantisedOf(data)
			memory := liveHeap() - before
			compared, found := 0, 0
			for _, q := range queries {
				near := s.Nearest(q, 10, nil)
				near = near[:Unsure(near, 10, 400)]
				compared += len(near)
				for _, want := range firstTen(data, q) {
					if slices.ContainsFunc(near, func(c Near) bool { return c.Slot == want }) {
						found++
					}
				}
			}
			for i := 0; b.Loop(); i++ {
				s.Nearest(queries[i%len(queries)], 100, nil)
			}
			b.ReportMetric(float64(memory)/n, "B/vector")
			b.ReportMetric(float64(compared)/float64(len(queries)), "compared/query")
			b.ReportMetric(float64(found)/float64(10*len(queries)), "recall@10")
		})
	}
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestEstimatesAreUnbiasedAndTheirSpreadIsKnown(t *testing.T) {
	for _, kind := range vectorKinds {
		data, queries := vectorsOf(kind, 2000/raceFactor, 384)
		s := quantisedOf(data)
		var sum, sum2, n float64
		for _, q := range queries[:10] {
			for _, c := range s.Nearest(q, len(data), nil) {
				off := float64(c.Score-Dot(data[c.Slot], q)) / float64(c.Spread)
				sum, sum2, n = sum+off, sum2+off*off, n+1
			}
		}
		mean, deviation := sum/n, math.Sqrt(sum2/n)
		if math.Abs(mean) > .2 || deviation < .5 || deviation > 1.5 {
			t.Errorf("%s: estimates are off by %.2f ± %.2f spreads, want 0 ± 1", kind, mean, deviation)
		}
	}
}

func TestOnlyWhatIsAllowedIsFound(t *testing.T) {
	data, queries := vectorsOf("random", 5000, 64)
	s := quantisedOf(data)
	if got := s.Nearest(queries[0], 10, func(p uint32) bool { return p == 4321 }); len(got) != 1 || got[0].Slot != 4321 {
		t.Errorf("with one passage allowed: %v, want that", got)
	}
	if got := s.Nearest(queries[0], 10, func(uint32) bool { return false }); len(got) != 0 {
		t.Errorf("with none allowed: %d found", len(got))
	}
	best := s.Nearest(queries[0], 10, nil)[0].Slot
	s.Remove(best)
	if got := s.Nearest(queries[0], 10, nil); slices.ContainsFunc(got, func(c Near) bool { return c.Slot == best }) {
		t.Error("a free slot is found")
	}
}

func TestVectorsOfAwkwardDimensions(t *testing.T) {
	for _, dimension := range []int{1, 2, 63, 64, 65, 127, 129, 1536} {
		data, _ := vectorsOf("random", 30, dimension)
		s := quantisedOf(data)
		for i, v := range data {
			near := s.Nearest(v, 1, nil)
			if len(near) != len(data) || math.IsNaN(float64(near[0].Score)) {
				t.Fatalf("dimension %d: %d found, the first with %v", dimension, len(near), near[0].Score)
			}
			if d := Dot(data[near[0].Slot], v); dimension > 2 && d < .9 {
				t.Errorf("dimension %d: nearest to vector %d is one with a cosine of %.2f, want itself", dimension, i, d)
			}
		}
	}
	same := [][]float32{Unit([]float32{1, 2, 3}), Unit([]float32{1, 2, 3}), Unit([]float32{1, 2, 3})} // all in the centre
	for _, c := range quantisedOf(same).Nearest(same[0], 3, nil) {
		if math.Abs(float64(c.Score-1)) > .01 {
			t.Errorf("equal vectors: estimate %v, want 1", c.Score)
		}
	}
}

func TestRotationKeepsLengthsAndAngles(t *testing.T) {
	for _, dimension := range []int{64, 384, 768, 1000, 1536} {
		r := newRotation(dimension)
		data, _ := vectorsOf("random", 2, dimension)
		want := Dot(data[0], data[1])
		for i := range data {
			data[i] = append(data[i], make([]float32, r.size-dimension)...)
			r.apply(data[i])
		}
		if got := Dot(data[0], data[1]); math.Abs(float64(got-want)) > 1e-5 {
			t.Errorf("dimension %d: <a, b> = %v after, %v before", dimension, got, want)
		}
		if got := Dot(data[0], data[0]); math.Abs(float64(got-1)) > 1e-5 {
			t.Errorf("dimension %d: length %v, want 1", dimension, got)
		}
		axis := make([]float32, r.size) // all in one number: the worst case
		axis[3] = 1
		r.apply(axis)
		for _, x := range axis {
			if math.Abs(float64(x)) > 8/math.Sqrt(float64(r.size)) {
				t.Errorf("dimension %d: an axis keeps %v of its length in one number", dimension, x)
			}
		}
	}
}

func TestHalfPrecisionIsTheNearest(t *testing.T) {
	for h := range uint16(0x3c00 + 1) { // 0 … 1
		for _, h := range []uint16{h, h | 0x8000} {
			if got := half(single(h)); got != h {
				t.Fatalf("half(single(%#04x)) = %#04x", h, got)
			}
		}
		if h == 0x3c00 {
			break
		}
		a, b := single(h), single(h+1)
		for x, want := range map[float32]uint16{a + (b-a)*.4: h, a + (b-a)*.6: h + 1, (a + b) / 2: (h + 1) &^ 1} {
			if got := half(x); got != want {
				t.Fatalf("half(%v) = %#04x (%v), want %#04x (%v)", x, got, single(got), want, single(want))
			}
		}
	}
	if half(1e-30) != 0 || half(-1e-30) != 0x8000 {
		t.Error("what is too small is not zero")
	}
}

func TestTheLargestScores(t *testing.T) {
	inf := float32(math.Inf(-1))
	for _, tt := range []struct {
		scores []float32
		n      int
		want   []int
	}{
		{nil, 3, nil},
		{[]float32{inf, inf}, 3, nil},
		{[]float32{1, 5, inf, 3, 5}, 2, []int{1, 4}},
		{[]float32{1, 5, inf, 3, 4}, 100, []int{0, 1, 3, 4}},
		{[]float32{2, 2, 2}, 1, []int{0, 1, 2}},
		{[]float32{-1e30, 7}, 1, []int{1}},
	} {
		if got := largest(tt.scores, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("largest(%v, %d) = %v, want %v", tt.scores, tt.n, got, tt.want)
		}
	}
}

// What was compared in part is no result: a panic is one of the whole search.
func TestAComparisonThatPanicsGivesNoResult(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	data, queries := vectorsOf("random", 1000, 16)
	s := quantisedOf(data)
	faulttest.Once(t, "knowledge: compare codes")
	if err := fault.Catch("test: search", func() error { s.Nearest(queries[0], 10, nil); return nil }); !fault.Is(err) {
		t.Errorf("got %v, want the fault", err)
	}
	if near := s.Nearest(queries[0], 10, nil); len(near) == 0 {
		t.Error("nothing is found afterwards")
	}
}
