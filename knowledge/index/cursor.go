package index

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

// posting returns the chunk that has the current posting, and where.
func (c *cursor) posting() (in *chunk, i int) { return &c.c, c.i }

// forms returns which of the term's forms the current posting has, as bits.
func (c *cursor) forms() uint8 { return c.c.forms[c.i] }

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
