package knowledge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// DeleteBase deletes a base, and every document, passage and annotation that belongs to nothing else: pages that were
// visited or belong to another base stay (rule D5). It returns the deleted base. The error is an [*UnknownBaseError],
// or wraps [ErrBuilding].
func (k *Knowledge) DeleteBase(ctx context.Context, name string) (Base, error) {
	base, generations, err := k.dropBase(name, "")
	if err != nil {
		return Base{}, err
	}
	k.clearAll(ctx, generations...)
	return base, nil
}

// dropBase removes the record of a base and marks its generations as garbage. With keepsPages as the mark, another node
// has deleted the base.
func (k *Knowledge) dropBase(name, mark string) (Base, []generation, error) {
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.named(name)
	if err != nil {
		return Base{}, nil, err
	}
	if s.busy[r.id()] {
		return Base{}, nil, fmt.Errorf("delete knowledge base %s: %w", name, ErrBuilding)
	}
	base := k.counted(r)
	id := r.id()
	generations := []generation{r.committed()}
	if r.BuildingGeneration != 0 {
		generations = append(generations, generation{id, r.BuildingGeneration})
	}
	changes := []store.Change{{Key: basePrefix + name, Gone: true}, {Key: baseIDPrefix + string(id[:]), Gone: true}}
	for _, g := range generations {
		changes = append(changes, store.Change{Key: garbagePrefix + g.key(), Value: []byte(mark)})
	}
	if mark != keepsPages {
		changes = append(changes, r.dropped(time.Now())...)
	}
	if err := k.records.Apply(changes...); err != nil {
		return Base{}, nil, fmt.Errorf("delete knowledge base %s: %w", name, err)
	}
	delete(s.byName, name)
	return base, generations, nil
}

// clearAll clears generations of bases that are deleted. What it cannot finish now is done later: they are marked.
func (k *Knowledge) clearAll(ctx context.Context, generations ...generation) {
	for _, g := range generations {
		if err := k.clear(ctx, g); err != nil {
			k.garbage.Store(true)
			k.log.Warn("knowledge base not cleared yet", "err", err)
		}
	}
	k.notify()
}

// clearMarked clears the generations of deleted bases that were marked and not cleared.
func (k *Knowledge) clearMarked(ctx context.Context) error {
	if !k.garbage.Swap(false) {
		return nil
	}
	var list []generation
	k.records.Keys(garbagePrefix, "", func(key string) bool {
		if len(key) == len(garbagePrefix)+generationLen {
			list = append(list, generationIn(key[len(garbagePrefix):]))
		}
		return true
	})
	for _, g := range list {
		if err := k.clear(ctx, g); err != nil {
			k.garbage.Store(true)
			return err
		}
	}
	return nil
}

// clear takes all documents out of a generation of a base, deletes those that nothing refers to any more, and what a
// crawl noted for it. It can be interrupted at any place: the mark of the generation goes last.
func (k *Knowledge) clear(ctx context.Context, g generation) error {
	prefix := memberPrefix + g.key()
	mark, _ := k.records.Get(garbagePrefix + g.key())
	for {
		var keys []page.Key
		k.records.Keys(prefix, "", func(key string) bool {
			if key, ok := archive.KeyIn(key, prefix); ok {
				keys = append(keys, key)
			}
			return len(keys) < 500
		})
		if len(keys) == 0 {
			break
		}
		for _, key := range keys {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := k.release(g, key, string(mark) == keepsPages); err != nil {
				return err
			}
		}
	}
	if err := index.DeletePrefix(k.records, crawlPrefix+g.key()); err != nil {
		return err
	}
	if _, err := k.records.Get(baseIDPrefix + string(g.base[:])); err != nil { // the base is gone
		if err := index.DeletePrefix(k.records, sourcePrefix+string(g.base[:])); err != nil {
			return err
		}
	}
	return k.records.Apply(store.Change{Key: garbagePrefix + g.key(), Gone: true})
}

// release takes a document out of a generation that is deleted. A document without an owner is deleted; a page only if
// it was never visited, and unless pages stay.
func (k *Knowledge) release(g generation, key page.Key, keepPages bool) error {
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := left(g, key)
	delete(s.sets, g)
	owners := s.owners(key)
	last := len(owners) == 0 || len(owners) == 1 && owners[0] == g
	if _, err := k.archive.Head(key); err == nil && last {
		return k.archive.Delete(key, append(gone, archive.Queued(key))...)
	}
	if p, err := k.store.PageAt(key); err == nil && last && p.VisitCount == 0 && !keepPages {
		// First the page: should we die here, the membership brings us back to it.
		if err := k.store.DeletePage(key); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return k.records.Apply(gone...)
}
