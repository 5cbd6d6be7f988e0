package index

import (
	"github.com/readthru/readthru/knowledge/index/segment"
)

// sums are totals over the live passages.
type sums struct {
	passages           int
	text, title, path  int64 // words
	titled, underPaths int   // passages that have the field
}

// add adds the lengths of a passage to the sums over all, or with sign -1 takes them out.
func (s *sums) add(l segment.Lengths, sign int) {
	s.passages += sign
	s.text += int64(sign) * int64(l.Text)
	s.title += int64(sign) * int64(l.Title)
	s.path += int64(sign) * int64(l.Path)
	if l.Title > 0 {
		s.titled += sign
	}
	if l.Path > 0 {
		s.underPaths += sign
	}
}

// averages returns, from the sums, the average lengths of fields in the index, in words, by which scores are
// normalised; at least 1. Titles and paths count only where there are some.
func (s *sums) averages() segment.Averages {
	mean := func(sum int64, n int) float64 {
		if n == 0 {
			return 1
		}
		return max(float64(sum)/float64(n), 1)
	}
	return segment.Averages{
		Text: mean(s.text, s.passages), Title: mean(s.title, s.titled), Path: mean(s.path, s.underPaths),
	}
}
