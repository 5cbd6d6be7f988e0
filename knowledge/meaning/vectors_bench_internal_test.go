package meaning

import (
	"cmp"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/readthru/readthru/knowledge/storetest"

	"github.com/readthru/readthru/knowledge/meaning/embedtest"

	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/vector"
	"github.com/readthru/readthru/store"
)

// BenchmarkNearest asks for the nearest of 100,000 passages (READTHRU_VECTORS: another number) with random vectors of
// 384 numbers, the hardest kind, in a store on disk. It reports the median and the worst of a query, how many of the
// true first ten are found, and how long opening takes. The query's own embedding is not in it.
func BenchmarkNearest(b *testing.B) {
	n := 100_000
	if s := os.Getenv("READTHRU_VECTORS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	data, queries := randomVectors(n), randomVectors(50)
	r, s := storetest.Open(b).Records(), newShelf()
	space := vectorSpace{Provider: "openai", Model: "m", Dimension: 384}
	var changes []store.Change
	for i, x := range data {
		s.put(fmt.Sprint(i))
		changes = append(changes, store.Change{Key: space.vector(s.list[uint32(i)].Hash), Value: vector.AppendHalf(nil, x)})
		if len(changes) == 500 || i == n-1 {
			if err := r.Apply(changes...); err != nil {
				b.Fatal(err)
			}
			changes = changes[:0]
		}
	}
	v := New(Options{
		Records: r, Model: embedtest.Model(b, "http://127.0.0.1:1", "m"), Passages: s.passages,
		Whole: s.whole, Log: slog.New(slog.DiscardHandler),
	})
	defer v.Close()
	begun := time.Now()
	if missing := v.load(space); len(missing) != 0 {
		b.Fatalf("%d passages have no vector", len(missing))
	}
	opened := time.Since(begun)

	found := 0
	for i, q := range queries {
		v.asked.Add(strconv.Itoa(i), q)
		list, err := v.nearest(b.Context(), strconv.Itoa(i), 10, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, want := range firstTen(data, q) {
			if slices.ContainsFunc(list, func(s index.Scored) bool { return int(s.Passage) == want }) {
				found++
			}
		}
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		begun := time.Now()
		if _, err := v.nearest(b.Context(), strconv.Itoa(i%len(queries)), 100, nil); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(found)/float64(10*len(queries)), "recall@10")
	b.ReportMetric(opened.Seconds(), "open-s")
}

// randomVectors returns n unit vectors of 384 numbers.
func randomVectors(n int) [][]float32 {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	list := make([][]float32, n)
	for i := range list {
		v := make([]float32, 384)
		for j := range v {
			v[j] = float32(rng.NormFloat64())
		}
		list[i] = vector.Unit(v)
	}
	return list
}

// firstTen returns the ten vectors nearest to a query.
func firstTen(data [][]float32, query []float32) []int {
	order, score := make([]int, len(data)), make([]float32, len(data))
	for i, v := range data {
		order[i], score[i] = i, vector.Dot(v, query)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return order[:10]
}
