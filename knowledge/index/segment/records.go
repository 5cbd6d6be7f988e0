package segment

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/readthru/readthru/store"
)

// Keys of segments. Numbers are big-endian.
//
//	k/s/<segment u32>              segment: the list of segments is the list of these
//	k/p/<segment u32><part u32>    tablePart rows of a segment's passages
//	k/r/<segment u32><part u32>    which of changesPart passages are dead, or lost the owner in the table
//	k/t/<segment u32><block u32>   terms
const (
	ListPrefix    = "k/s/"
	TablePrefix   = "k/p/"
	ChangesPrefix = "k/r/"
	BlockPrefix   = "k/t/"
)

// BigEndian returns numbers as they stand in the keys of records.
func BigEndian(n ...uint32) string {
	var b []byte
	for _, n := range n {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return string(b)
}

func blockKey(id, block uint32) string { return BlockPrefix + BigEndian(id, block) }

// Listing is the record that lists the segment. The others must be written before it, or with it.
func (s *Segment) Listing() store.Change {
	return store.Change{Key: ListPrefix + BigEndian(s.ID), Value: s.encodeMeta()}
}

// Unlisting deletes the record that lists the segment.
func (s *Segment) Unlisting() store.Change {
	return store.Change{Key: ListPrefix + BigEndian(s.ID), Gone: true}
}

// BlockRecord is the record of a block of terms.
func (s *Segment) BlockRecord(block uint32, b []byte) store.Change {
	return store.Change{Key: blockKey(s.ID, block), Value: b}
}

// TableRecords are the records of the segment's table.
func (s *Segment) TableRecords() (records []store.Change) {
	for part := range s.parts() {
		key := TablePrefix + BigEndian(s.ID, uint32(part))
		records = append(records, store.Change{Key: key, Value: s.encodeTable(part)})
	}
	return records
}

// ChangesPartOf returns which part of the sets that change has a passage.
func ChangesPartOf(ord uint32) int { return int(ord / changesPart) }

// ChangesRecord is the record of a part of the sets that change.
func (s *Segment) ChangesRecord(part int) store.Change {
	return store.Change{Key: ChangesPrefix + BigEndian(s.ID, uint32(part)), Value: s.encodeChanges(part)}
}

// ChangesRecords are the records of those parts of the sets that are not empty.
func (s *Segment) ChangesRecords() (records []store.Change) {
	for part := 0; part*changesPart < s.Len(); part++ {
		if s.changed(part) {
			records = append(records, s.ChangesRecord(part))
		}
	}
	return records
}

// walkRecords calls f for the records whose keys begin with prefix until it returns false, see [store.Records.Walk].
type walkRecords func(prefix, from string, f func(key string, value []byte) bool)

// Load reads the records of the segments that are listed, in the order of their passages' numbers.
func Load(walk walkRecords) (segments []*Segment, err error) {
	walk(ListPrefix, "", func(key string, b []byte) bool {
		s := &Segment{ID: binary.BigEndian.Uint32([]byte(key[len(ListPrefix):]))}
		if err = s.load(walk, b); err == nil {
			segments = append(segments, s)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(segments, func(a, b *Segment) int { return cmp.Compare(a.Numbers[0], b.Numbers[0]) })
	return segments, nil
}

// load reads the records of a segment whose listing is meta.
func (s *Segment) load(walk walkRecords, meta []byte) error {
	n, err := s.decodeMeta(meta)
	if err != nil {
		return err
	}
	s.makeRoom(n)
	walk(TablePrefix+BigEndian(s.ID), "", func(_ string, b []byte) bool {
		err = s.decodeTable(b)
		return err == nil
	})
	if err == nil && (s.Len() != n || n == 0) {
		err = fmt.Errorf("segment %d has %d of %d passages: %w", s.ID, s.Len(), n, ErrDamaged)
	}
	if err != nil {
		return err
	}
	s.ready()
	walk(ChangesPrefix+BigEndian(s.ID), "", func(key string, b []byte) bool {
		part := binary.BigEndian.Uint32([]byte(key[len(ChangesPrefix)+4:]))
		if part > uint32(s.Len()/changesPart) {
			err = ErrDamaged
		} else {
			err = s.decodeChanges(int(part), b)
		}
		return err == nil
	})
	for _, dead := range s.Dead {
		s.Live -= bits.OnesCount64(dead)
	}
	return err
}
