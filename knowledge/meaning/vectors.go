package meaning

import (
	"context"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/vector"
	"github.com/readthru/readthru/store"
)

// Vectors keeps an embedding of every passage, so that a query finds passages that mean the same in other words.
//
// It makes them in the background and stores them under the hash of a passage's text, apart for each space: vectors of
// two models, or of two dimensions, are never compared. It needs no queue on disk, because the index tells which
// passages have no vector: an endpoint that is down costs only time. In memory it keeps a [vector.Quantised] set.
//
// A nil *vectors is the feature switched off.
type Vectors struct {
	o       Options
	wake    chan struct{}
	asked   *lru.Cache[string, []float32] // queries' vectors
	asking  chan struct{}                 // a token for each query that is being embedded
	life    context.Context
	die     context.CancelFunc
	queries sync.WaitGroup

	mu     sync.RWMutex
	space  vectorSpace       // zero until the dimension is known; changed by run alone
	proved bool              // the endpoint has returned vectors of this space since the start
	near   *vector.Quantised // nil until loaded
	slot   map[uint32]int    // of a passage
	sample int               // how many vectors its centre is the mean of
	trust  float64           // in the model, from 0 to 1: what the last trial gave
	tried  int               // vectors at that trial; 0: none was made
	swept  bool              // of run alone: what is of no use was deleted since the last load

	news    sync.Mutex
	waiting []uint32 // passages that may have no vector yet
	removed []uint32
	trouble string // why the background waits; empty if it does not
	without int    // passages that go without a vector until the next start
}

// Options configures vectors. All but withhold are needed.
type Options struct {
	Records  *store.Records                        // where they are kept
	Model    *llm.Client                           // what is asked for them
	Passages func() iter.Seq2[uint32, [16]byte]    // all passages, with the hashes under which they have vectors
	Passage  func(n uint32) (index.Passage, error) // one of them
	Live     func(hash [16]byte) bool              // reports whether a passage has a vector under it
	Whole    func() bool                           // false during a rebuild of the index
	Withhold func(d *index.Document) bool          // reports whether the model must not see a document; may be nil
	Log      *slog.Logger
}

// VectorState tells how far the vectors are.
type VectorState struct {
	Model     string `json:"model"`
	Dimension int    `json:"dimension,omitempty"` // 0 until the model answered
	Vectors   int    `json:"vectors"`
	Waiting   int    `json:"waiting"`            // passages without one
	Withheld  int    `json:"withheld,omitempty"` // passages that may not be told to the model, or that it would not take
	Trouble   string `json:"trouble,omitempty"`  // what keeps the background waiting
}

const (
	maxBatch       = 64        // passages in a request
	maxEmbedBytes  = 8 << 10   // of a passage's text: beyond it, the beginning stands for the whole
	maxVectorWrite = 512 << 10 // bytes in one change of the store
	goodSample     = 4096      // vectors whose mean is a good centre
	queriesAtOnce  = 4
)

// New returns the vectors of an index; nil without a model. Run, Changed, State and Close of nil do nothing, and
// Meaning must not be called.
func New(o Options) *Vectors {
	if o.Model == nil {
		return nil
	}
	asked, _ := lru.New[string, []float32](64) // fails for a size below 1 alone
	life, die := context.WithCancel(context.Background())
	return &Vectors{
		o: o, wake: make(chan struct{}, 1), asked: asked, asking: make(chan struct{}, queriesAtOnce), life: life, die: die,
		slot: map[uint32]int{},
	}
}

// Close ends queries under way.
func (v *Vectors) Close() {
	if v != nil {
		v.die()
		v.queries.Wait()
	}
}

// State returns how far the vectors are; nil when the feature is switched off.
func (v *Vectors) State() *VectorState {
	if v == nil {
		return nil
	}
	v.mu.RLock()
	s := &VectorState{Model: v.o.Model.Model(), Dimension: v.space.Dimension, Vectors: len(v.slot)}
	v.mu.RUnlock()
	v.news.Lock()
	defer v.news.Unlock()
	s.Waiting, s.Withheld, s.Trouble = len(v.waiting), v.without, v.trouble
	return s
}

