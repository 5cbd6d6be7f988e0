package segment

import "slices"

// View is the segments of an index as one search sees them.
type View struct {
	Segments   []*Segment // in order of their passages' numbers
	Blocks     *Blocks
	Unreadable func(s *Segment, err error) // notes that a segment could not be read
}

// Find returns the postings of a term in a segment, or nil if the segment does not have it.
func (v *View) Find(s *Segment, term string) (*List, error) {
	return find(s.refs, v.Blocks.of(s, true), term)
}

// Walk returns a function that returns the postings of one term of a segment after the other, beginning with the first
// term not before from, and then nil.
func (v *View) Walk(s *Segment, from string) func() (*List, error) {
	return walkTerms(s.refs, v.Blocks.of(s, true), from)
}

// WalkForms calls f for the forms of the terms of a segment that begin with prefix, with how many passages have the
// term. It reads as many blocks as most says, and lowers that.
func (v *View) WalkForms(s *Segment, prefix string, most *int, f func(form string, postings int)) error {
	return walkForms(s.refs, v.Blocks.of(s, true), prefix, most, f)
}

// Has reports whether a passage has a term.
func (v *View) Has(term string) bool {
	return slices.ContainsFunc(v.Segments, func(s *Segment) bool {
		l, err := v.Find(s, term)
		return err == nil && l != nil
	})
}
