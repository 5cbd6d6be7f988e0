package index

import (
	"slices"

	"github.com/readthru/readthru/knowledge/breath"
)

// merger makes one segment of neighbouring ones, without their dead passages.
type merger struct {
	merged  *segment // with its table; its averages are to be set before its terms are written
	sources []*source
}

// newMerger makes the table of the merged segment. Other returns the owner of a passage that the one in the table of
// its segment no longer owns.
func newMerger(id uint32, group []*segment, other func(number uint32) uint32) *merger {
	m := &merger{merged: &segment{id: id}}
	live := 0
	for _, s := range group {
		live += s.live
	}
	m.merged.makeRoom(live)
	for _, s := range group {
		m.take(s, other)
	}
	m.merged.ready()
	return m
}

// take adds the live passages of a segment.
func (m *merger) take(s *segment, other func(number uint32) uint32) {
	src := &source{segment: s, renum: make([]uint32, s.len())}
	for i, number := range s.numbers {
		ord := uint32(i)
		if s.dead.has(ord) {
			src.renum[i] = gone
			continue
		}
		owner := s.owners[i]
		if s.orphans.has(ord) {
			owner = other(number)
		}
		src.renum[i] = uint32(len(m.merged.numbers))
		m.merged.numbers = append(m.merged.numbers, number)
		m.merged.hashes = append(m.merged.hashes, s.hashes[i])
		m.merged.owners = append(m.merged.owners, owner)
		m.merged.lengths = append(m.merged.lengths, s.lengths[i])
	}
	m.sources = append(m.sources, src)
}

// write writes the terms of the merged segment: out gets its blocks one after the other, and bound says what a posting
// is worth at most.
func (m *merger) write(blocks *blockCache, bound bounds, out func(block []byte) error) error {
	w := m.merged.writer(bound, out)
	for _, s := range m.sources {
		s.next = walkTerms(s.segment.refs, blocks.of(s.segment, false), "")
	}
	if err := mergeTerms(m.sources, w); err != nil {
		return err
	}
	m.merged.refs, m.merged.bytes = w.refs, w.bytes
	return nil
}

// source is a segment that is being merged.
type source struct {
	segment *segment
	renum   []uint32 // new ordinals; gone for passages that the merge leaves out

	// State of the walk over its terms.
	next func() (*list, error)
	head *list
}

// gone marks a passage that a merge leaves out.
const gone = 1<<32 - 1

// mergeTerms writes the terms of several segments as those of one. The ordinals of each source follow those of the
// source before.
func mergeTerms(sources []*source, w *segmentWriter) error {
	for _, s := range sources {
		var err error
		if s.head, err = s.next(); err != nil {
			return err
		}
	}
	var c chunk
	for {
		term, any := "", false
		for _, s := range sources {
			if s.head != nil && (!any || s.head.term < term) {
				term, any = s.head.term, true
			}
		}
		if !any {
			return w.flush()
		}
		breath.Take()
		forms, others := mergedForms(sources, term)
		w.begin(term, forms, others)
		for _, s := range sources {
			if s.head == nil || s.head.term != term {
				continue
			}
			bits := formBits(s.head, forms)
			err := s.head.each(&c, func(c *chunk) error {
				return c.placesOf(func(i int, places []byte) bool {
					if ord := s.renum[c.ords[i]]; ord != gone {
						p := c.posting(i, places)
						p.ord, p.forms = ord, bits[p.forms]
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
			if s.head != nil && s.head.term == term {
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
		if s.head == nil || s.head.term != term {
			continue
		}
		others = others || s.head.others
		for _, f := range s.head.forms {
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

// formBits maps each combination of a list's forms to the bits of the same forms among those given.
func formBits(l *list, forms []string) *[256]uint8 {
	if !l.others && len(l.forms) <= len(forms) && slices.Equal(l.forms, forms[:len(l.forms)]) {
		return &sameBits
	}
	var single [8]uint8
	for i := range single {
		single[i] = otherFormBit
		if i < len(l.forms) {
			if n := slices.Index(forms, l.forms[i]); n >= 0 {
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
