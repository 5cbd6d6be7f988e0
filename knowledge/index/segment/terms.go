package segment

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
)

// A segment keeps its terms in order in blocks, each a record. A block is entries; an entry is
//
//	shared, rest  uvarints: bytes shared with the term before in the block; bytes of its own, which follow
//	flags         1 byte: 3 bits how many forms are listed, 1 bit there are others, 1 bit the next block goes
//	              on with this term
//	forms         for each: bytes shared with the term, bytes of its own, which follow
//	postings      uvarint, in how many passages of the segment the term stands
//	length        uvarint, of the chunks that follow
//
// A form is a spelling of the words of a term: the term "connect" has "connected" and "connection". Postings tell which
// of the first maxForms occur; the bit after them stands for all others.
const (
	blockTarget   = 32 << 10 // bytes; a block ends at most one chunk after this
	maxForms      = 7
	maxChunkBytes = 16 << 10 // of positions; a chunk ends after this

	flagOthers   = 8
	flagGoesOn   = 16
	flagForms    = 7
	otherFormBit = 1 << maxForms
)

// blockRef is the part of a block that is kept in memory.
type blockRef struct {
	first string // its first term
	goes  bool   // its first entry began in the block before
}

// entry is a term in a block.
type entry struct {
	Term     string
	Forms    []string
	others   bool // the term has forms that are not listed
	ellipsis bool
	Postings int // of the whole term
	chunks   []byte
}

// several reports whether postings distinguish forms.
func (e *entry) several() bool { return len(e.Forms) > 1 || e.others }

// writer writes terms into blocks. The caller passes the terms in order: for each it calls begin, then add for
// each posting, then end.
type writer struct {
	bound func(p *Posting) uint8
	out   func(block []byte) error

	refs     []blockRef
	block    []byte
	last     string // term before in the block
	entry    entry
	pending  []Posting
	pendingN int // bytes of positions in pending
	payload  []byte
	room     []byte // for a chunk's columns
	cuts     []int  // ends of chunks in payload
	bytes    int64
}

func (w *writer) begin(term string, forms []string, others bool) {
	w.entry = entry{Term: term, Forms: forms, others: others}
	w.pending, w.pendingN, w.payload, w.cuts = w.pending[:0], 0, w.payload[:0], w.cuts[:0]
}

// add takes a posting. Its positions must stay as they are until the next add or end has returned twice: they are
// copied when their chunk is full.
func (w *writer) add(p Posting) {
	w.pending = append(w.pending, p)
	w.pendingN += len(p.Places)
	w.entry.Postings++
	if len(w.pending) == chunkLen || w.pendingN >= maxChunkBytes {
		w.chunk()
	}
}

// chunk encodes the postings that wait as one chunk, with the greatest of their bounds.
func (w *writer) chunk() {
	bound := uint8(0)
	for i := range w.pending {
		bound = max(bound, w.bound(&w.pending[i]))
	}
	w.payload, w.room = appendChunk(w.payload, w.room, w.pending, w.entry.several(), bound)
	w.cuts = append(w.cuts, len(w.payload))
	w.pending, w.pendingN = w.pending[:0], 0
}

