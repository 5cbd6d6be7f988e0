package setup

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/knowledge"
)

// rerankerProbe is how long doctor waits for the reranker, which may have to load its model first.
const rerankerProbe = 20 * time.Second

// examineReranker has the configured reranker rank two sentences, twice: the second time it has loaded its model.
func examineReranker(ctx context.Context, s *settings.Settings) finding {
	f := finding{Name: "reranker", State: warning, Remedy: "hits are ranked without it: see rerank in the configuration"}
	ctx, cancel := context.WithTimeout(ctx, rerankerProbe)
	defer cancel()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client, err := s.Reranker().Client("rerank", llm.Options{Transport: transport, Attempts: 1})
	if err != nil {
		f.State, f.Detail = failed, err.Error()
		return f
	}
	var scores []float64
	var took time.Duration
	for range 2 {
		begun := time.Now()
		scores, err = client.Rerank(ctx, "How is bread baked?", []string{
			"The harbour lies in the north of the town.", "Bread is baked in a hot oven.",
		}, "", "doctor tries the reranker")
		if took = time.Since(begun); err != nil {
			f.Detail = err.Error()
			return f
		}
	}
	switch took = took.Round(time.Millisecond); {
	case scores[1] <= scores[0]:
		f.Detail = "it prefers a sentence about a harbour as the answer to how bread is baked"
	case took > knowledge.RerankPatience:
		f.Detail = fmt.Sprintf("it takes %v, and a search waits %v for it", took, knowledge.RerankPatience)
	default:
		f = finding{"reranker", good, fmt.Sprintf("%s ranks two sentences in %v", client.Service(), took), ""}
	}
	return f
}
