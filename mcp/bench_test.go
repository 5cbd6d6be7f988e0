package mcp_test

import (
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/api"
)

// BenchmarkCall measures a call over each transport, and the same operation without one ("work"), in the median: the
// difference is what the protocol costs.
func BenchmarkCall(b *testing.B) {
	w := newWorld(b, nil)
	const url = "https://example.com/guide"
	transports := map[string]*sdk.ClientSession{"streams": w.connect(b, nil), "http": w.connectHTTP(b)}
	use(b, transports["streams"], "fetch", map[string]any{"url": url})
	if err := w.api.Memory().CatchUp(b.Context()); err != nil {
		b.Fatal(err)
	}
	measure(b, "fetch/work", func() {
		if _, err := w.api.Client("").Robots(b.Context(), url); err != nil {
			b.Fatal(err)
		}
		if _, err := w.api.Client("").Fetch(b.Context(), api.FetchRequest{URL: url}); err != nil {
			b.Fatal(err)
		}
	})
	measure(b, "search/work", func() {
		if _, err := w.api.Client("").Search(b.Context(), api.SearchQuery{Text: "yellow quince"}); err != nil {
			b.Fatal(err)
		}
	})
	for _, name := range []string{"streams", "http"} {
		s := transports[name]
		measure(b, "fetch/"+name, func() { use(b, s, "fetch", map[string]any{"url": url}) })
		measure(b, "search/"+name, func() { use(b, s, "search_knowledge_base", map[string]any{"query": "yellow quince"}) })
	}
}

// measure runs do as a benchmark of its own, which tells the median too.
func measure(b *testing.B, name string, do func()) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			do()
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	})
}
