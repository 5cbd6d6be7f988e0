package meaning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/vector"
	"github.com/readthru/readthru/store"
)

// embedding makes the vectors of waiting passages, a batch at a time, in the one goroutine of [vectors.run].
type embedding struct {
	v       *Vectors
	size    int // passages in the next batch: grows while the endpoint is quick, shrinks while it is slow or refuses
	refused int // single passages in a row
}

// next embeds a batch and reports whether more passages wait. After an error the batch waits as before.
func (b *embedding) next(ctx context.Context) (more bool, err error) {
	v := b.v
	v.news.Lock()
	batch := slices.Clone(v.waiting[:min(b.size, len(v.waiting))])
	v.news.Unlock()
	if len(batch) == 0 {
		return false, nil
	}
	list, err := v.wanting(slices.Clone(batch))
	if err != nil {
		return true, err
	}
	begun := time.Now()
	if len(list) > 0 {
		err = v.embed(ctx, list)
	}
	switch took := time.Since(begun); {
	case err != nil:
		if e, ok := errors.AsType[*llm.Error](err); !ok || !b.give(e, len(list)) {
			return true, err
		}
	case took > 4*time.Second:
		b.size = max(b.size/2, 1)
	case took < time.Second:
		b.size = min(b.size*2, maxBatch)
	}
	if err == nil {
		b.refused = 0
	} else if len(list) > 1 {
		return true, nil // again, with half as many
	}
	v.news.Lock()
	v.waiting = v.waiting[len(batch):] // others only append
	if len(v.waiting) == 0 {
		v.waiting = nil // and its memory
	}
	v.news.Unlock()
	return true, nil
}

// give decides about a batch that failed: it reports false when the batch is to wait. One text that the endpoint does
// not take must not hold up the others: the batch is halved until it is that text alone, which then goes without a
// vector. An endpoint that has not embedded anything yet, or refuses one text after the other, has another trouble.
func (b *embedding) give(e *llm.Error, texts int) bool {
	v := b.v
	if e.Kind == llm.TimedOut {
		b.size = max(b.size/2, 1)
		return false
	}
	refusal := e.Kind == llm.Malformed || e.Kind == llm.BadRequest && e.Status != http.StatusNotFound
	v.mu.RLock()
	proved := v.proved
	v.mu.RUnlock()
	if !refusal || !proved && texts == 1 || b.refused >= 8 {
		return false
	}
	if texts > 1 {
		b.size = max(texts/2, 1)
		return true
	}
	b.refused++
	v.countWithheld()
	v.o.Log.Warn("passage goes without a vector", "err", e)
	return true
}

// countWithheld counts a passage that is not embedded.
func (v *Vectors) countWithheld() {
	v.news.Lock()
	defer v.news.Unlock()
	v.without++
}

// wanting returns the passages of a batch that are to be embedded: that still exist and have no vector. A passage whose
// text already has a vector in the store gets that one.
func (v *Vectors) wanting(batch []uint32) ([]index.Passage, error) {
	var list []index.Passage
	slices.Sort(batch)
	for _, n := range slices.Compact(batch) { // one may wait twice: found missing, and told of by the index
		v.mu.RLock()
		_, done := v.slot[n]
		v.mu.RUnlock()
		if done {
			continue
		}
		p, err := v.o.Passage(n)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read passage: %w", err)
		}
		if v.space.Dimension != 0 {
			x := make([]float32, v.space.Dimension)
			if value, err := v.o.Records.Get(v.space.vector(p.Hash)); err == nil && readVector(x, value) &&
				embeddedWith(value, len(x), p.Said) {
				v.add([]index.Passage{p}, [][]float32{x})
				continue
			}
		}
		if v.o.Withhold != nil && v.o.Withhold(&p.Doc) {
			v.countWithheld()
			continue
		}
		list = append(list, p)
	}
	return list, nil
}

// embed asks for the vectors of passages, stores them and adds them to the set in memory.
func (v *Vectors) embed(ctx context.Context, list []index.Passage) error {
	prefix := prefixesOf(v.o.Model.Model()).passage
	texts := make([]string, len(list))
	for i := range list {
		p := &list[i]
		texts[i] = clip.Bytes(prefix+p.Doc.Title+"\n"+p.Path+"\n"+p.Said+p.Text, maxEmbedBytes)
	}
	reason := fmt.Sprintf("embeddings of %d passages", len(list))
	answer, err := v.o.Model.Embed(ctx, texts, index.AboutPassages(list), reason)
	if err != nil {
		return err
	}
	if err := v.checkSpace(len(answer.Vectors[0]), answer.Vectors); err != nil {
		return err
	}
	var changes []store.Change
	bytes := 0
	write := func() error {
		err := v.o.Records.Apply(changes...)
		changes, bytes = changes[:0], 0
		return err
	}
	for i, x := range answer.Vectors {
		c := store.Change{Key: v.space.vector(list[i].Hash), Value: appendVector(x, list[i].Said)}
		if bytes += len(c.Value); bytes > maxVectorWrite {
			if err := write(); err != nil {
				return err
			}
			bytes = len(c.Value)
		}
		changes = append(changes, c)
	}
	if err := write(); err != nil {
		return err
	}
	v.add(list, answer.Vectors)
	return nil
}

// checkSpace makes sure that vectors of a dimension are those of the present space. With the first answer since the
// start the space may be another than the store's, or the first at all; afterwards another dimension is an error:
// vectors are never mixed.
func (v *Vectors) checkSpace(dimension int, sample [][]float32) error {
	v.mu.RLock()
	space, proved := v.space, v.proved
	v.mu.RUnlock()
	if dimension != space.Dimension {
		if proved {
			return fmt.Errorf("model %s returned vectors of %d numbers instead of %d: restart to embed all passages again",
				v.o.Model.Model(), dimension, space.Dimension)
		}
		next := vectorSpace{Provider: v.o.Model.Provider(), Model: v.o.Model.Model(), Dimension: dimension}
		value, err := json.Marshal(next)
		if err != nil {
			return err
		}
		if err := v.o.Records.Apply(store.Change{Key: next.record(), Value: value}); err != nil {
			return err
		}
		if missing := v.load(next); space.Dimension != 0 {
			v.await(missing) // what had a vector of the other space
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.proved = true
	if v.sample == 0 {
		centre := make([]float32, dimension)
		for _, x := range sample {
			for i, y := range vector.Unit(x) {
				centre[i] += y / float32(len(sample))
			}
		}
		v.near, v.sample = vector.NewQuantised(centre), len(sample)
	}
	return nil
}

// add puts the vectors of passages into the set in memory. A set whose centre is the mean of few vectors (under
// goodSample) is loaded again, with a better one, when it has grown to four times as many.
func (v *Vectors) add(list []index.Passage, vectors [][]float32) {
	v.mu.Lock()
	for i := range list {
		v.slot[list[i].Number] = v.near.Add(list[i].Number, list[i].Hash, vectors[i])
	}
	space, poor := v.space, v.sample < goodSample && len(v.slot) >= 4*v.sample
	v.mu.Unlock()
	if poor {
		v.load(space) // with a better centre
	}
}
