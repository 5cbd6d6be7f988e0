package segment

// Cursor moves through the postings of a list to given passages and reads only the chunks that have them.
type Cursor struct {
	list    *List
	part    int    // in list.parts
	rest    []byte // of the part
	c       Chunk
	i       int // in c
	decoded bool
	places  [][]byte // of the chunk's postings; nil until asked for
	done    bool
	Err     error
}

// NewCursor returns a cursor at the beginning of a list.
func NewCursor(l *List) *Cursor {
	c := &Cursor{list: l}
	c.advance()
	return c
}

// advance moves to the next chunk.
func (c *Cursor) advance() {
	for len(c.rest) == 0 {
		if c.part == len(c.list.parts) {
			c.done = true
			return
		}
		c.rest = c.list.parts[c.part]
		c.part++
	}
	if c.rest, c.Err = c.c.head(c.rest, c.list.several()); c.Err != nil {
		c.done = true
	}
	c.i, c.decoded, c.places = 0, false, nil
}

// Seek moves to the first posting not before ord and returns its passage, or false at the end.
func (c *Cursor) Seek(ord uint32) (uint32, bool) {
	for !c.done && c.c.last < ord {
		c.advance()
	}
	if c.done {
		return 0, false
	}
	if !c.decoded {
		if c.Err = c.c.decode(c.list.several()); c.Err != nil {
			c.done = true
			return 0, false
		}
		c.decoded = true
	}
	for c.i < c.c.N && c.c.Ords[c.i] < ord {
		c.i++
	}
	if c.i == c.c.N { // a damaged chunk whose last posting is not where its head says
		c.done, c.Err = true, ErrDamaged
		return 0, false
	}
	return c.c.Ords[c.i], true
}

// Posting returns the chunk that has the current posting, and where.
func (c *Cursor) Posting() (in *Chunk, i int) { return &c.c, c.i }

// Forms returns which of the term's forms the current posting has, as bits.
func (c *Cursor) Forms() uint8 { return c.c.Forms[c.i] }

// positions returns where the term stands in the title and in the text of the current posting.
func (c *Cursor) positions() (title, text []uint32) {
	if c.places == nil {
		c.places = make([][]byte, 0, c.c.N)
		c.Err = c.c.PlacesOf(func(_ int, places []byte) bool {
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
			d, b = Uvarint(b)
			at += d
			list = append(list, uint32(at))
		}
		return list
	}
	title = read(c.c.TitleCount(c.i))
	return title, read(c.c.TextCount(c.i))
}

// CursorsOf returns a cursor for each list.
func CursorsOf(lists []*List) []*Cursor {
	cursors := make([]*Cursor, len(lists))
	for i, l := range lists {
		cursors[i] = NewCursor(l)
	}
	return cursors
}

// Common calls f for the passages that all cursors have, until f returns false.
func Common(cursors []*Cursor, f func(ord uint32) bool) error {
	for ord := uint32(0); ; ord++ {
		for i := 0; i < len(cursors); {
			at, ok := cursors[i].Seek(ord)
			if !ok {
				return cursors[i].Err
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
