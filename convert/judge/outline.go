package judge

import (
	"context"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/rules"
)

// block is a block of text: a paragraph, a heading, the own words of a list item, a table of data, or a code block. It
// is one element or a run of inline siblings between blocks. What is counted of it becomes its features (features.go).
type block struct {
	first, last *html.Node // siblings
	box         int32      // index of the box around it
	tag         atom.Atom  // the element that makes it a block

	words, linked  int32 // words, and those inside links
	letters        int32
	digits         int32
	capitals       int32 // words that begin with a capital
	commas         int32
	sentences      int32 // marks that end a sentence
	ended          bool  // its last character ends a sentence
	signs          uint8 // see the sign constants
	hash           uint64
	slanted, bold  int32       // words in emphasis of either kind
	bracket        bool        // it begins with one
	opening        [12]float32 // what its first words say, see wordOdds
	openings, said int8        // how many of them were looked at, and how many are known
}

// Signs in a block's text. Features tell each of them apart.
const (
	signCurrency = 1 << iota
	signCopyright
	signYear
	signTime // a time element
	signBar
	signImage
)

// long reports whether a block of the outline is prose rather than a label: many words, few of them links.
func (b *block) long() bool { return b.words >= 15 && b.linked*3 < b.words }

// box is an element that holds blocks. Boxes are in the order of the page, each behind the one around it, and begin and
// end are indices of blocks: the blocks in a box follow one another.
type box struct {
	node          *html.Node
	parent        int32
	begin, end    int32 // its blocks
	words, linked int32
	prose         int32 // words in long blocks
	shape         uint32
	alike         int32 // how many siblings, with itself, have its shape
	depth         int32
	marks         uint32  // of itself and all around it
	low, high     float32 // what its own names say, see nameOdds
	lowest, highest,
	sum float32 // of itself and all around it
	dropped bool // by the rules of package rules, or around it
	inRoot  bool
}

// own is, for a box of the outline, the number of words that are not links. A box with few of them is a menu or a list
// of links.
func (b *box) own() int32 { return b.words - b.linked }

// outline is a page as a sequence of blocks in nested boxes. It refers to the page's tree, which must not change while
// it is used.
type outline struct {
	ctx      context.Context
	odds     odds
	kind     rules.PageType
	boxes    []box
	blocks   []block
	pictures []illustration
	nested   map[*html.Node]bool // inline elements that hold blocks
	cur      *block              // open run

	slanted, bold   int    // open elements of emphasis
	news            bool   // the page says that it is
	price           int    // the block with the stated price if that alone kept it: no picture belongs to it; else -1
	title, abstract uint64 // what the page's head calls the page and says of it, as the hash of a block; 0 for nothing
}

// illustration is an image that stands outside the blocks of text. Images inside a run of text belong to its block.
type illustration struct {
	node *html.Node
	box  int32 // around it
	at   int32 // how many blocks stand before it
}

// newOutline divides what is below body into blocks. It stops after maxJudged of them. Who needs it no longer calls
// [outline.free]. c is the choice that the rules made, o the odds of names and words that the model knows.
func newOutline(ctx context.Context, body *html.Node, c rules.Choice, o odds) *outline {
	t := &outline{ctx: ctx, odds: o, nested: map[*html.Node]bool{}, price: -1}
	if room, ok := outlines.Get().(*outline); ok {
		t.boxes, t.blocks = room.boxes[:0], room.blocks[:0]
	}
	t.findNested(body)
	t.enter(body, -1, c, false)
	t.compare()
	return t
}

// outlines holds room for boxes and blocks, which a page has many of. Room of one page serves the next.
var outlines sync.Pool

// free lets later outlines have the room of this one, which is not used any more. What is left of a page in the room is
// cleared, or it would keep the page's tree alive.
func (t *outline) free() {
	clear(t.boxes) // with the page's tree
	clear(t.blocks)
	outlines.Put(&outline{boxes: t.boxes, blocks: t.blocks})
}

// about records the title and the description of the page, and whether it is news. A block with the same hash is the
// title or the description.
func (t *outline) about(h *head.Head) {
	t.title, t.abstract, t.news = hashOf(h.Title), hashOf(h.Meta["description"]), h.News
}

// hashOf returns the hash of a block of the outline with the text s. It does not depend on spaces, case and
// punctuation.
func hashOf(s string) uint64 {
	var b block
	b.add(s, false, odds{})
	return b.hash
}

