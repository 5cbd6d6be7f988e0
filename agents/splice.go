package agents

import (
	"slices"
	"strings"
)

// Splice is a text that was inserted into a file, with its offset in bytes in the resulting file. Splices are sorted
// and do not overlap, so that removing them restores the file exactly.
type Splice struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

// splices are the texts inserted into a file so far.
type splices []Splice

// insert records that text was inserted at an offset of the current file.
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

// shift moves the splices from index i on.
func (s *splices) shift(i, by int) {
	for ; i < len(*s); i++ {
		(*s)[i].At += by
	}
}

// Undo removes splices from a file again, the last first. It returns false if they are not all where they were
// inserted: the file was edited since.
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
