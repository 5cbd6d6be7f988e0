package segment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomPostings returns postings as a builder would make them, up to the largest counts.
func randomPostings(rng *rand.Rand, n int) []Posting {
	var list []Posting
	ord := uint32(0)
	for range n {
		ord += 1 + uint32(rng.IntN(1+rng.IntN(100000)))
		p := Posting{
			ord: ord, Forms: uint8(1 + rng.IntN(255)), Title: uint8(rng.IntN(MaxFieldCount + 1)),
			Path: uint8(rng.IntN(MaxFieldCount + 1)),
		}
		p.Text = uint16(rng.IntN(1 + rng.IntN(40)))
		if rng.IntN(500) == 0 {
			p.Text = MaxTextLen
		}
		for range int(p.Title) + int(p.Text) {
			p.Places = append(p.Places, encodePlace(rng.IntN(1+rng.IntN(300)))...)
		}
		list = append(list, p)
	}
	return list
}

func encodePlace(n int) []byte {
	if n < 0x80 {
		return []byte{byte(n)}
	}
	return []byte{byte(n) | 0x80, byte(n >> 7)}
}

func TestASegmentGivesBackItsPostings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	type written struct {
		forms    []string
		others   bool
		postings []Posting
	}
	terms := map[string]written{}
	for i := range 400 {
		n := 1
		switch {
		case i == 200:
			n = 60_000 // many blocks
		case i%50 == 0:
			n = 1000
		case i%3 == 0:
			n = 1 + rng.IntN(5)
		}
		w := written{forms: []string{fmt.Sprintf("term%04ding", i)}, postings: randomPostings(rng, n)}
		if i%2 == 0 {
			w.forms = append(w.forms, fmt.Sprintf("term%04d", i))
			w.others = i%4 == 0
		} else {
			for j := range w.postings {
				w.postings[j].Forms = 1
			}
		}
		terms[fmt.Sprintf("term%04d", i)] = w
	}
	var blocks [][]byte
	w := &writer{bound: func(*Posting) uint8 { return 7 }, out: func(b []byte) error {
		blocks = append(blocks, b)
		return nil
	}}
	names := []string{}
	for i := range 400 {
		names = append(names, fmt.Sprintf("term%04d", i))
	}
	for _, name := range names {
		w.begin(name, terms[name].forms, terms[name].others)
		for _, p := range terms[name].postings {
			w.add(p)
		}
		if err := w.end(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	for i, b := range blocks {
		if len(b) > 2*blockTarget {
			t.Errorf("block %d has %d bytes", i, len(b))
		}
	}
	source := func(n int) ([]byte, error) { return blocks[n], nil }
	check := func(name string, l *List) {
		t.Helper()
		if l == nil {
			t.Fatalf("%s is not found", name)
		}
		want := terms[name]
		var got []Posting
		var c Chunk
		if err := l.Each(&c, func(c *Chunk) error {
			if c.bound != 7 || c.last != c.Ords[c.N-1] {
				t.Errorf("%s: bound %d, last %d of %v", name, c.bound, c.last, c.Ords[:c.N])
			}
			return c.PlacesOf(func(i int, places []byte) bool {
				got = append(got, c.Posting(i, places))
				return true
			})
		}); err != nil {
			t.Fatal(err)
		}
		same := func(a, b Posting) bool {
			return a.ord == b.ord && a.Text == b.Text && a.Title == b.Title && a.Path == b.Path && a.Forms == b.Forms &&
				string(a.Places) == string(b.Places)
		}
		if !slices.EqualFunc(got, want.postings, same) || !slices.Equal(l.Forms, want.forms) || l.others != want.others ||
			l.Postings != len(want.postings) {
			t.Fatalf("%s: %d postings with forms %v %v, want %d with %v %v", name, len(got), l.Forms, l.others,
				len(want.postings), want.forms, want.others)
		}
	}
	for _, name := range names {
		l, err := find(w.refs, source, name)
		if err != nil {
			t.Fatal(err)
		}
		check(name, l)
	}
	for _, name := range []string{"", "a", "term", "term0200x", "term9", "z"} {
		if l, err := find(w.refs, source, name); l != nil || err != nil {
			t.Errorf("find(%q) = %v, %v, want nothing", name, l, err)
		}
	}
	for _, from := range []string{"", "term0199x", "term0200", "term0201", "term03", "z"} {
		next := walkTerms(w.refs, source, from)
		for _, name := range names[sortedFrom(names, from):] {
			l, err := next()
			if err != nil || l == nil || l.Term != name {
				t.Fatalf("walk from %q: %v, %v, want %s", from, l, err, name)
			}
			check(name, l)
		}
		if l, err := next(); l != nil || err != nil {
			t.Errorf("walk from %q goes on after its end: %v, %v", from, l, err)
		}
	}
	// A cursor finds any posting, and what is not there.
	l, _ := find(w.refs, source, "term0200")
	c := NewCursor(l)
	for i := 0; i < len(terms["term0200"].postings); i += 1 + rng.IntN(700) {
		want := terms["term0200"].postings[i].ord
		if at, ok := c.Seek(want - uint32(rng.IntN(2))); !ok || at > want {
			t.Fatalf("seek(%d) = %d, %v", want, at, ok)
		}
	}
	if _, ok := c.Seek(1<<32 - 1); ok || c.Err != nil {
		t.Errorf("seek after the end: %v, %v", ok, c.Err)
	}
}

func sortedFrom(names []string, from string) int {
	i, _ := slices.BinarySearch(names, from)
	return i
}

func FuzzBlock(f *testing.F) {
	w := &writer{bound: func(*Posting) uint8 { return 9 }, out: func(b []byte) error {
		f.Add(b)
		return nil
	}}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 4 {
		w.begin(fmt.Sprint("t", i), []string{"x", "y"}[:1+i%2], i == 3)
		for _, p := range randomPostings(rng, 1+i*60) {
			w.add(p)
		}
		if err := w.end(); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.flush(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, block []byte) {
		next := walkTerms([]blockRef{{first: ""}}, func(int) ([]byte, error) { return block, nil }, "")
		var c Chunk
		for {
			l, err := next()
			if err != nil || l == nil {
				break
			}
			_ = l.Each(&c, func(c *Chunk) error { return c.PlacesOf(func(int, []byte) bool { return true }) })
			cur := NewCursor(l)
			for ord := uint32(0); ord < 50; ord += 7 {
				if _, ok := cur.Seek(ord); ok {
					cur.positions()
				}
			}
		}
	})
}

func FuzzRecordsOfASegment(f *testing.F) {
	s := &Segment{
		Numbers: []uint32{4, 9}, Hashes: make([][16]byte, 2), Owners: []uint32{1, 2},
		Lengths: make([]Lengths, 2),
	}
	s.ready()
	s.Dead.Add(1)
	f.Add(s.encodeTable(0))
	f.Add(s.encodeMeta())
	f.Add(s.encodeChanges(0))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &Segment{}
		if s.decodeTable(b) == nil && s.Len() < 1000 {
			s.ready()
			_ = s.decodeChanges(0, b)
		}
		_, _ = (&Segment{}).decodeMeta(b)
		_, _ = DecodeNumbers(b)
	})
}

