package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/knowledge/index/rank"
	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/store"
)

const (
	// mergeWidth is the least number of neighbouring segments to merge. The result must have mergeGrowth times the size
	// of the largest: so a passage is copied only a few times, even if passages arrive in small numbers.
	mergeWidth  = 8
	mergeGrowth = 4

	// fewDead is how many dead passages a segment may have, whatever its size.
	fewDead = 128

	// mergeBlocks is how many blocks a merge writes at once. A change waits for at most one such transaction.
	mergeBlocks = 6

	// restAtStart is how long an index that earlier processes left with work to do is not merged: a start answers
	// requests first, and a process of a few seconds would only begin what the next one begins again.
	restAtStart = 30 * time.Second
)

// merging is the state of the background work.
type merging struct {
	wake   chan struct{} // capacity 1
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex // held over a merge
}

// notify wakes the goroutine that merges segments.
func (m *merging) notify() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// MergeAtStart begins to merge in the background: after a rest if an earlier process left work to do. The caller holds
// the index.
func (x *Index) MergeAtStart() {
	rest := restAtStart
	if x.unmerged() == nil {
		rest = 0
	}
	x.startMerging(rest)
}

// startMerging begins to merge in the background, after a rest.
func (x *Index) startMerging(rest time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	x.merging.cancel = cancel
	x.merging.wg.Go(fault.Forever(ctx, "knowledge: merge in the background", func(ctx context.Context) {
		if rest > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(rest):
			}
		}
		for {
			select {
			case <-ctx.Done():
				return
			case <-x.merging.wake:
			}
			if err := fault.Catch("knowledge: merge", func() error { return x.mergeAll(ctx) }); err != nil && ctx.Err() == nil {
				x.o.Log.Warn("merge of segments", "error", err)
			}
		}
	}))
	x.merging.notify()
}

// stopMerging ends the background merging and waits for it. What an unfinished merge has written is swept away at the
// next start.
func (x *Index) stopMerging() {
	if x.merging.cancel != nil {
		x.merging.cancel()
	}
	x.merging.wg.Wait()
}

// mergeAll merges until no segments need it.
func (x *Index) mergeAll(ctx context.Context) error {
	x.merging.mu.Lock()
	defer x.merging.mu.Unlock()
	for {
		x.mu.RLock()
		group := slices.Clone(x.unmerged())
		x.mu.RUnlock()
		if len(group) == 0 {
			return nil
		}
		if err := x.merge(ctx, group); err != nil {
			x.markIfDamaged(group, err)
			return err
		}
	}
}

// Purge merges anew: it rewrites the segments that hold passages that have died by now, so that their words are no
// longer stored.
func (x *Index) Purge(ctx context.Context) error {
	x.merging.mu.Lock()
	defer x.merging.mu.Unlock()
	x.mu.RLock()
	segments := slices.Clone(x.segments)
	x.mu.RUnlock()
	for _, s := range segments {
		x.mu.RLock()
		clean := s.Live == s.Len()
		x.mu.RUnlock()
		if clean {
			continue
		}
		if err := x.merge(ctx, []*segment.Segment{s}); err != nil {
			x.markIfDamaged([]*segment.Segment{s}, err)
			return err
		}
	}
	return nil
}

// unmerged returns the segments to merge next, nil if there are none. The caller holds x.mu.
func (x *Index) unmerged() []*segment.Segment {
	sizes := make([]segmentSize, len(x.segments))
	for i, s := range x.segments {
		sizes[i] = segmentSize{s.Len(), s.Live}
	}
	from, to := toMerge(sizes)
	if from == to {
		return nil
	}
	return x.segments[from:to]
}

// markIfDamaged marks the index as damaged if that is why a merge failed.
func (x *Index) markIfDamaged(group []*segment.Segment, err error) {
	if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, segment.ErrDamaged) {
		return
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if slices.Contains(x.segments, group[0]) { // else the index was emptied under the merge
		x.unreadable(group[0], err)
	}
}

// segmentSize is the size of a segment in passages. The choice of a merge depends on it.
type segmentSize struct{ all, live int }

// toMerge returns the range [from, to) of neighbouring segments to merge, which is empty if there are none. A segment
// of which a third is dead is rewritten alone.
func toMerge(sizes []segmentSize) (from, to int) {
	if from, to = neighbours(sizes, 0, len(sizes)); from < to {
		return from, to
	}
	for i, s := range sizes {
		if s.all-s.live > max(s.all/3, fewDead) || s.live == 0 {
			return i, i + 1
		}
	}
	return 0, 0
}

