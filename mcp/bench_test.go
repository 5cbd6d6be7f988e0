package mcp_test

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"readthru/api"
)

// BenchmarkCall measures a call over each transport, and the same operation without one ("work"): the difference is what the
// protocol costs.
func BenchmarkCall(b *testing.B) {
	w := newWorld(b, nil)
	const url = "https://example.com/guide"
	transports := map[string]*sdk.ClientSession{"streams": w.connect(b, nil), "http": w.connectHTTP(b)}
	use(b, transports["streams"], "fetch", map[string]any{"url": url})
	if err := w.api.CatchUp(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Run("fetch/work", func(b *testing.B) {
		for b.Loop() {
			if _, err := w.api.Robots(b.Context(), url); err != nil {
				b.Fatal(err)
			}
			if _, err := w.api.Fetch(b.Context(), api.FetchRequest{URL: url}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("search/work", func(b *testing.B) {
		for b.Loop() {
			if _, err := w.api.Search(b.Context(), api.SearchQuery{Text: "yellow quince"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, name := range []string{"streams", "http"} {
		s := transports[name]
		b.Run("fetch/"+name, func(b *testing.B) {
			for b.Loop() {
				use(b, s, "fetch", map[string]any{"url": url})
			}
		})
		b.Run("search/"+name, func(b *testing.B) {
			for b.Loop() {
				use(b, s, "search_knowledge_base", map[string]any{"query": "yellow quince"})
			}
		})
	}
}
