package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// maxRanks is the maximum size of an answer of Rerank, in bytes: servers may repeat the documents in it.
const maxRanks = 4 << 20

// Rerank returns how relevant each of some documents is to a query, in the order of the documents: the larger the more.
// A document that the answer leaves out has the least of all. It asks as Cohere, Jina, vLLM and llama.cpp are asked:
// /rerank under the base URL. about and why are for the ledger, as in [Prompt].
func (c *Client) Rerank(ctx context.Context, query string, documents []string, about, why string) ([]float64, error) {
	if len(documents) == 0 {
		return nil, nil
	}
	q := question{about, why, maxRanks, func() (string, any, error) {
		return "rerank", map[string]any{"model": c.o.Model, "query": query, "documents": documents}, nil
	}}
	content, err := c.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	scores, err := readRanks(content, len(documents))
	if err != nil {
		return nil, c.explain(err)
	}
	return scores, nil
}

// readRanks reads the answer of Rerank about a number of documents.
func readRanks(content []byte, documents int) ([]float64, error) {
	var v struct {
		Results []struct {
			Index *int     `json:"index"`
			Score *float64 `json:"relevance_score"`
		} `json:"results"`
	}
	if err := json.Unmarshal(content, &v); err != nil {
		return nil, unreadable(err)
	}
	malformed := func(format string, args ...any) ([]float64, error) {
		return nil, &Error{Kind: Malformed, Message: fmt.Sprintf(format, args...)}
	}
	if len(v.Results) == 0 {
		return malformed("the answer ranks no document")
	}
	scores := make([]float64, documents)
	for i := range scores {
		scores[i] = math.NaN()
	}
	least := math.Inf(1)
	for _, r := range v.Results {
		switch {
		case r.Index == nil || r.Score == nil:
			return malformed("a result has no index or no relevance_score")
		case *r.Index < 0 || *r.Index >= documents:
			return malformed("a result has the index %d of %d documents", *r.Index, documents)
		case !math.IsNaN(scores[*r.Index]):
			return malformed("two results have the index %d", *r.Index)
		}
		scores[*r.Index] = *r.Score
		least = min(least, *r.Score)
	}
	for i := range scores {
		if math.IsNaN(scores[i]) {
			scores[i] = least
		}
	}
	return scores, nil
}
