package index

import (
	"slices"

	"github.com/readthru/readthru/knowledge/breath"
)

// source is a segment that is being merged.
type source struct {
	refs   []blockRef
	blocks blockSource
	renum  []uint32 // new ordinals; gone for passages that the merge leaves out

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
		s.next = walkTerms(s.refs, s.blocks, "")
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
