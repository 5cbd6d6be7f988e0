package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/readthru/readthru/knowledge/index/rank"
	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/store"
)

// commit writes a change and then makes memory agree with the disk. Its last transaction decides: the parts of a new
// segment that do not fit into it are written before, and nothing lists them until then.
func (c *change) commit() error {
	if len(c.puts) == 0 {
		return nil
	}
	x := c.x
	seg, blocks, err := c.segment()
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	plan := c.plan(seg)
	if err := c.write(seg, blocks, plan); err != nil {
		if seg != nil { // a full store must not fill up with records that will never be used
			err = errors.Join(err, x.drop(seg.ID))
		}
		return fmt.Errorf("write index: %w", err)
	}
	added, removed := c.applyToMemory(seg, plan)
	if x.o.Changed != nil && len(added)+len(removed) > 0 {
		x.o.Changed(added, removed)
	}
	x.merging.notify()
	return nil
}

// write commits a change to the disk.
func (c *change) write(seg *segment.Segment, blocks []store.Change, plan *ownership) error {
	x := c.x
	var early, last []store.Change
	if seg != nil {
		early = append(append(early, blocks...), seg.TableRecords()...)
		last = append(last, seg.Listing())
	}
	last = append(last, c.puts...)
	last = append(last, plan.puts...)
	for _, block := range slices.Sorted(maps.Keys(rowBlocks(c.docs))) {
		last = append(last, store.Change{Key: rowsKey(block), Value: x.docs.encodeBlock(block, c.docs)})
	}
	last = append(last, store.Change{Key: indexVersionKey, Value: c.next.encode()})
	if sizeOf(early)+sizeOf(last) <= store.MaxChangeBytes && len(early)+len(last) <= store.MaxChanges {
		last = append(early, last...)
	} else if err := ApplyAll(x.o.Records, early); err != nil {
		return err
	}
	return x.o.Records.Apply(last...)
}

// rowBlocks returns, for a commit, the blocks of the table of documents in which rows change.
func rowBlocks(rows map[uint32]docRow) map[uint32]bool {
	blocks := map[uint32]bool{}
	for number := range rows {
		blocks[number/documentBlock] = true
	}
	return blocks
}

// sizeOf returns how much of a commit changes take of a transaction of the store, in bytes, as the store counts.
func sizeOf(changes []store.Change) int {
	n := 0
	for i := range changes {
		n += len(changes[i].Key) + len(changes[i].Value) + 32
	}
	return n
}