// end writes the term. It writes nothing for a term without postings.
func (w *writer) end() error {
	if len(w.pending) > 0 {
		w.chunk()
	}
	from := 0
	for i := 0; i < len(w.cuts); {
		// As many chunks as the block takes, at least one.
		room := blockTarget - len(w.block)
		j := i + 1
		for j < len(w.cuts) && w.cuts[j]-from <= room {
			j++
		}
		if w.cuts[j-1]-from > room && len(w.block) > 0 {
			if err := w.flush(); err != nil {
				return err
			}
			continue
		}
		if len(w.block) == 0 {
			w.refs = append(w.refs, blockRef{first: strings.Clone(w.entry.Term), goes: i > 0})
		}
		w.entry.ellipsis = j < len(w.cuts)
		w.entry.chunks = w.payload[from:w.cuts[j-1]]
		w.block = appendEntry(w.block, &w.entry, w.last)
		w.last = w.entry.Term
		from, i = w.cuts[j-1], j
		if w.entry.ellipsis || len(w.block) >= blockTarget {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush hands the block of terms over that was filled, and begins the next.
func (w *writer) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	w.bytes += int64(len(w.block))
	err := w.out(slices.Clone(w.block))
	w.block, w.last = w.block[:0], ""
	return err
}

// appendEntry appends a term to a block: its name by the prefix that it shares with the term before, its forms by what
// each shares with its name, then the chunks of its postings.
func appendEntry(b []byte, e *entry, before string) []byte {
	b = appendShared(b, e.Term, before)
	flags := byte(len(e.Forms))
	if e.others {
		flags |= flagOthers
	}
	if e.ellipsis {
		flags |= flagGoesOn
	}
	b = append(b, flags)
	for _, f := range e.Forms {
		b = appendShared(b, f, e.Term)
	}
	b = binary.AppendUvarint(b, uint64(e.Postings))
	b = binary.AppendUvarint(b, uint64(len(e.chunks)))
	return append(b, e.chunks...)
}

// appendShared appends s as the length of the prefix that it shares with before, and the rest.
func appendShared(b []byte, s, before string) []byte {
	n := 0
	for n < len(s) && n < len(before) && s[n] == before[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	b = binary.AppendUvarint(b, uint64(len(s)-n))
	return append(b, s[n:]...)
}

// blockReader walks over the entries of a block. It decodes the forms of an entry only on request.
type blockReader struct {
	rest  []byte
	term  []byte
	flags byte
	forms []byte // encoded
	n     int    // postings
	data  []byte // chunks
}

// next moves to the next entry. It reports false at the end, with an error if that is not the end of the block.
func (r *blockReader) next() (bool, error) {
	b := r.rest
	if len(b) == 0 {
		return false, nil
	}
	shared, b := Uvarint(b)
	rest, b := Uvarint(b)
	if shared > uint64(len(r.term)) || rest >= uint64(len(b)) {
		return false, ErrDamaged
	}
	r.term = append(r.term[:shared], b[:rest]...)
	b = b[rest:]
	r.flags = b[0]
	b = b[1:]
	forms := b
	for range r.flags & flagForms {
		_, b = Uvarint(b)
		rest, b = Uvarint(b)
		if rest > uint64(len(b)) {
			return false, ErrDamaged
		}
		b = b[rest:]
	}
	r.forms = forms[:len(forms)-len(b)]
	n, b := Uvarint(b)
	size, b := Uvarint(b)
	if size > uint64(len(b)) {
		return false, ErrDamaged
	}
	r.n, r.data, r.rest = int(n), b[:size], b[size:]
	return true, nil
}

// entry returns the current entry. It shares its chunks with the block.
func (r *blockReader) entry() (entry, error) {
	e := entry{
		Term: string(r.term), others: r.flags&flagOthers != 0, ellipsis: r.flags&flagGoesOn != 0, Postings: r.n,
		chunks: r.data,
	}
	b := r.forms
	for range r.flags & flagForms {
		var shared, rest uint64
		shared, b = Uvarint(b)
		rest, b = Uvarint(b)
		if shared > uint64(len(e.Term)) || rest > uint64(len(b)) {
			return e, ErrDamaged
		}
		e.Forms = append(e.Forms, e.Term[:shared]+string(b[:rest]))
		b = b[rest:]
	}
	return e, nil
}

// blockSource returns the blocks of a segment.
type blockSource func(n int) ([]byte, error)

// blockOf returns the first block that may hold a term, or len(refs).
func blockOf(refs []blockRef, term string) int {
	i := sort.Search(len(refs), func(i int) bool { return refs[i].first >= term })
	if i == len(refs) || refs[i].first != term || refs[i].goes {
		i-- // it stands in the block before, or begins there
	}
	return max(i, 0)
}

// find returns the list of postings of a term, or nil if the segment does not have it.
func find(refs []blockRef, blocks blockSource, term string) (*List, error) {
	l, err := walkTerms(refs, blocks, term)()
	if l == nil || l.Term != term {
		return nil, err
	}
	return l, nil
}

// walkTerms returns a function that returns the postings of one term after the other, beginning with the first term not
// before from, and then nil.
func walkTerms(refs []blockRef, blocks blockSource, from string) func() (*List, error) {
	n := blockOf(refs, from)
	r := blockReader{}
	return func() (*List, error) {
		var open *List
		for {
			ok, err := r.next()
			if err != nil {
				return nil, err
			}
			if !ok {
				if n == len(refs) {
					if open != nil {
						return nil, ErrDamaged
					}
					return nil, nil
				}
				b, err := blocks(n)
				if err != nil {
					return nil, err
				}
				n++
				r = blockReader{rest: b}
				continue
			}
			if string(r.term) < from {
				continue
			}
			e, err := r.entry()
			if err != nil {
				return nil, err
			}
			if open == nil {
				open = &List{entry: e}
			}
			open.parts = append(open.parts, e.chunks)
			if !e.ellipsis {
				return open, nil
			}
		}
	}
}

// walkForms calls f for the forms of the terms that begin with prefix, with how many passages have the term. It reads
// as many blocks as most says, and lowers that.
func walkForms(refs []blockRef, blocks blockSource, prefix string, most *int, f func(form string, postings int)) error {
	for n := blockOf(refs, prefix); n < len(refs) && *most > 0; n++ {
		if first := refs[n].first; first > prefix && !strings.HasPrefix(first, prefix) {
			return nil
		}
		if next := n + 1; refs[n].goes && next < len(refs) && refs[next].first == refs[n].first {
			continue // it holds postings of one term, which goes on
		}
		*most--
		b, err := blocks(n)
		if err != nil {
			return err
		}
		r := blockReader{rest: b}
		for {
			ok, err := r.next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if !strings.HasPrefix(string(r.term), prefix) || r.flags&flagGoesOn != 0 {
				continue
			}
			e, err := r.entry()
			if err != nil {
				return err
			}
			for _, form := range e.Forms {
				f(form, e.Postings)
			}
		}
	}
	return nil
}

// writer returns a writer for the terms of the segment, whose table is complete.
func (s *Segment) writer(bound Bounds, out func([]byte) error) *writer {
	return &writer{out: out, bound: func(p *Posting) uint8 { return bound(p, s.Lengths[p.ord]) }}
}
