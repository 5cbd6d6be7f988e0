package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/note"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// rebuildKey exists while the index is being rebuilt. splitKey holds the largest size of its passages, and the edition
// of the cleaner that their texts passed.
const (
	rebuildKey = "k/y"
	splitKey   = "k/ys"
)

// Progress is told of documents as they are done: this is the i-th of total, 0 when that is not known (rule D13).
type Progress func(i, total int, url string)

// rebuild is how far the index has been built again from what is stored: all pages in order of their keys, then the
// other documents, then the notes.
type rebuild struct {
	from      page.Key
	documents bool     // the pages are done
	notes     bool     // the documents are done
	after     note.End // of the notes: the last that is done
	progress  Progress
	done      int
	total     int
	left      atomic.Int64
}

// openRebuild decides at the start whether to rebuild: it continues an interrupted rebuild, and starts one if there is
// no index, or if it has passages of another size or of texts that another edition of the cleaner passed.
func (k *Knowledge) openRebuild() error {
	size := strconv.Itoa(k.split.MaxChars)
	if k.cleaner.Edition > 0 {
		size += " cleaned " + strconv.Itoa(k.cleaner.Edition)
	}
	before, err := k.records.Get(splitKey)
	if k.index.Rebuilt || err != nil || string(before) != size {
		changes := []store.Change{{Key: splitKey, Value: []byte(size)}}
		if !k.empty() {
			changes = append(changes, store.Change{Key: rebuildKey})
		}
		if err := k.records.Apply(changes...); err != nil && !errors.Is(err, store.ErrFull) {
			return err
		}
	}
	if _, err := k.records.Get(rebuildKey); err == nil {
		k.rebuild = &rebuild{}
		k.rebuildSeen.Store(k.rebuild)
	}
	return nil
}

// empty reports, for a rebuild, whether nothing is stored that could be indexed: no page, no document and no note.
func (k *Knowledge) empty() bool {
	empty := len(k.store.PageKeys(page.Key{}, 1)) == 0
	for _, prefix := range []string{archive.HeadPrefix, note.Prefix} {
		k.records.Keys(prefix, "", func(string) bool { empty = false; return false })
	}
	return empty
}

// Rebuild builds a new index from the stored pages and documents. Searches find each document as soon as it is indexed.
// Run or Drain completes a rebuild that was interrupted. Progress may be nil.
func (k *Knowledge) Rebuild(ctx context.Context, progress Progress) error {
	if err := k.startRebuild(ctx, progress); err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	for k.rebuilding() > 0 {
		if _, err := k.step(ctx, true); err != nil {
			return fmt.Errorf("rebuild index: %w", err)
		}
	}
	return nil
}

// startRebuild is startRebuildLocked for a caller that does not hold work.
func (k *Knowledge) startRebuild(ctx context.Context, progress Progress) error {
	k.work.Lock()
	defer k.work.Unlock()
	return k.startRebuildLocked(ctx, progress)
}

// startRebuildLocked empties the index and starts to index everything again. The caller holds work.
func (k *Knowledge) startRebuildLocked(ctx context.Context, progress Progress) error {
	if err := k.records.Apply(store.Change{Key: rebuildKey}); err != nil {
		return err
	}
	// Before the index is emptied: whoever misses a passage in it must know why.
	k.rebuild = &rebuild{progress: progress}
	k.rebuildSeen.Store(k.rebuild)
	err := k.index.Reset(ctx)
	k.bases.forget()
	return err
}

// rebuilding returns how many documents are still to be indexed again.
func (k *Knowledge) rebuilding() int64 {
	if r := k.rebuildSeen.Load(); r != nil {
		return max(r.left.Load(), 1)
	}
	return 0
}

// continueRebuild indexes the next documents of a rebuild. The caller holds work.
func (k *Knowledge) continueRebuild(ctx context.Context) error {
	r := k.rebuild
	if r.total == 0 {
		r.total = int(k.store.Totals().Pages)
		for _, prefix := range []string{archive.HeadPrefix, note.Prefix} {
			k.records.Keys(prefix, "", func(string) bool { r.total++; return true })
		}
	}
	keys := k.rebuildKeys(r)
	if len(keys) == 0 && r.notes {
		if err := k.records.Apply(store.Change{Key: rebuildKey, Gone: true}); err != nil {
			return err
		}
		k.rebuild = nil
		k.rebuildSeen.Store(nil)
		return nil
	}
	if len(keys) == 0 {
		r.documents, r.notes, r.from = true, r.documents, page.Key{}
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
		last := keys[len(keys)-1]
		r.from = after(last)
		r.after, _ = note.In(last)
	}
	return err
}

// rebuildKeys returns the keys of the next documents of a rebuild, at most stepDocuments: first pages, then documents,
// then notes.
func (k *Knowledge) rebuildKeys(r *rebuild) (keys []page.Key) {
	if !r.documents {
		return k.store.PageKeys(r.from, stepDocuments)
	}
	if r.notes {
		from := ""
		if r.after != "" {
			from = string(r.after[1:])
		}
		k.notes.All(from, func(e note.End) bool {
			if e != r.after {
				keys = append(keys, note.KeyOf(e))
			}
			return len(keys) < stepDocuments
		})
		return keys
	}
	k.records.Keys(archive.HeadPrefix, archive.HeadKey(r.from), func(key string) bool {
		if key, ok := archive.KeyIn(key, archive.HeadPrefix); ok {
			keys = append(keys, key)
		}
		return len(keys) < stepDocuments
	})
	return keys
}

// after returns the key that follows another, from which the next portion of a rebuild begins.
func after(k page.Key) page.Key {
	for i := len(k) - 1; i >= 0; i-- {
		if k[i]++; k[i] != 0 {
			break
		}
	}
	return k
}
