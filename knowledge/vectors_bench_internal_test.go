package knowledge

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"readthru/store"
)

// BenchmarkNearest asks for the nearest of 100,000 passages (READTHRU_VECTORS: another number) with vectors of 384
// numbers, in a store on disk. It reports the median and the worst of a query, how many of the true first ten are
// found, what a vector takes in memory, and how long opening takes. The query's own embedding is not in it.
func BenchmarkNearest(b *testing.B) {
	n := 100_000
	if s := os.Getenv("READTHRU_VECTORS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	for _, kind := range vectorKinds {
		b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) { benchmarkNearest(b, kind, n) })
	}
}

func benchmarkNearest(b *testing.B, kind string, n int) {
	b.Helper()
	data, queries := vectorsOf(kind, n, 384)
	before := liveHeap()
	alone := sketchOf(data)
	memory := liveHeap() - before
	runtime.KeepAlive(alone)

	r, s := testStore(b).Records(), newShelf()
	space := vectorSpace{Provider: "openai", Model: "m", Dimension: 384}
	var changes []store.Change
	for i, x := range data {
		s.put(fmt.Sprint(i))
		changes = append(changes, store.Change{Key: space.vector(s.list[uint32(i)].hash), Value: appendHalf(nil, x)})
		if len(changes) == 500 || i == n-1 {
			if err := r.Apply(changes...); err != nil {
				b.Fatal(err)
			}
			changes = changes[:0]
		}
	}
	v := newVectors(vectorOptions{
		records: r, model: modelAt(b, "http://127.0.0.1:1", "m"), passages: s.passages,
		whole: s.whole, log: slog.New(slog.DiscardHandler),
	})
	defer v.close()
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
			if slices.ContainsFunc(list, func(s scored) bool { return int(s.passage) == want }) {
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
	b.ReportMetric(float64(memory)/float64(n), "B/vector")
	b.ReportMetric(opened.Seconds(), "open-s")
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
