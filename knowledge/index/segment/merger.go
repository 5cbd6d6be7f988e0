package segment

import (
	"slices"

	"github.com/readthru/readthru/knowledge/breath"
)

// Merger makes one segment of neighbouring ones, without their dead passages.
type Merger struct {
	Merged  *Segment // with its table; its averages are to be set before its terms are written
	sources []*source
}

// NewMerger makes the table of the merged segment. Other returns the owner of a passage that the one in the table of
// its segment no longer owns.
func NewMerger(id uint32, group []*Segment, other func(number uint32) uint32) *Merger {
	m := &Merger{Merged: &Segment{ID: id}}
	live := 0
	for _, s := range group {
		live += s.Live
	}
	m.Merged.makeRoom(live)
	for _, s := range group {
		m.take(s, other)
	}
	m.Merged.ready()
	return m
}

// take adds the live passages of a segment.
func (m *Merger) take(s *Segment, other func(number uint32) uint32) {
	src := &source{segment: s, renum: make([]uint32, s.Len())}
	for i, number := range s.Numbers {
		ord := uint32(i)
		if s.Dead.Has(ord) {
			src.renum[i] = gone
			continue
		}
		owner := s.Owners[i]
		if s.Orphans.Has(ord) {
			owner = other(number)
		}
		src.renum[i] = uint32(len(m.Merged.Numbers))
		m.Merged.Numbers = append(m.Merged.Numbers, number)
		m.Merged.Hashes = append(m.Merged.Hashes, s.Hashes[i])
		m.Merged.Owners = append(m.Merged.Owners, owner)
		m.Merged.Lengths = append(m.Merged.Lengths, s.Lengths[i])
	}
	m.sources = append(m.sources, src)
}

// Write writes the terms of the merged segment: out gets its blocks one after the other, and bound says what a posting
// is worth at most.
func (m *Merger) Write(blocks *Blocks, bound Bounds, out func(block []byte) error) error {
	w := m.Merged.writer(bound, out)
	for _, s := range m.sources {
		s.next = walkTerms(s.segment.refs, blocks.of(s.segment, false), "")
	}
	if err := mergeTerms(m.sources, w); err != nil {
		return err
	}
	m.Merged.refs, m.Merged.Bytes = w.refs, w.bytes
	return nil
}

// source is a segment that is being merged.
type source struct {
	segment *Segment
	renum   []uint32 // new ordinals; gone for passages that the merge leaves out

	// State of the walk over its terms.
	next func() (*List, error)
	head *List
}

// gone marks a passage that a merge leaves out.
const gone = 1<<32 - 1

// mergeTerms writes the terms of several segments as those of one. The ordinals of each source follow those of the
// source before.
func mergeTerms(sources []*source, w *writer) error {
	for _, s := range sources {
		var err error
		if s.head, err = s.next(); err != nil {
			return err
		}
	}
	var c Chunk
	for {
		term, any := "", false
		for _, s := range sources {
			if s.head != nil && (!any || s.head.Term < term) {
				term, any = s.head.Term, true
			}
		}
		if !any {
			return w.flush()
		}
		breath.Take()
		forms, others := mergedForms(sources, term)
		w.begin(term, forms, others)
		for _, s := range sources {
			if s.head == nil || s.head.Term != term {
				continue
			}
			bits := formBits(s.head, forms)
			err := s.head.Each(&c, func(c *Chunk) error {
				return c.PlacesOf(func(i int, places []byte) bool {
					if ord := s.renum[c.Ords[i]]; ord != gone {
						p := c.Posting(i, places)
						p.ord, p.Forms = ord, bits[p.Forms]
						w.add(p)
					}
					return true
				})
			})
			if err != nil {
				return err
			}
		}
		if err := w.end(); err != nil {
			return err
		}
		for _, s := range sources {
			if s.head != nil && s.head.Term == term {
				var err error
				if s.head, err = s.next(); err != nil {
					return err
				}
			}
		}
	}
}

// mergedForms returns the forms of a term in all sources, as far as they can be listed.
func mergedForms(sources []*source, term string) (forms []string, others bool) {
	for _, s := range sources {
		if s.head == nil || s.head.Term != term {
			continue
		}
		others = others || s.head.others
		for _, f := range s.head.Forms {
			if slices.Contains(forms, f) {
				continue
			}
			if len(forms) == maxForms {
				others = true
				continue
			}
			forms = append(forms, f)
		}
	}
	return forms, others
}

// formBits maps, for merging, each combination of a list's forms to the bits of the same forms among those given.
func formBits(l *List, forms []string) *[256]uint8 {
	if !l.others && len(l.Forms) <= len(forms) && slices.Equal(l.Forms, forms[:len(l.Forms)]) {
		return &sameBits
	}
	var single [8]uint8
	for i := range single {
		single[i] = otherFormBit
		if i < len(l.Forms) {
			if n := slices.Index(forms, l.Forms[i]); n >= 0 {
				single[i] = 1 << n
			}
		}
	}
	var bits [256]uint8
	for set := range bits {
		for i := range single {
			if set>>i&1 != 0 {
				bits[set] |= single[i]
			}
		}
	}
	return &bits
}

var sameBits = func() (bits [256]uint8) {
	for i := range bits {
		bits[i] = uint8(i)
	}
	return bits
}()
