package knowledge

import (
	"slices"
	"strings"
)

// cursor moves through the postings of a list to given passages and reads only the chunks that have them.
type cursor struct {
	list    *list
	part    int    // in list.parts
	rest    []byte // of the part
	c       chunk
	i       int // in c
	decoded bool
	places  [][]byte // of the chunk's postings; nil until asked for
	done    bool
	err     error
}

func newCursor(l *list) *cursor {
	c := &cursor{list: l}
	c.advance()
	return c
}

// advance moves to the next chunk.
func (c *cursor) advance() {
	for len(c.rest) == 0 {
		if c.part == len(c.list.parts) {
			c.done = true
			return
		}
		c.rest = c.list.parts[c.part]
		c.part++
	}
	if c.rest, c.err = c.c.head(c.rest, c.list.several()); c.err != nil {
		c.done = true
	}
	c.i, c.decoded, c.places = 0, false, nil
}

// seek moves to the first posting not before ord and returns its passage, or false at the end.
func (c *cursor) seek(ord uint32) (uint32, bool) {
	for !c.done && c.c.last < ord {
		c.advance()
	}
	if c.done {
		return 0, false
	}
	if !c.decoded {
		if c.err = c.c.decode(c.list.several()); c.err != nil {
			c.done = true
			return 0, false
		}
		c.decoded = true
	}
	for c.i < c.c.n && c.c.ords[c.i] < ord {
		c.i++
	}
	if c.i == c.c.n { // a damaged chunk whose last posting is not where its head says
		c.done, c.err = true, errSegment
		return 0, false
	}
	return c.c.ords[c.i], true
}

// positions returns where the term stands in the title and in the text of the current posting.
func (c *cursor) positions() (title, text []uint32) {
	if c.places == nil {
		c.places = make([][]byte, 0, c.c.n)
		c.err = c.c.placesOf(func(_ int, places []byte) bool {
			c.places = append(c.places, places)
			return true
		})
	}
	if c.i >= len(c.places) {
		return nil, nil
	}
	b := c.places[c.i]
	read := func(n int) []uint32 {
		list := make([]uint32, 0, n)
		at := uint64(0)
		for range n {
			var d uint64
			d, b = uvarint(b)
			at += d
			list = append(list, uint32(at))
		}
		return list
	}
	title = read(c.c.titleCount(c.i))
	return title, read(c.c.textCount(c.i))
}

func cursorsOf(lists []*list) []*cursor {
	cursors := make([]*cursor, len(lists))
	for i, l := range lists {
		cursors[i] = newCursor(l)
	}
	return cursors
}

// occurrences calls f for each passage in which the terms stand at these offsets from each other, with how often they
// do so in the title and in the text.
func occurrences(lists []*list, offsets []int, f func(ord uint32, title, text int)) error {
	cursors := cursorsOf(lists)
	return common(cursors, func(ord uint32) bool {
		if title, text := occurrencesIn(ord, cursors, offsets); title+text > 0 {
			f(ord, title, text)
		}
		return true
	})
}

// common calls f for the passages that all cursors have, until f returns false.
func common(cursors []*cursor, f func(ord uint32) bool) error {
	for ord := uint32(0); ; ord++ {
		for i := 0; i < len(cursors); {
			at, ok := cursors[i].seek(ord)
			if !ok {
				return cursors[i].err
			}
			if at > ord {
				ord, i = at, 0
				continue
			}
			i++
		}
		if !f(ord) {
			return nil
		}
	}
}

// occurrencesIn returns how often the terms stand at the offsets from each other in the title and the text of a
// passage.
func occurrencesIn(ord uint32, cursors []*cursor, offsets []int) (title, text int) {
	var at termPlaces
	for i, places := range placesIn(cursors, ord) {
		if i == 0 {
			at = places
			continue
		}
		at.title = following(at.title, places.title, offsets[i])
		at.text = following(at.text, places.text, offsets[i])
	}
	return len(at.title), len(at.text)
}

// following keeps the positions after which, offset further, one of next stands. Both are ascending.
func following(at, next []uint32, offset int) []uint32 {
	return slices.DeleteFunc(at, func(p uint32) bool {
		_, ok := slices.BinarySearch(next, p+uint32(offset))
		return !ok
	})
}

// scoredPhrase is a phrase of the query with the postings of its words in each segment.
type scoredPhrase struct {
	text    string // its stems
	offsets []int
	idf     float64
	lists   [][]*list // by segment; nil where a word is missing
}

// loadPhrase finds the postings of a phrase. It is as rare as its words are together.
func (s *scorer) loadPhrase(p phrase) scoredPhrase {
	loaded := scoredPhrase{text: strings.Join(p.stems, " "), offsets: p.offsets, lists: make([][]*list, len(s.x.segments))}
	df := make([]int, len(p.stems))
	for n, seg := range s.x.segments {
		lists := make([]*list, len(p.stems))
		missing := false
		for i, stem := range p.stems {
			l, err := find(seg.refs, s.x.blocksOf(seg, true), stem)
			if err != nil {
				s.x.unreadable(seg, err)
			}
			if l == nil || err != nil {
				missing = true
				continue
			}
			lists[i] = l
			df[i] += l.postings
		}
		if !missing {
			loaded.lists[n] = lists
		}
	}
	for _, n := range df {
		loaded.idf += rarity(s.total, n)
	}
	return loaded
}

// scorePhrases adds the worth of the query's phrases to the scores of a segment's passages. If the query has only
// phrases, a passage without any is not a hit.
func (s *scorer) scorePhrases(n int, onlyPhrases bool, allowed bitset) {
	seg := s.x.segments[n]
	var with bitset
	if onlyPhrases {
		with = newBitset(seg.len())
	}
	for i := range s.phrases {
		p := &s.phrases[i]
		if p.lists[n] == nil {
			continue
		}
		err := occurrences(p.lists[n], p.offsets, func(ord uint32, title, text int) {
			if allowed != nil && !allowed.has(ord) {
				return
			}
			s.sheet.scores[ord] += s.phraseWorth(p, seg.lengths[ord], title, text)
			s.sheet.touched[ord>>regionBits] = true
			if with != nil {
				with.add(ord)
			}
		})
		if err != nil {
			s.x.unreadable(seg, err)
		}
	}
	if with != nil {
		for from, scores := range s.sheet.regions() {
			for i := range scores {
				if !with.has(from + uint32(i)) {
					scores[i] = 0
				}
			}
		}
	}
}

// phraseWorth returns the worth of a phrase that occurs so often in the title and in the text.
func (s *scorer) phraseWorth(p *scoredPhrase, l lengths, title, text int) float32 {
	return float32(p.idf) * float32(k1+1) * saturated(s.norms.weighted(l, text, title, 0))
}
