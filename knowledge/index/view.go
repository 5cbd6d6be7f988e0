package index

import "slices"

// view is the segments of an index as one search sees them.
type view struct {
	segments   []*segment // in order of their passages' numbers
	blocks     *blockCache
	unreadable func(s *segment, err error) // notes that a segment could not be read
}

// find returns the postings of a term in a segment, or nil if the segment does not have it.
func (v *view) find(s *segment, term string) (*list, error) { return find(s.refs, v.blocks.of(s, true), term) }

// walk returns a function that returns the postings of one term of a segment after the other, beginning with the first
// term not before from, and then nil.
func (v *view) walk(s *segment, from string) func() (*list, error) {
	return walkTerms(s.refs, v.blocks.of(s, true), from)
}

// walkForms calls f for the forms of the terms of a segment that begin with prefix, with how many passages have the
// term. It reads as many blocks as most says, and lowers that.
func (v *view) walkForms(s *segment, prefix string, most *int, f func(form string, postings int)) error {
	return walkForms(s.refs, v.blocks.of(s, true), prefix, most, f)
}

// has reports whether a passage has a term.
func (v *view) has(term string) bool {
	return slices.ContainsFunc(v.segments, func(s *segment) bool {
		l, err := v.find(s, term)
		return err == nil && l != nil
	})
}
