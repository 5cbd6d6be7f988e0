package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"readthru/page"
	"readthru/store"
)

// rebuildKey exists while the index is being rebuilt. splitKey holds the largest size of its passages.
const (
	redoKey  = "k/y"
	splitKey = "k/ys"
)

// Progress is told of documents as they are done: this is the i-th of total, 0 when that is not known (rule D13).
type Progress func(i, total int, url string)

// redo is a rebuild: all pages are indexed in order of their keys, then all other documents.
type redo struct {
	from      page.Key
	documents bool // the pages are done
	progress  Progress
	done      int
	total     int
	left      atomic.Int64
}

// openRedo finds the rebuild to go on with: the one that was under way, or that of an index that was not there or was
// made with passages of another size.
func (k *Knowledge) openRedo() error {
	size := strconv.Itoa(k.split.MaxChars)
	before, err := k.records.Get(splitKey)
	if k.index.rebuilt || err != nil || string(before) != size {
		changes := []store.Change{{Key: splitKey, Value: []byte(size)}}
		if !k.empty() {
			changes = append(changes, store.Change{Key: redoKey})
		}
		if err := k.records.Apply(changes...); err != nil && !errors.Is(err, store.ErrFull) {
			return err
		}
	}
	if _, err := k.records.Get(redoKey); err == nil {
		k.redo = &redo{}
		k.redoing.Store(k.redo)
	}
	return nil
}

// empty reports whether there is nothing to index.
func (k *Knowledge) empty() bool {
	empty := len(k.store.PageKeys(page.Key{}, 1)) == 0
	k.records.Keys(headPrefix, "", func(string) bool { empty = false; return false })
	return empty
}

// Rebuild builds a new index from the stored pages and documents. Searches find each document as soon as it is indexed.
// Run or Drain completes a rebuild that was interrupted. Progress may be nil.
func (k *Knowledge) Rebuild(ctx context.Context, progress Progress) error {
	if err := k.startRedo(ctx, progress); err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	for k.rebuilding() > 0 {
		if _, err := k.step(ctx, true); err != nil {
			return fmt.Errorf("rebuild index: %w", err)
		}
	}
	return nil
}

func (k *Knowledge) startRedo(ctx context.Context, progress Progress) error {
	k.work.Lock()
	defer k.work.Unlock()
	return k.startRedoLocked(ctx, progress)
}

// startRedoLocked empties the index and has everything indexed again. Under work.
func (k *Knowledge) startRedoLocked(ctx context.Context, progress Progress) error {
	if err := k.records.Apply(store.Change{Key: redoKey}); err != nil {
		return err
	}
	// Before the index is emptied: whoever misses a passage in it must know why.
	k.redo = &redo{progress: progress}
	k.redoing.Store(k.redo)
	err := k.index.reset(ctx)
	k.bases.forget()
	return err
}

// rebuilding returns how many documents are still to be indexed again.
func (k *Knowledge) rebuilding() int64 {
	if r := k.redoing.Load(); r != nil {
		return max(r.left.Load(), 1)
	}
	return 0
}

// redoSome goes on with a rebuild. Under work.
func (k *Knowledge) redoSome(ctx context.Context) error {
	r := k.redo
	if r.total == 0 {
		r.total = int(k.store.Totals().Pages)
		k.records.Keys(headPrefix, "", func(string) bool { r.total++; return true })
	}
	keys := k.redoKeys(r)
	if len(keys) == 0 && r.documents {
		if err := k.records.Apply(store.Change{Key: redoKey, Gone: true}); err != nil {
			return err
		}
		k.redo = nil
		k.redoing.Store(nil)
		return nil
	}
	if len(keys) == 0 {
		r.documents, r.from = true, page.Key{}
		return nil
	}
	tasks := make([]*task, len(keys))
	for i, key := range keys {
		tasks[i] = &task{key: key}
	}
	err := k.do(ctx, tasks, func(d *Document) {
		r.done++
		r.left.Store(int64(r.total - r.done))
		if r.progress != nil {
			r.progress(r.done, max(r.total, r.done), d.URL)
		}
	})
	if err == nil {
		r.from = after(keys[len(keys)-1])
	}
	return err
}

// redoKeys returns the next documents of a rebuild.
func (k *Knowledge) redoKeys(r *redo) (keys []page.Key) {
	if !r.documents {
		return k.store.PageKeys(r.from, stepDocuments)
	}
	k.records.Keys(headPrefix, headKey(r.from), func(key string) bool {
		if key, ok := keyIn(key, headPrefix); ok {
			keys = append(keys, key)
		}
		return len(keys) < stepDocuments
	})
	return keys
}

// after returns the key that follows another.
func after(k page.Key) page.Key {
	for i := len(k) - 1; i >= 0; i-- {
		if k[i]++; k[i] != 0 {
			break
		}
	}
	return k
}