// neighbours makes the choice of toMerge within a range: all of it, or a part without its largest segment.
func neighbours(sizes []segmentSize, from, to int) (int, int) {
	if to-from < mergeWidth {
		return 0, 0
	}
	largest, sum := from, 0
	for i := from; i < to; i++ {
		sum += sizes[i].live
		if sizes[i].live > sizes[largest].live {
			largest = i
		}
	}
	if sum >= mergeGrowth*sizes[largest].live && sum <= segment.Largest {
		return from, to
	}
	if a, b := neighbours(sizes, largest+1, to); a < b {
		return a, b
	}
	return neighbours(sizes, from, largest)
}

// merge merges neighbouring segments. Searches and changes go on meanwhile; only the swap at the end excludes them.
func (x *Index) merge(ctx context.Context, group []*segment.Segment) error {
	x.mu.RLock()
	m := segment.NewMerger(x.lastSegment.Add(1), group, func(number uint32) uint32 { return x.shared[number][0] })
	merged := m.Merged
	merged.Averages = x.sums.averages()
	x.mu.RUnlock()

	if merged.Len() > 0 {
		if err := x.writeMerged(ctx, m); err != nil {
			return errors.Join(fmt.Errorf("merge %d segments: %w", len(group), err), x.drop(merged.ID))
		}
	}
	if err := x.swap(group, merged); err != nil {
		return errors.Join(fmt.Errorf("merge %d segments: %w", len(group), err), x.drop(merged.ID))
	}
	for _, s := range group {
		if err := x.drop(s.ID); err != nil {
			return err
		}
	}
	return nil
}

// writeMerged writes the terms and the table of a segment that is not listed yet.
func (x *Index) writeMerged(ctx context.Context, m *segment.Merger) error {
	var pending []store.Change
	block := uint32(0)
	flush := func() error {
		err := ApplyAll(x.o.Records, pending)
		pending = pending[:0]
		return errors.Join(err, ctx.Err())
	}
	err := m.Write(x.blocks, rank.Bounds(m.Merged.Averages), func(b []byte) error {
		pending = append(pending, m.Merged.BlockRecord(block, b))
		block++
		if len(pending) < mergeBlocks {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	pending = append(pending, m.Merged.TableRecords()...)
	return flush()
}

// swap replaces the merged segments with the new one in the list of segments, on disk and then in memory. Owners that
// changed while the new one was written are taken over.
func (x *Index) swap(group []*segment.Segment, merged *segment.Segment) error {
	x.write.Lock()
	defer x.write.Unlock()
	at := slices.Index(x.segments, group[0])
	if at < 0 { // the index was emptied
		return errors.New("segments no longer exist")
	}
	// The old segments have what changed while the new one was written.
	shared := map[uint32][]uint32{}   // of passages
	sharedBy := map[uint32][]uint32{} // of documents
	for _, s := range group {
		for i, number := range s.Numbers {
			ord, ok := merged.Ordinal(number)
			if !ok {
				continue
			}
			owners := x.owners(s, uint32(i))
			merged.Own(ord, owners)
			if len(owners) == 0 {
				merged.Live--
			}
			if rest := without(owners, merged.Owners[ord]); len(rest) > 0 {
				shared[number] = rest
			}
			// A document that was the owner in the old table, but is not in the new one, is a further owner.
			if old := s.Owners[i]; old != merged.Owners[ord] && !s.Orphans.Has(uint32(i)) && len(owners) > 0 {
				if sharedBy[old] == nil {
					sharedBy[old] = slices.Clone(x.sharedBy[old])
				}
				at, has := slices.BinarySearch(sharedBy[old], number)
				if !has {
					sharedBy[old] = slices.Insert(sharedBy[old], at, number)
				}
			}
		}
	}
	var changes []store.Change
	for _, s := range group {
		changes = append(changes, s.Unlisting())
	}
	if merged.Len() > 0 {
		changes = append(append(changes, merged.Listing()), merged.ChangesRecords()...)
	}
	for doc, list := range sharedBy {
		changes = append(changes, store.Change{Key: sharedKey(doc), Value: segment.EncodeNumbers(list)})
	}
	if err := x.o.Records.Apply(changes...); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	segments := slices.Clone(x.segments[:at])
	if merged.Len() > 0 {
		segments = append(segments, merged)
	}
	x.segments = append(segments, x.segments[at+len(group):]...)
	for _, number := range merged.Numbers {
		delete(x.shared, number)
	}
	maps.Copy(x.shared, shared)
	maps.Copy(x.sharedBy, sharedBy)
	x.blocks.Fit(x.segments)
	return nil
}

// drop deletes the terms and the table of a segment that merging has replaced, or that is not listed.
func (x *Index) drop(id uint32) error {
	for _, prefix := range []string{segment.BlockPrefix, segment.TablePrefix, segment.ChangesPrefix} {
		if err := DeletePrefix(x.o.Records, prefix+segment.BigEndian(id)); err != nil {
			return fmt.Errorf("drop segment %d: %w", id, err)
		}
	}
	return nil
}