// ApplyAll commits independent changes of records, those of the index or others, in as few transactions as possible.
func ApplyAll(r records, changes []store.Change) error {
	for len(changes) > 0 {
		n, bytes := 0, 0
		for n < len(changes) && n < store.MaxChanges {
			if bytes += sizeOf(changes[n : n+1]); bytes > store.MaxChangeBytes && n > 0 {
				break
			}
			n++
		}
		if err := r.Apply(changes[:n]...); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// segment returns, to be committed, a segment of the new passages and the records of its blocks, or nil if there are no
// new passages.
func (c *change) segment() (*segment.Segment, []store.Change, error) {
	if len(c.hashes) == 0 {
		return nil, nil, nil
	}
	s := &segment.Segment{ID: c.x.lastSegment.Add(1), Hashes: c.hashes, Lengths: c.x.build.Lengths}
	c.next.passage = c.base + uint32(len(c.hashes))
	sums := c.x.sums
	for i, l := range s.Lengths {
		number := c.base + uint32(i)
		s.Numbers = append(s.Numbers, number)
		owner := uint32(0)
		if owners := c.owners[number]; len(owners) > 0 {
			owner = owners[0]
		}
		s.Owners = append(s.Owners, owner)
		sums.add(l, 1)
	}
	s.Averages = sums.averages()
	var blocks []store.Change
	err := c.x.build.Finish(s, rank.Bounds(s.Averages), func(b []byte) error {
		blocks = append(blocks, s.BlockRecord(uint32(len(blocks)), b))
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return s, blocks, nil
}

// owned is the new ownership of a passage.
type owned struct {
	s      *segment.Segment
	ord    uint32
	owners []uint32
}

// ownership is how a change alters which documents own which passages.
type ownership struct {
	touched  []owned
	sharedBy map[uint32][]uint32 // of the documents that change
	puts     []store.Change
}

// plan computes the records of ownership that are committed: which passages die or lose the owner in their table, and
// which further passages documents own.
func (c *change) plan(fresh *segment.Segment) *ownership {
	x := c.x
	o := &ownership{sharedBy: map[uint32][]uint32{}}
	type part struct {
		s *segment.Segment
		n int
	}
	parts := map[part]bool{}
	edit := func(doc, number uint32, add bool) {
		list, ok := o.sharedBy[doc]
		if !ok {
			list = slices.Clone(x.sharedBy[doc])
		}
		i, has := slices.BinarySearch(list, number)
		switch {
		case add && !has:
			list = slices.Insert(list, i, number)
		case !add && has:
			list = slices.Delete(list, i, i+1)
		case !ok:
			return
		}
		o.sharedBy[doc] = list
	}
	for _, number := range slices.Sorted(maps.Keys(c.owners)) {
		s := fresh
		if number < c.base {
			s = segment.Of(x.segments, number)
		}
		if s == nil {
			continue
		}
		ord, ok := s.Ordinal(number)
		if !ok {
			continue
		}
		owners := c.owners[number]
		o.touched = append(o.touched, owned{s, ord, owners})
		var before []uint32
		if number < c.base {
			before = x.owners(s, ord)
		}
		if slices.Equal(owners, before) && len(owners) > 0 {
			continue
		}
		table := s.Owners[ord]
		for _, doc := range before {
			if _, still := slices.BinarySearch(owners, doc); !still {
				edit(doc, number, false)
			}
		}
		for _, doc := range owners {
			if doc != table {
				edit(doc, number, true)
			}
		}
		_, has := slices.BinarySearch(owners, table)
		wasDead, wasOrphan := s.Dead.Has(ord), s.Orphans.Has(ord)
		if s == fresh {
			wasDead, wasOrphan = false, false
		}
		if (len(owners) == 0) != wasDead || !has != wasOrphan {
			parts[part{s, segment.ChangesPartOf(ord)}] = true
		}
	}
	// The sets are encoded as they will be, on a copy: memory must not change before the disk has.
	copies := map[*segment.Segment]*segment.Segment{}
	for _, t := range o.touched {
		s := copies[t.s]
		if s == nil {
			s = t.s.Changeable()
			copies[t.s] = s
		}
		s.Own(t.ord, t.owners)
	}
	for p := range parts {
		o.puts = append(o.puts, copies[p.s].ChangesRecord(p.n))
	}
	for doc, list := range o.sharedBy {
		if len(list) == 0 {
			o.puts = append(o.puts, store.Change{Key: sharedKey(doc), Gone: true})
		} else {
			o.puts = append(o.puts, store.Change{Key: sharedKey(doc), Value: segment.EncodeNumbers(list)})
		}
	}
	return o
}

// applyToMemory applies a committed change to what memory holds, and returns the passages that were added and removed.
func (c *change) applyToMemory(fresh *segment.Segment, o *ownership) (added, removed []uint32) {
	x := c.x
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next = c.next
	if fresh != nil {
		x.segments = append(x.segments, fresh)
		for i := range fresh.Numbers {
			fresh.Dead.Add(uint32(i)) // until it gets an owner below
		}
		fresh.Live = 0
	}
	for _, t := range o.touched {
		number := t.s.Numbers[t.ord]
		was := !t.s.Dead.Has(t.ord)
		t.s.Own(t.ord, t.owners)
		switch is := len(t.owners) > 0; {
		case is && !was:
			t.s.Live++
			x.sums.add(t.s.Lengths[t.ord], 1)
			x.table(t.s.Lengths[t.ord].Kind).set(t.s.Hashes[t.ord], number)
			added = append(added, number)
		case was && !is:
			t.s.Live--
			x.sums.add(t.s.Lengths[t.ord], -1)
			x.table(t.s.Lengths[t.ord].Kind).remove(t.s.Hashes[t.ord], number)
			removed = append(removed, number)
		}
		delete(x.shared, number)
		if rest := without(t.owners, t.s.Owners[t.ord]); len(rest) > 0 {
			x.shared[number] = rest
		}
	}
	for doc, list := range o.sharedBy {
		if len(list) == 0 {
			delete(x.sharedBy, doc)
		} else {
			x.sharedBy[doc] = list
		}
	}
	for number, row := range c.docs {
		x.docs.set(number, row)
	}
	return added, removed
}

// without returns, after a commit, a sorted list without a number, as a copy: searches may hold the old one.
func without(list []uint32, n uint32) []uint32 {
	i, has := slices.BinarySearch(list, n)
	if !has {
		return slices.Clone(list)
	}
	return slices.Delete(slices.Clone(list), i, i+1)
}

// sweep deletes what a change that was not committed left behind: parts of segments that are not listed.
func (x *Index) sweep() error {
	listed := map[uint32]bool{}
	for _, s := range x.segments {
		listed[s.ID] = true
	}
	for _, prefix := range []string{segment.BlockPrefix, segment.TablePrefix, segment.ChangesPrefix} {
		from := prefix
		for {
			found := ""
			x.o.Records.Keys(prefix, from, func(key string) bool { found = key; return false })
			if found == "" {
				break
			}
			id := binary.BigEndian.Uint32([]byte(found[len(prefix):]))
			x.lastSegment.Store(max(x.lastSegment.Load(), id))
			if !listed[id] {
				if err := DeletePrefix(x.o.Records, prefix+segment.BigEndian(id)); err != nil {
					return err
				}
			}
			if id == math.MaxUint32 {
				break
			}
			from = prefix + segment.BigEndian(id+1)
		}
	}
	return nil
}
