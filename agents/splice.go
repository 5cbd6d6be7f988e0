package agents

import (
	"slices"
	"strings"
)

// Splice is a text that was put into a file, and where it stands there now: At counts bytes. Splices are sorted and do
// not overlap, so that taking them out again gives the file as it was, to the byte.
type Splice struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

// splices are the texts put into a file so far.
type splices []Splice

// insert notes that text was put in at an offset of the file as it is now.
func (s *splices) insert(at int, text string) {
	for i := range *s {
		have := &(*s)[i]
		if have.At < at && at < have.At+len(have.Text) {
			have.Text = have.Text[:at-have.At] + text + have.Text[at-have.At:]
			s.shift(i+1, len(text))
			return
		}
		if have.At >= at {
			s.shift(i, len(text))
			*s = slices.Insert(*s, i, Splice{at, text})
			return
		}
	}
	*s = append(*s, Splice{at, text})
}

// shift moves the splices from the i-th on.
func (s *splices) shift(i, by int) {
	for ; i < len(*s); i++ {
		(*s)[i].At += by
	}
}

// Undo takes splices out of a file. It reports whether they stood where they were put.
func Undo(now []byte, put []Splice) ([]byte, bool) {
	out := string(now)
	for _, s := range slices.Backward(put) {
		if s.At < 0 || s.At > len(out) || !strings.HasPrefix(out[s.At:], s.Text) {
			return nil, false
		}
		out = out[:s.At] + out[s.At+len(s.Text):]
	}
	return []byte(out), true
}
