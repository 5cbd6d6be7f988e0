package knowledge_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge"
)

// BenchmarkConsume indexes pages from the change log: reading them, cutting, indexing, acknowledging.
func BenchmarkConsume(b *testing.B) {
	var texts []string
	for seed := range uint64(500) {
		texts = append(texts, benchText(rand.New(rand.NewPCG(seed, 4))))
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

// benchText makes a page of some sections, with words that many pages have and words of its own.
func benchText(r *rand.Rand) string {
	var b strings.Builder
	for section := range 12 {
		fmt.Fprintf(&b, "## Section %d\n\n", section)
		for range 30 + r.IntN(60) {
			fmt.Fprintf(&b, "word%d ", int(r.ExpFloat64()*100))
		}
		b.WriteString("\n\n")
	}
	return b.String()
}
