package index

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/page"
)

// docRow is the part of a document that is kept in memory.
type docRow struct {
	key     page.Key
	host    uint32 // its name's number in docTable.names
	kind    uint32
	fetched int64 // Unix seconds
	live    bool
}

// docTable holds all documents by number. Its rows are stored in blocks of documentBlock.
type docTable struct {
	rows  []docRow
	names names // hosts and kinds
	live  int
}

const documentBlock = 128

// encodeBlock encodes a block of rows of the table of documents with the changes of changed.
func (d *docTable) encodeBlock(block uint32, changed map[uint32]docRow) []byte {
	from := block * documentBlock
	to := min(from+documentBlock, uint32(len(d.rows)))
	for number := range changed {
		if number/documentBlock == block {
			to = max(to, number+1)
		}
	}
	b := binary.AppendUvarint(nil, uint64(to-from))
	for i := from; i < to; i++ {
		row, ok := changed[i]
		if !ok && int(i) < len(d.rows) {
			row = d.rows[i]
		}
		if !row.live {
			b = append(b, 0)
			continue
		}
		b = append(append(b, 1), row.key[:]...)
		b = binary.AppendVarint(b, row.fetched)
		b = segment.AppendText(segment.AppendText(b, d.names.list[row.host]), d.names.list[row.kind])
	}
	return b
}

// decodeBlock reads a block of rows of the table of documents. The error is segment.ErrDamaged.
func (d *docTable) decodeBlock(block uint32, b []byte) error {
	n, b := segment.Uvarint(b)
	if n > documentBlock {
		return segment.ErrDamaged
	}
	for i := range uint32(n) {
		if len(b) == 0 {
			return segment.ErrDamaged
		}
		row := docRow{live: b[0] == 1}
		b = b[1:]
		if row.live {
			if len(b) < len(row.key) {
				return segment.ErrDamaged
			}
			row.key = page.Key(b)
			v, size := binary.Varint(b[len(row.key):])
			if size <= 0 {
				return segment.ErrDamaged
			}
			row.fetched = v
			var host, kind string
			var ok1, ok2 bool
			host, b, ok1 = segment.CutText(b[len(row.key)+size:])
			kind, b, ok2 = segment.CutText(b)
			if !ok1 || !ok2 {
				return segment.ErrDamaged
			}
			row.host, row.kind = d.names.number(host), d.names.number(kind)
		}
		d.set(block*documentBlock+i, row)
	}
	return nil
}

// set puts a row into the table of documents, and counts the live ones.
func (d *docTable) set(number uint32, row docRow) {
	for uint32(len(d.rows)) <= number {
		d.rows = append(d.rows, docRow{})
	}
	if d.rows[number].live {
		d.live--
	}
	if row.live {
		d.live++
	}
	d.rows[number] = row
}

// names assigns numbers to strings that occur often.
type names struct {
	list    []string
	numbers map[string]uint32
}

// number returns the number of a host or kind in the table of documents, and gives a new name the next one: many
// documents share few names, so rows hold numbers.
func (n *names) number(name string) uint32 {
	i, ok := n.numbers[name]
	if !ok {
		if n.numbers == nil {
			n.numbers = map[string]uint32{}
		}
		i = uint32(len(n.list))
		n.list = append(n.list, name)
		n.numbers[name] = i
	}
	return i
}

// Number returns a document's number in the table. It stays the same until the document is deleted, and is given to no
// other.
func (x *Index) Number(key page.Key) (uint32, bool) {
	b, err := x.o.Records.Get(articleKey(key))
	if err != nil {
		return 0, false
	}
	n, _ := segment.Uvarint(b)
	return uint32(n), true
}

// Document returns the document of a number in the table of documents.
func (x *Index) Document(number uint32) (page.Key, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if int(number) >= len(x.docs.rows) || !x.docs.rows[number].live {
		return page.Key{}, false
	}
	return x.docs.rows[number].key, true
}

// NumbersOf returns the numbers of those of some documents that are indexed.
func (x *Index) NumbersOf(keys map[page.Key]struct{}) *roaring.Bitmap {
	numbers := roaring.New()
	if len(keys) == 0 {
		return numbers
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for n, row := range x.docs.rows {
		if _, ok := keys[row.key]; ok && row.live {
			numbers.Add(uint32(n))
		}
	}
	return numbers
}
