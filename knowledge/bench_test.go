package knowledge_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/readthru/readthru/knowledge"
)

// BenchmarkConsume indexes pages from the change log: reading them, cutting, indexing, acknowledging.
func BenchmarkConsume(b *testing.B) {
	var texts []string
	for seed := range uint64(500) {
		texts = append(texts, document(rand.New(rand.NewPCG(seed, 4)), 40))
	}
	passages, bytes := 0, 0
	for b.Loop() {
		b.StopTimer()
		k := open(b, "", knowledge.Options{})
		for n, md := range texts {
			k.read(b, fmt.Sprintf("https://bench.test/%d", n), md, false)
			bytes += len(md)
		}
		b.StartTimer()
		k.drain(b)
		b.StopTimer()
		passages += k.Stats().Passages
		k.shut(b)
		b.StartTimer()
	}
	b.ReportMetric(float64(passages)/b.Elapsed().Seconds(), "passages/s")
	b.ReportMetric(float64(bytes)/b.Elapsed().Seconds()/1e6, "MB/s")
	b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "pages/s")
}
