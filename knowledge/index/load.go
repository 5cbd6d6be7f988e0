package index

import (
	"encoding/binary"
	"fmt"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/segment"
)

// encode returns the record of the next numbers, which is loaded first.
func (c counters) encode() []byte {
	b := binary.AppendUvarint(nil, analysis.Version)
	for _, n := range []uint32{c.passage, c.document} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// load reads the index into memory. The error is store.ErrNotFound if there is no index.
func (x *Index) load() error {
	b, err := x.o.Records.Get(indexVersionKey)
	if err != nil {
		return err
	}
	version, b := segment.Uvarint(b)
	if version != analysis.Version {
		return fmt.Errorf("index format %d, want %d", version, analysis.Version)
	}
	for _, n := range []*uint32{&x.next.passage, &x.next.document} {
		var v uint64
		v, b = segment.Uvarint(b)
		*n = uint32(v)
	}
	x.o.Records.Walk(rowsPrefix, "", func(key string, b []byte) bool {
		err = x.docs.decodeBlock(binary.BigEndian.Uint32([]byte(key[len(rowsPrefix):])), b)
		return err == nil
	})
	if err != nil {
		return err
	}
	if x.segments, err = segment.Load(x.o.Records.Walk); err != nil {
		return err
	}
	if err := x.take(); err != nil {
		return err
	}
	if n := len(x.segments); n > 0 && x.segments[n-1].Last() >= x.next.passage || len(x.docs.rows) > int(x.next.document) {
		return fmt.Errorf("passage numbers not recorded: %w", segment.ErrDamaged) // records of another moment
	}
	x.o.Records.Walk(sharedPrefix, "", func(key string, b []byte) bool {
		var numbers []uint32
		if numbers, err = segment.DecodeNumbers(b); err == nil {
			x.loadShared(binary.BigEndian.Uint32([]byte(key[len(sharedPrefix):])), numbers)
		}
		return err == nil
	})
	for _, s := range x.segments {
		for i, number := range s.Numbers {
			if s.Orphans.Has(uint32(i)) && len(x.shared[number]) == 0 {
				return fmt.Errorf("passage %d has no owner: %w", number, segment.ErrDamaged)
			}
		}
		x.lastSegment.Store(max(x.lastSegment.Load(), s.ID))
	}
	return err
}

// take enters the passages of the segments that were loaded in what memory holds beside them: the tables of hashes and
// the sums of lengths. The error is segment.ErrDamaged if a passage belongs to a document that does not exist.
func (x *Index) take() error {
	passages := 0
	for _, s := range x.segments {
		passages += s.Len()
	}
	x.byHash.makeRoom(passages)
	x.blocks.Fit(x.segments)
	for _, s := range x.segments {
		for i := range s.Numbers {
			owner, ord := s.Owners[i], uint32(i)
			// A record of the documents that is lost leaves a gap among those that follow.
			if int(owner) >= len(x.docs.rows) || !s.Dead.Has(ord) && !s.Orphans.Has(ord) && !x.docs.rows[owner].live {
				return fmt.Errorf("passage %d belongs to no document: %w", s.Numbers[i], segment.ErrDamaged)
			}
			if s.Dead.Has(ord) {
				continue
			}
			x.table(s.Lengths[i].Kind).set(s.Hashes[i], s.Numbers[i])
			x.sums.add(s.Lengths[i], 1)
		}
	}
	return nil
}

// loadShared enters for a document which passages it shares with others.
func (x *Index) loadShared(doc uint32, numbers []uint32) {
	if int(doc) >= len(x.docs.rows) {
		return
	}
	for _, number := range numbers {
		s := segment.Of(x.segments, number)
		if s == nil {
			continue
		}
		if i, ok := s.Ordinal(number); ok && !s.Dead.Has(i) && s.Owners[i] != doc {
			x.shared[number] = append(x.shared[number], doc)
		}
	}
	x.sharedBy[doc] = numbers
}

// unreadable records that a segment could not be loaded. The caller holds mu for reading.
func (x *Index) unreadable(s *segment.Segment, err error) {
	if !x.damaged.Swap(true) {
		x.o.Log.Error("index is damaged and must be rebuilt", "segment", s.ID, "error", err)
	}
}