// Changed notes that passages joined the index or left it. It neither blocks nor calls back.
func (v *Vectors) Changed(added, removed []uint32) {
	if v == nil {
		return
	}
	v.news.Lock()
	v.waiting = append(v.waiting, added...)
	v.removed = append(v.removed, removed...)
	v.news.Unlock()
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// Run makes vectors until ctx ends, and returns nil.
func (v *Vectors) Run(ctx context.Context) error {
	if v == nil {
		return nil
	}
	space, _ := v.findSpace()
	v.await(v.load(space))
	b := &embedding{v: v, size: maxBatch / 4}
	for failures := 0; ctx.Err() == nil; {
		v.forgetRemoved()
		more, err := b.next(ctx)
		if err != nil && ctx.Err() == nil {
			failures++
			wait := llm.WaitAfter(failures, err)
			if v.note(err.Error()) {
				v.o.Log.Warn("embedding waits", "err", err, "wait", wait)
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
			continue
		}
		failures = 0
		if v.note("") {
			v.o.Log.Info("embedding goes on")
		}
		if more {
			continue
		}
		if err := v.try(ctx); err != nil && ctx.Err() == nil {
			v.o.Log.Info("the model for embeddings is not tried yet", "err", err)
		}
		var later <-chan time.Time
		if !v.sweep() {
			later = time.After(time.Minute)
		}
		select {
		case <-v.wake:
		case <-later:
		case <-ctx.Done():
		}
	}
	return nil
}

// note records what the background waits for, and reports whether waiting began or ended with it.
func (v *Vectors) note(trouble string) bool {
	v.news.Lock()
	defer v.news.Unlock()
	turned := (trouble == "") != (v.trouble == "")
	v.trouble = trouble
	return turned
}

// load reads the vectors of a space from the disk into a new set in memory. It returns the passages without one, which
// are to be embedded.
func (v *Vectors) load(space vectorSpace) (missing []uint32) {
	live := map[[16]byte]uint32{}
	for n, hash := range v.o.Passages() {
		live[hash] = n
	}
	if space.Dimension == 0 {
		return slices.Sorted(maps.Values(live))
	}
	// The keys are hashes, so the first vectors are as good a sample as any.
	centre, sample := make([]float32, space.Dimension), 0
	x := make([]float32, space.Dimension)
	v.o.Records.Walk(space.prefix(), "", func(_ string, value []byte) bool {
		if readVector(x, value) {
			sample++
			for i := range x {
				centre[i] += x[i]
			}
		}
		return sample < goodSample
	})
	for i := range centre {
		centre[i] /= float32(max(sample, 1))
	}
	s, slot := vector.NewQuantised(centre), make(map[uint32]int, len(live))
	v.o.Records.Walk(space.prefix(), "", func(key string, value []byte) bool {
		hash := [16]byte([]byte(key[len(key)-16:]))
		if n, ok := live[hash]; ok && readVector(x, value) {
			slot[n] = s.Add(n, hash, x)
			delete(live, hash)
		}
		return v.life.Err() == nil
	})
	v.asked.Purge()
	v.mu.Lock()
	v.space, v.near, v.slot, v.sample = space, s, slot, sample
	v.mu.Unlock()
	v.swept = false
	return slices.Sorted(maps.Values(live)) // the oldest first
}

// await adds passages to those that wait for a vector.
func (v *Vectors) await(passages []uint32) {
	v.news.Lock()
	defer v.news.Unlock()
	v.waiting = append(v.waiting, passages...)
}

// erase deletes records. The next start finds again what could not be deleted.
func (v *Vectors) erase(keys []string) {
	for chunk := range slices.Chunk(keys, 1000) {
		changes := make([]store.Change, len(chunk))
		for i, key := range chunk {
			changes[i] = store.Change{Key: key, Gone: true}
		}
		if err := v.o.Records.Apply(changes...); err != nil {
			v.o.Log.Warn("vectors not deleted", "err", err)
			return
		}
	}
}

// forgetRemoved drops the vectors of passages that left the index.
func (v *Vectors) forgetRemoved() {
	v.news.Lock()
	removed := v.removed
	v.removed = nil
	v.news.Unlock()
	var hashes [][16]byte
	v.mu.Lock()
	for _, n := range removed {
		slot, ok := v.slot[n]
		if !ok {
			continue
		}
		_, hash := v.near.Passage(slot)
		hashes = append(hashes, hash)
		v.near.Remove(slot)
		delete(v.slot, n)
	}
	v.mu.Unlock()
	if gone, ok := v.dead(hashes); ok { // without the lock: the index must not wait for us while we wait for it
		v.erase(gone)
	} else if len(hashes) > 0 {
		v.swept = false // the texts come back
	}
}

// dead returns the keys of the vectors whose text no passage has. It reports false during a rebuild of the index: they
// are not known then.
func (v *Vectors) dead(hashes [][16]byte) (keys []string, ok bool) {
	for _, hash := range hashes {
		if !v.o.Live(hash) {
			keys = append(keys, v.space.vector(hash))
		}
	}
	return keys, v.o.Whole() // asked last: the index may have been emptied while we looked
}

// sweep deletes, once, the vectors of models that are no longer configured and of passages that are gone. It reports
// false if it must be called again: during a rebuild of the index it is not known which passages are gone.
func (v *Vectors) sweep() bool {
	if v.swept || v.space.Dimension == 0 {
		return true
	}
	var hashes [][16]byte
	v.o.Records.Keys(v.space.prefix(), "", func(key string) bool {
		hashes = append(hashes, [16]byte([]byte(key[len(key)-16:])))
		return v.life.Err() == nil
	})
	dead, ok := v.dead(hashes)
	if !ok {
		return false
	}
	v.dropOtherSpaces()
	v.erase(dead)
	v.swept = true
	return true
}