// findNested notes the inline elements from n down that hold blocks, and reports whether n is a block or holds one.
// HTML allows a link around whole cards; such an inline element ends a run of text as a block does.
func (t *outline) findNested(n *html.Node) bool {
	guard.Check(t.ctx)
	found := false
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && t.findNested(c) {
			found = true
		}
	}
	if dom.IsBlock(n) {
		return true
	}
	if found {
		t.nested[n] = true
	}
	return found
}

// enter adds a box for the element n and divides what is below it into blocks. parent is the index of the box around
// it, -1 for the body; dropped says that the rules drop what is around. Boxes get the sums of their blocks when they
// end.
func (t *outline) enter(n *html.Node, parent int32, c rules.Choice, dropped bool) {
	i := int32(len(t.boxes))
	b := box{node: n, parent: parent, begin: int32(len(t.blocks)), dropped: dropped || c.Dropped[n]}
	if parent >= 0 {
		p := &t.boxes[parent]
		b.marks, b.lowest, b.highest, b.sum, b.depth, b.inRoot = p.marks, p.lowest, p.highest, p.sum, p.depth+1, p.inRoot
	}
	b.inRoot = b.inRoot || n == c.Root
	b.marks |= markOf(n)
	b.shape = dom.Shape(n)
	b.low, b.high = t.odds.names(n)
	b.lowest, b.highest, b.sum = min(b.lowest, b.low), max(b.highest, b.high), b.sum+b.low+b.high
	t.boxes = append(t.boxes, b)
	t.cur = nil
	for d := n.FirstChild; d != nil; d = d.NextSibling {
		guard.Check(t.ctx)
		if len(t.blocks) > maxJudged {
			return // not asked
		}
		switch {
		// Text and inline elements go into the open run of the box; tables of data and code are blocks of their own; blocks
		// are boxes.
		case d.Type == html.TextNode:
			t.text(d, i, n.DataAtom, d, b.marks&inLink != 0)
		case d.Type != html.ElementNode:
		case dom.Is(d, atom.Pre) || dom.Is(d, atom.Table) && !t.holdsBlocks(d):
			t.cur = nil
			t.unit(d, i)
			t.cur = nil
		case dom.IsBlock(d) || t.nested[d]:
			t.cur = nil
			t.enter(d, i, c, t.boxes[i].dropped)
			t.cur = nil
		default:
			if c.Dropped[d] && !t.boxes[i].dropped {
				t.cur = nil
				t.enter(d, i, c, false)
				t.cur = nil
				break
			}
			t.inline(d, i, n.DataAtom, d, b.marks&inLink != 0)
		}
	}
	t.cur = nil
	e := &t.boxes[i]
	e.end = int32(len(t.blocks))
	for k := e.begin; k < e.end; k++ {
		if t.blocks[k].box == i {
			e.words, e.linked = e.words+t.blocks[k].words, e.linked+t.blocks[k].linked
			if t.blocks[k].long() {
				e.prose += t.blocks[k].words
			}
		}
	}
	if parent >= 0 {
		p := &t.boxes[parent]
		p.words, p.linked, p.prose = p.words+e.words, p.linked+e.linked, p.prose+e.prose
	}
}

// holdsBlocks reports whether cells of a table hold blocks of text, so that it is not only a table of data. One may be
// in it, such as a paragraph in a cell.
func (t *outline) holdsBlocks(table *html.Node) bool {
	count := 0
	for _, row := range dom.Rows(table) {
		for cell := row.FirstChild; cell != nil; cell = cell.NextSibling {
			for c := cell.FirstChild; c != nil; c = c.NextSibling {
				if dom.IsBlock(c) || t.nested[c] {
					count++
				}
			}
		}
	}
	return count > 1
}

// unit makes one block of all the text of a table or of code, in box i.
func (t *outline) unit(n *html.Node, i int32) {
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			t.text(n, i, n.DataAtom, d, linkBetween(d, n))
		}
	}
}

// linkBetween reports, for the outline, whether there is a link from d up to n, which is above it. Words in links count
// apart.
func linkBetween(d, n *html.Node) bool {
	for p := d.Parent; p != nil && p != n; p = p.Parent {
		if dom.Is(p, atom.A) {
			return true
		}
	}
	return false
}

