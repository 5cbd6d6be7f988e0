package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/llm"
)

const (
	rerankTop   = 30      // documents that are ranked again
	rerankBytes = 2 << 10 // of a passage's text

	// rerankShare is how much the document that the model finds most relevant gains, as a share of the best score: the
	// model has as much to say as words and vectors together.
	rerankShare = 1

	// An endpoint that failed is left alone, twice as long each time in a row.
	firstRest, longestRest = 30 * time.Second, 10 * time.Minute
)

// RerankPatience is how long a search waits for its reranker.
const RerankPatience = 300 * time.Millisecond

// Reranker asks a model which of the best documents are most relevant to a query. An endpoint that hangs or fails costs
// one search its patience, and others nothing until it is tried again. A nil *Reranker is the feature switched off.
type Reranker struct {
	model    *llm.Client
	withhold func(d *Document) bool // reports whether the model must not see a document; may be nil
	log      *slog.Logger

	mu       sync.Mutex
	proved   bool      // the last answer was of use
	trying   bool      // somebody finds out whether the next is
	failures int       // in a row
	until    time.Time // it is left alone until then
	trouble  string    // why
}

// NewReranker returns nil without a model.
func NewReranker(model *llm.Client, withhold func(d *Document) bool, log *slog.Logger) *Reranker {
	if model == nil {
		return nil
	}
	return &Reranker{model: model, withhold: withhold, log: log}
}

// rerank adds to the scores of the best documents what the model says of them, and sorts them again. Documents that may
// not be told to it gain as much as their own scores are worth. On an error nothing changes.
func (x *Index) rerank(ctx context.Context, text string, docs []ranked) error {
	r := x.o.Reranker
	top := docs[:min(len(docs), rerankTop)]
	asked, texts, list := x.rerankable(top)
	if len(asked) < 2 {
		return nil
	}
	scores, err := r.ask(ctx, text, texts, AboutPassages(list))
	if err != nil {
		return err
	}
	least, most := slices.Min(scores), slices.Max(scores)
	if most <= least {
		return nil // it prefers none
	}
	best := top[0].score
	for i := range top {
		top[i].reranked = rerankShare * top[i].score
	}
	for i, at := range asked {
		top[at].reranked = rerankShare * best * (scores[i] - least) / (most - least)
	}
	for i := range top {
		top[i].score += top[i].reranked
	}
	sortRanked(top)
	return nil
}

// rerankable returns which of the best documents of a search the reranking model may see, with the texts that it is
// sent, of at most rerankBytes each.
func (x *Index) rerankable(top []ranked) (asked []int, texts []string, list []Passage) {
	for i := range top {
		key, ok := x.Document(top[i].doc)
		if !ok {
			continue
		}
		f := Passage{Number: top[i].best.number}
		if f.Hash, ok = x.HashOf(f.Number); !ok || !x.locate(&f, key) {
			continue
		}
		if x.o.Reranker.withhold != nil && x.o.Reranker.withhold(&f.Doc) {
			continue
		}
		asked, list = append(asked, i), append(list, f)
		texts = append(texts, clip.Bytes(f.Doc.Title+"\n"+f.Path+"\n"+f.Text, rerankBytes))
	}
	return asked, texts, list
}

// ask asks the reranking model for scores, unless it is left alone after failures, and waits RerankPatience at most.
func (r *Reranker) ask(ctx context.Context, text string, texts []string, about string) ([]float64, error) {
	if err := r.enter(time.Now()); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, RerankPatience)
	defer cancel()
	scores, err := r.model.Rerank(limited, clip.Bytes(text, rerankBytes), texts, about,
		fmt.Sprintf("ranking %d passages for a search query", len(texts)))
	if err != nil && limited.Err() != nil {
		err = fmt.Errorf("no answer after %v", RerankPatience)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}
	r.leave(time.Now(), err, ctx.Err() != nil)
	return scores, err
}

// enter reports by its error that the model is left alone. While it is not known to answer, one search alone asks it.
func (r *Reranker) enter(now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case now.Before(r.until):
		return fmt.Errorf("%s; it is left alone for %v", r.trouble, r.until.Sub(now).Round(time.Second))
	case !r.proved && r.trying:
		return errors.New("another search is finding out whether it answers")
	}
	r.trying = true
	return nil
}

// leave notes how an answer was. That the searcher left says nothing.
func (r *Reranker) leave(now time.Time, err error, left bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trying = false
	switch {
	case left:
	case err == nil:
		if r.failures > 0 {
			r.log.Info("the reranker answers again")
		}
		r.proved, r.failures, r.until, r.trouble = true, 0, time.Time{}, ""
	default:
		rest := min(firstRest<<min(r.failures, 10), longestRest)
		r.proved, r.failures, r.until, r.trouble = false, r.failures+1, now.Add(rest), err.Error()
		r.log.Warn("the reranker is left alone", "err", err, "wait", rest)
	}
}
