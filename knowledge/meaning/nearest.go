package meaning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/vector"
)

const (
	queryPatience = 300 * time.Millisecond // a search waits so long for its query's vector
	queryTimeout  = 10 * time.Second       // the model has so long to answer, for the sake of later searches
	mostExact     = 400                    // passages that are compared exactly for that, at most
)

// Meaning is nearest with how much the model is trusted.
func (v *Vectors) Meaning(ctx context.Context, text string, n int, allow func(passage uint32) bool) index.Meaning {
	passages, err := v.nearest(ctx, text, n, allow)
	v.mu.RLock()
	defer v.mu.RUnlock()
	return index.Meaning{Passages: passages, Trust: v.trust, Failed: v.tried > 0 && v.trust == 0, Err: err}
}

// nearest returns the n passages whose meaning is nearest to a text's, best first, with their cosines: exact for the
// first few, estimated for the rest. Allow (nil: all) says which passages count. On an error the caller answers by
// words alone.
func (v *Vectors) nearest(
	ctx context.Context, text string, n int, allow func(passage uint32) bool,
) ([]index.Scored, error) {
	query, err := v.queryVector(ctx, text)
	if err != nil {
		return nil, err
	}
	v.mu.RLock()
	space := v.space
	if v.near == nil || len(query) != space.Dimension {
		v.mu.RUnlock()
		return nil, errors.New("passage vectors are not ready")
	}
	near := v.near.Nearest(query, n, allow)
	near = near[:min(len(near), max(n, mostExact))]
	list, hashes := make([]index.Scored, len(near)), make([][16]byte, len(near))
	for i, c := range near {
		list[i].Passage, hashes[i] = v.near.Passage(c.Slot)
		list[i].Score = float64(c.Score)
	}
	v.mu.RUnlock()

	exact := vector.Unsure(near, min(n, index.SureOf), mostExact)
	v.compare(space, query, list[:exact], hashes)
	slices.SortStableFunc(list[:exact], func(a, b index.Scored) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return int(a.Passage) - int(b.Passage)
	})
	return list[:min(n, len(list))], nil
}

// compare makes the scores of the nearest passages exact, by the vectors on disk, as far as these can be read; in
// memory they are quantised.
func (v *Vectors) compare(space vectorSpace, query []float32, list []index.Scored, hashes [][16]byte) {
	stored, err := v.o.Records.Snapshot()
	if err != nil {
		return
	}
	defer stored.Close()
	prefix := space.prefix()
	const run = 16
	var wg sync.WaitGroup
	for at := 0; at < len(list); at += run {
		wg.Go(fault.Contain("knowledge: compare vectors", func() {
			x := make([]float32, space.Dimension)
			for i := at; i < min(at+run, len(list)); i++ {
				if value, err := stored.Get(prefix + string(hashes[i][:])); err == nil && readVector(x, value) {
					list[i].Score = float64(vector.Dot(x, query))
				}
			}
		}))
	}
	wg.Wait()
}

// queryVector returns the unit vector of a query. It waits 300 ms for it. An answer that comes later is kept for the
// next time the same is asked, and wakes a model that sleeps; an endpoint that hangs holds up a few searches that long,
// and no more.
func (v *Vectors) queryVector(ctx context.Context, text string) ([]float32, error) {
	if x, ok := v.asked.Get(text); ok {
		return x, nil
	}
	select {
	case v.asking <- struct{}{}:
	default:
		return nil, errors.New("the model is slow: earlier queries are still waiting for vectors")
	}
	type result struct {
		x   []float32
		err error
	}
	answer := make(chan result, 1)
	//nolint:contextcheck // it outlives the search: a late answer is of use to the next one
	v.queries.Go(fault.Contain("knowledge: end the vector of a query", func() {
		defer func() { <-v.asking }()
		ctx, cancel := context.WithTimeout(v.life, queryTimeout)
		defer cancel()
		var r result
		r.err = fault.Catch("knowledge: ask for the vector of a query", func() (err error) {
			r.x, err = v.embedQuery(ctx, text)
			return err
		})
		answer <- r
	}))
	timer := time.NewTimer(queryPatience)
	defer timer.Stop()
	select {
	case r := <-answer:
		return r.x, r.err
	case <-timer.C:
		return nil, fmt.Errorf("query vector not ready after %v", queryPatience)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// embedQuery asks the model for the vector of a query. One whose length is not that of the passages' vectors is an
// error, too, as after a change of the model.
func (v *Vectors) embedQuery(ctx context.Context, text string) ([]float32, error) {
	prefix := prefixesOf(v.o.Model.Model()).query
	texts := []string{clip.Bytes(prefix+text, maxEmbedBytes)}
	answer, err := v.o.Model.Embed(ctx, texts, "", "embedding of a search query")
	if err != nil {
		return nil, err
	}
	x := vector.Unit(answer.Vectors[0])
	v.mu.RLock()
	dimension := v.space.Dimension
	v.mu.RUnlock()
	if len(x) != dimension {
		return nil, fmt.Errorf("query vector has %d numbers, passage vectors have %d", len(x), dimension)
	}
	v.asked.Add(text, x)
	return x, nil
}
