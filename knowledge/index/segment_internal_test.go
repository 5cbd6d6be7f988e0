package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomPostings returns postings as a builder would make them, up to the largest counts.
func randomPostings(rng *rand.Rand, n int) []posting {
	var list []posting
	ord := uint32(0)
	for range n {
		ord += 1 + uint32(rng.IntN(1+rng.IntN(100000)))
		p := posting{
			ord: ord, forms: uint8(1 + rng.IntN(255)), title: uint8(rng.IntN(maxFieldCount + 1)),
			path: uint8(rng.IntN(maxFieldCount + 1)),
		}
		p.text = uint16(rng.IntN(1 + rng.IntN(40)))
		if rng.IntN(500) == 0 {
			p.text = maxTextLen
		}
		for range int(p.title) + int(p.text) {
			p.places = append(p.places, encodePlace(rng.IntN(1+rng.IntN(300)))...)
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
		postings []posting
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
				w.postings[j].forms = 1
			}
		}
		terms[fmt.Sprintf("term%04d", i)] = w
	}
	var blocks [][]byte
	w := &segmentWriter{bound: func(*posting) uint8 { return 7 }, out: func(b []byte) error {
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
	check := func(name string, l *list) {
		t.Helper()
		if l == nil {
			t.Fatalf("%s is not found", name)
		}
		want := terms[name]
		var got []posting
		var c chunk
		if err := l.each(&c, func(c *chunk) error {
			if c.bound != 7 || c.last != c.ords[c.n-1] {
				t.Errorf("%s: bound %d, last %d of %v", name, c.bound, c.last, c.ords[:c.n])
			}
			return c.placesOf(func(i int, places []byte) bool {
				got = append(got, c.posting(i, places))
				return true
			})
		}); err != nil {
			t.Fatal(err)
		}
		same := func(a, b posting) bool {
			return a.ord == b.ord && a.text == b.text && a.title == b.title && a.path == b.path && a.forms == b.forms &&
				string(a.places) == string(b.places)
		}
		if !slices.EqualFunc(got, want.postings, same) || !slices.Equal(l.forms, want.forms) || l.others != want.others ||
			l.postings != len(want.postings) {
			t.Fatalf("%s: %d postings with forms %v %v, want %d with %v %v", name, len(got), l.forms, l.others,
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
			if err != nil || l == nil || l.term != name {
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
	c := newCursor(l)
	for i := 0; i < len(terms["term0200"].postings); i += 1 + rng.IntN(700) {
		want := terms["term0200"].postings[i].ord
		if at, ok := c.seek(want - uint32(rng.IntN(2))); !ok || at > want {
			t.Fatalf("seek(%d) = %d, %v", want, at, ok)
		}
	}
	if _, ok := c.seek(1<<32 - 1); ok || c.err != nil {
		t.Errorf("seek after the end: %v, %v", ok, c.err)
	}
}

func sortedFrom(names []string, from string) int {
	i, _ := slices.BinarySearch(names, from)
	return i
}

func FuzzBlock(f *testing.F) {
	w := &segmentWriter{bound: func(*posting) uint8 { return 9 }, out: func(b []byte) error {
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
		var c chunk
		for {
			l, err := next()
			if err != nil || l == nil {
				break
			}
			_ = l.each(&c, func(c *chunk) error { return c.placesOf(func(int, []byte) bool { return true }) })
			cur := newCursor(l)
			for ord := uint32(0); ord < 50; ord += 7 {
				if _, ok := cur.seek(ord); ok {
					cur.positions()
				}
			}
		}
	})
}

func FuzzRecordsOfASegment(f *testing.F) {
	s := &segment{
		numbers: []uint32{4, 9}, hashes: make([][16]byte, 2), owners: []uint32{1, 2},
		lengths: make([]lengths, 2),
	}
	s.ready()
	s.dead.add(1)
	f.Add(s.encodeTable(0))
	f.Add(s.encodeMeta())
	f.Add(s.encodeChanges(0))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &segment{}
		if s.decodeTable(b) == nil && s.len() < 1000 {
			s.ready()
			_ = s.decodeChanges(0, b)
		}
		_, _ = (&segment{}).decodeMeta(b)
		_, _ = decodeNumbers(b)
	})
}

func FuzzChangesOfASegment(f *testing.F) {
	const passages = changesPart + 100
	untouched := func() *segment {
		s := &segment{numbers: make([]uint32, passages)}
		s.ready()
		return s
	}
	for _, every := range []int{1, 2, 7, 5000, 2 * passages} {
		s := untouched()
		for i := range uint32(passages) {
			if i%uint32(every) == 0 {
				s.dead.add(i)
			} else if i%3 == 0 {
				s.orphans.add(i)
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
			if within := int(i)/changesPart == part; !within && (s.dead.has(i) || s.orphans.has(i)) {
				t.Fatalf("passage %d changed in part %d", i, part)
			}
			if s.dead.has(i) {
				s.orphans.remove(i) // nobody asks
			}
		}
		back := untouched()
		if err := back.decodeChanges(part, s.encodeChanges(part)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.dead, s.dead) || !slices.Equal(back.orphans, s.orphans) {
			t.Error("what was encoded comes back as something else")
		}
	})
}

func TestBoundsHoldWhateverTheAveragesBecome(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 20000 {
		then := averages{text: 1 + rng.Float64()*400, title: 1 + rng.Float64()*20, path: 1 + rng.Float64()*20}
		now := averages{text: 1 + rng.Float64()*400, title: 1 + rng.Float64()*20, path: 1 + rng.Float64()*20}
		p := posting{text: uint16(rng.IntN(60)), title: uint8(rng.IntN(4)), path: uint8(rng.IntN(4))}
		l := lengths{text: uint16(rng.IntN(900)), title: uint8(rng.IntN(30)), path: uint8(rng.IntN(30))}
		bound := loosened(newNorms(then).bound(&p, l), growth(then, now))
		if got := saturated(newNorms(now).weighted(l, int(p.text), int(p.title), int(p.path))); float64(got) > bound+1e-5 {
			t.Fatalf("posting %+v of %+v is worth %v with %+v, over its bound %v made with %+v", p, l, got, now, bound, then)
		}
	}
}