// inline adds the text below the inline element n to the open run of box i. top is the child of the box that it stands
// in, tag the element of the box, link whether a link is around. Pictures outside of a run are noted as illustrations.
func (t *outline) inline(n *html.Node, i int32, tag atom.Atom, top *html.Node, link bool) {
	link = link || dom.Is(n, atom.A)
	if t.cur != nil {
		t.cur.last = top
		switch n.DataAtom {
		case atom.Time:
			t.cur.signs |= signTime
		case atom.Img:
			t.cur.signs |= signImage
		}
	} else if dom.Is(n, atom.Img) {
		t.pictures = append(t.pictures, illustration{n, i, int32(len(t.blocks))})
	}
	switch n.DataAtom {
	case atom.Em, atom.I:
		t.slanted++
		defer func() { t.slanted-- }()
	case atom.Strong, atom.B:
		t.bold++
		defer func() { t.bold-- }()
	}
	for d := n.FirstChild; d != nil; d = d.NextSibling {
		switch d.Type {
		case html.TextNode:
			t.text(top, i, tag, d, link)
		case html.ElementNode:
			t.inline(d, i, tag, top, link)
		}
	}
	if t.cur != nil && dom.Is(n, atom.Time) {
		t.cur.signs |= signTime
	}
}

// text adds the words of a text node to the block that top, a child of box i, belongs to. A blank one only reaches on
// to the end of the run. A run that is not open yet is begun.
func (t *outline) text(top *html.Node, i int32, tag atom.Atom, n *html.Node, link bool) {
	if chars.Blank(n.Data) {
		if t.cur != nil {
			t.cur.last = top
		}
		return
	}
	if t.cur == nil {
		t.blocks = append(t.blocks, block{first: top, box: i, tag: tag})
		t.cur = &t.blocks[len(t.blocks)-1]
		opening := strings.TrimSpace(n.Data)[0]
		t.cur.bracket = opening == '(' || opening == '['
	}
	t.cur.last = top
	before := t.cur.words
	t.cur.add(n.Data, link, t.odds)
	if t.slanted > 0 {
		t.cur.slanted += t.cur.words - before
	}
	if t.bold > 0 {
		t.cur.bold += t.cur.words - before
	}
}

// add counts the words and signs of a text into a block of the outline, and its letters and digits into the block's
// hash. link says that the text is inside a link. Words end at anything that is no letter or digit, except for the
// underscore; scripts without spaces are counted by two letters a word.
func (b *block) add(s string, link bool, o odds) {
	const prime = 1099511628211
	start, digitsIn := -1, 0
	word := func(end int) {
		if start < 0 {
			return
		}
		w := s[start:end]
		b.words++
		if link {
			b.linked++
		}
		r, _ := utf8.DecodeRuneInString(w)
		if unicode.IsUpper(r) {
			b.capitals++
		}
		if digitsIn == 4 && len(w) == 4 && (w[:2] == "20" || w[:2] == "19") {
			b.signs |= signYear
		}
		if int(b.openings) < len(b.opening) {
			if v, ok := o.word(w); ok {
				b.opening[b.said] = v
				b.said++
			}
			b.openings++
		}
		start, digitsIn = -1, 0
	}
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			b.letters++
			b.hash = (b.hash ^ uint64(r|0x20)) * prime
		case r >= '0' && r <= '9':
			b.digits++
			digitsIn++
			b.hash = (b.hash ^ uint64(r)) * prime
		case r < 0x80:
			switch r {
			case ',', ';':
				b.commas++
			case '.', '!', '?':
				b.sentences++
			case '$':
				b.signs |= signCurrency
			case '|':
				b.signs |= signBar
			case '_':
				continue
			}
			if r > ' ' {
				b.ended = r == '.' || r == '!' || r == '?' || (r == '"' || r == '\'' || r == ')' || r == ':') && b.sentences > 0
			}
			word(i)
			continue
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r):
			b.letters++
			b.hash = (b.hash ^ uint64(r)) * prime
			if r >= 0x3040 && r <= 0x9fff { // letters of scripts without spaces: two make a word, roughly
				if start >= 0 && i-start >= 6 {
					word(i)
				}
			}
		default:
			switch r {
			case '€', '£', '¥', '₹':
				b.signs |= signCurrency
			case '©':
				b.signs |= signCopyright
			case '。', '！', '？', '…':
				b.sentences++
			case '，', '、':
				b.commas++
			}
			b.ended = r == '。' || r == '！' || r == '？' || r == '…' ||
				(r == '”' || r == '’' || r == '»') && b.sentences > 0
			word(i)
			continue
		}
		b.ended = false
		if start < 0 {
			start = i
		}
	}
	word(len(s))
}