func FuzzChangesOfASegment(f *testing.F) {
	const passages = changesPart + 100
	untouched := func() *Segment {
		s := &Segment{Numbers: make([]uint32, passages)}
		s.ready()
		return s
	}
	for _, every := range []int{1, 2, 7, 5000, 2 * passages} {
		s := untouched()
		for i := range uint32(passages) {
			if i%uint32(every) == 0 {
				s.Dead.Add(i)
			} else if i%3 == 0 {
				s.Orphans.Add(i)
			}
		}
		f.Add(s.encodeChanges(0), false)
		f.Add(s.encodeChanges(1), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, second bool) {
		part := 0
		if second {
			part = 1
		}
		s := untouched()
		if s.decodeChanges(part, b) != nil {
			return
		}
		for i := range uint32(passages) {
			if within := int(i)/changesPart == part; !within && (s.Dead.Has(i) || s.Orphans.Has(i)) {
				t.Fatalf("passage %d changed in part %d", i, part)
			}
			if s.Dead.Has(i) {
				s.Orphans.remove(i) // nobody asks
			}
		}
		back := untouched()
		if err := back.decodeChanges(part, s.encodeChanges(part)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.Dead, s.Dead) || !slices.Equal(back.Orphans, s.Orphans) {
			t.Error("what was encoded comes back as something else")
		}
	})
}
