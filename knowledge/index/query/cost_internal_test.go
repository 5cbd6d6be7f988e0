package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/index/segment"
)

// viewOf returns a view of one segment with a passage for each text.
func viewOf(t *testing.T, texts ...string) *segment.View {
	t.Helper()
	b := segment.NewBuilder()
	s := &segment.Segment{ID: 1}
	for i, text := range texts {
		b.Add(text, "", "", "", "", false)
		s.Numbers, s.Hashes, s.Owners = append(s.Numbers, uint32(i)), append(s.Hashes, [16]byte{byte(i)}), append(s.Owners, 0)
	}
	s.Lengths = b.Lengths
	blocks := map[string][]byte{}
	none := func(*segment.Posting, segment.Lengths) uint8 { return 255 }
	if err := b.Finish(s, none, func(block []byte) error {
		c := s.BlockRecord(uint32(len(blocks)), block)
		blocks[c.Key] = c.Value
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return &segment.View{
		Segments:   []*segment.Segment{s},
		Blocks:     segment.NewBlocks(func(key string) ([]byte, error) { return blocks[key], nil }),
		Unreadable: func(_ *segment.Segment, err error) { t.Error(err) },
	}
}

// However many words are misspelt, a few are corrected, with few blocks read.
func TestAQueryOfMistakesCostsLittle(t *testing.T) {
	view := viewOf(t, "A recursive query refers to itself.", "A recursive table.", "Recursive queries of a table.")
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "recursiv%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
	}
	q := Parse(text.String())
	q.Correct(view, make([]int, len(q.Terms)))
	if n := len(q.Corrections); n == 0 || n > maxCorrected {
		t.Errorf("%d words were corrected", n)
	}
	sp := speller{view: view, blocks: 2}
	for range 10 {
		sp.nearest(&Term{Form: "recursivx"}, 0, 0)
	}
	if sp.blocks < 0 {
		t.Errorf("%d blocks were read too many", -sp.blocks)
	}
}
