package segment

import (
	"slices"
	"strings"
)

// List is the postings of a term in a segment: its entry's parts, one or more blocks.
type List struct {
	entry
	parts [][]byte // chunks of each part
}

// FormBit returns the bit of a form in the postings of a list, or 0 if no posting has the form.
func (l *List) FormBit(form string) uint8 {
	if i := slices.Index(l.Forms, form); i >= 0 {
		return 1 << i
	}
	if l.others {
		return otherFormBit
	}
	return 0
}

// FormBits returns the bits of those forms in the postings of a list that begin with prefix.
func (l *List) FormBits(prefix string) (bits uint8) {
	for i, f := range l.Forms {
		if strings.HasPrefix(f, prefix) {
			bits |= 1 << i
		}
	}
	if l.others && strings.HasPrefix(l.Term, prefix) {
		bits |= otherFormBit
	}
	return bits
}

// Bound returns the greatest of the bounds of the list's chunks.
func (l *List) Bound() (bound uint8, err error) {
	var c Chunk
	for _, b := range l.parts {
		for len(b) > 0 {
			if b, err = c.head(b, l.several()); err != nil {
				return 0, err
			}
			bound = max(bound, c.bound)
		}
	}
	return bound, nil
}

// Has reports whether a word is one of the list.
func (l *List) Has(form string) bool { return l.others || slices.Contains(l.Forms, form) }

// Each decodes the postings of a list, chunk by chunk.
func (l *List) Each(c *Chunk, f func(c *Chunk) error) error {
	for _, b := range l.parts {
		for len(b) > 0 {
			var err error
			if b, err = c.head(b, l.several()); err != nil {
				return err
			}
			if err = c.decode(l.several()); err != nil {
				return err
			}
			if err = f(c); err != nil {
				return err
			}
		}
	}
	return nil
}
