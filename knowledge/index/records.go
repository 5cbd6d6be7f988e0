package index

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
	segmentPrefix = "k/s/"
	tablePrefix   = "k/p/"
	changesPrefix = "k/r/"
	blockPrefix   = "k/t/"
)

// bigEndian returns numbers as they stand in keys.
func bigEndian(n ...uint32) string {
	var b []byte
	for _, n := range n {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return string(b)
}

func blockKey(id, block uint32) string { return blockPrefix + bigEndian(id, block) }

// listing is the record that lists the segment. The others must be written before it, or with it.
func (s *segment) listing() store.Change {
	return store.Change{Key: segmentPrefix + bigEndian(s.id), Value: s.encodeMeta()}
}

// unlisting deletes the record that lists the segment.
func (s *segment) unlisting() store.Change {
	return store.Change{Key: segmentPrefix + bigEndian(s.id), Gone: true}
}

// blockRecord is the record of a block of terms.
func (s *segment) blockRecord(block uint32, b []byte) store.Change {
	return store.Change{Key: blockKey(s.id, block), Value: b}
}

// tableRecords are the records of the segment's table.
func (s *segment) tableRecords() (records []store.Change) {
	for part := range s.parts() {
		key := tablePrefix + bigEndian(s.id, uint32(part))
		records = append(records, store.Change{Key: key, Value: s.encodeTable(part)})
	}
	return records
}

// changesPartOf returns which part of the sets that change has a passage.
func changesPartOf(ord uint32) int { return int(ord / changesPart) }

// changesRecord is the record of a part of the sets that change.
func (s *segment) changesRecord(part int) store.Change {
	return store.Change{Key: changesPrefix + bigEndian(s.id, uint32(part)), Value: s.encodeChanges(part)}
}

// changesRecords are the records of those parts of the sets that are not empty.
func (s *segment) changesRecords() (records []store.Change) {
	for part := 0; part*changesPart < s.len(); part++ {
		if s.changed(part) {
			records = append(records, s.changesRecord(part))
		}
	}
	return records
}

// walkRecords calls f for the records whose keys begin with prefix until it returns false, see [store.Records.Walk].
type walkRecords func(prefix, from string, f func(key string, value []byte) bool)

// loadSegments reads the segments that are listed, in the order of their passages' numbers.
func loadSegments(walk walkRecords) (segments []*segment, err error) {
	walk(segmentPrefix, "", func(key string, b []byte) bool {
		s := &segment{id: binary.BigEndian.Uint32([]byte(key[len(segmentPrefix):]))}
		if err = s.load(walk, b); err == nil {
			segments = append(segments, s)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(segments, func(a, b *segment) int { return cmp.Compare(a.numbers[0], b.numbers[0]) })
	return segments, nil
}

// load reads a segment whose listing is meta.
func (s *segment) load(walk walkRecords, meta []byte) error {
	n, err := s.decodeMeta(meta)
	if err != nil {
		return err
	}
	s.makeRoom(n)
	walk(tablePrefix+bigEndian(s.id), "", func(_ string, b []byte) bool {
		err = s.decodeTable(b)
		return err == nil
	})
	if err == nil && (s.len() != n || n == 0) {
		err = fmt.Errorf("segment %d has %d of %d passages: %w", s.id, s.len(), n, errSegment)
	}
	if err != nil {
		return err
	}
	s.ready()
	walk(changesPrefix+bigEndian(s.id), "", func(key string, b []byte) bool {
		part := binary.BigEndian.Uint32([]byte(key[len(changesPrefix)+4:]))
		if part > uint32(s.len()/changesPart) {
			err = errSegment
		} else {
			err = s.decodeChanges(int(part), b)
		}
		return err == nil
	})
	for _, dead := range s.dead {
		s.live -= bits.OnesCount64(dead)
	}
	return err
}
