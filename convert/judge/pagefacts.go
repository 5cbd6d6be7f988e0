package judge

import (
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/rules"
)

// pageFacts are the features that all blocks of a page share, and sums that features are taken from. The slices by
// block have one entry more than there are blocks where they are sums of what stands before.
type pageFacts struct {
	words, own, prose       float32
	density                 float32
	kind                    rules.PageType
	articles, h1            float32
	h1At                    int // the first h1, or -1
	keptShare               float32
	proseBefore             []int32
	wordsBefore, linkBefore []int32
	lastLong, nextLong      []int32
	heading                 []int32 // the heading above, or -1
	repeats                 map[uint64]int32
	longest                 float32
	repeated                float32
	top                     int32 // the box that readers of articles would choose
	topStyle                uint64
	styles                  map[uint64]*style
	picturesAt              []float32 // before each block
	picturesIn              []int32   // in each box
	titleAt                 int32     // the heading that is the page's title, else the first h1, or -1
	titleBox                int32     // the smallest box with that heading and prose
}

// style sums up the blocks that look alike. A site sets all its prose in one style, and its teasers in another.
type style struct{ blocks, words, linked, prose int32 }

// styleOf names, as a fact of the page, how block b looks: its element and the shapes of the two boxes around it. It is
// the same for blocks that look alike; two looks may by chance have one name.
func (t *outline) styleOf(b *block) uint64 {
	x := &t.boxes[b.box]
	h := uint64(b.tag)<<40 ^ uint64(x.shape)
	if x.parent >= 0 {
		h = h*31 ^ uint64(t.boxes[x.parent].shape)<<8
	}
	return h
}

// topBox returns, as a fact of the page, the box with the best score of an article extractor: points for the long
// blocks in a box and its parents, fewer if they hold links. It is what tools for articles have done for long, and is
// right often enough to be a feature.
func (t *outline) topBox() int32 {
	scores := map[int32]float32{}
	for i := range t.blocks {
		b := &t.blocks[i]
		if b.words < 8 || b.linked*2 > b.words {
			continue
		}
		v := 1 + float32(b.commas)/2 + min(float32(b.words)/20, 4)
		x := b.box
		if !blockRun(b) && t.boxes[x].parent >= 0 && t.boxes[x].end-t.boxes[x].begin == 1 {
			x = t.boxes[x].parent
		}
		for part := float32(1); x >= 0 && part > .3; x, part = t.boxes[x].parent, part/2 {
			scores[x] += v * part
		}
	}
	best, most := int32(0), float32(0)
	for x, v := range scores {
		v *= 1 - ratio(t.boxes[x].linked, t.boxes[x].words)
		v *= 1 + .2*(t.boxes[x].high+t.boxes[x].low)
		if v > most || v == most && x < best {
			best, most = x, v
		}
	}
	return best
}

// entitled returns, as facts of the page, the heading that is the page's title, or h1 if no heading is, and the
// smallest box that holds it and prose. h1 is the index of the first heading of level one, or -1.
func (t *outline) entitled(h1 int32) (at, around int32) {
	const prose = 40 // words
	at = h1
	for i := range t.blocks {
		if b := &t.blocks[i]; b.hash == t.title && headingTag(b.tag) {
			at = int32(i)
			break
		}
	}
	if at < 0 {
		return at, 0
	}
	around = t.blocks[at].box
	for t.boxes[around].prose < prose && t.boxes[around].parent >= 0 {
		around = t.boxes[around].parent
	}
	return at, around
}

// blockRun reports, for the facts of the page, whether a block is a run of inline nodes rather than an element of its
// own.
func blockRun(b *block) bool { return !dom.Is(b.first, b.tag) }

// facts computes the facts of the page: what the features of all blocks need of the page: sums before each block,
// headings above and prose around it, repetitions, styles, pictures, and the box with most of the article.
func (t *outline) facts(kind rules.PageType) *pageFacts {
	n := len(t.blocks)
	p := &pageFacts{
		kind: kind, h1At: -1,
		proseBefore: make([]int32, n+1), wordsBefore: make([]int32, n+1), linkBefore: make([]int32, n+1),
		lastLong: make([]int32, n), nextLong: make([]int32, n), heading: make([]int32, n), repeats: make(map[uint64]int32, n),
	}
	p.picturesAt, p.picturesIn = make([]float32, n+1), make([]int32, len(t.boxes))
	for _, q := range t.pictures {
		p.picturesAt[q.at] = min(3, p.picturesAt[q.at]+1)
		p.picturesIn[q.box]++
	}
	for i := len(t.boxes) - 1; i > 0; i-- { // the inner ones first
		p.picturesIn[t.boxes[i].parent] += p.picturesIn[i]
	}
	last, head := int32(-1), int32(-1)
	kept := int32(0)
	for i := range t.blocks {
		b := &t.blocks[i]
		p.wordsBefore[i+1], p.linkBefore[i+1], p.proseBefore[i+1] = p.wordsBefore[i]+b.words, p.linkBefore[i]+b.linked,
			p.proseBefore[i]
		p.lastLong[i], p.heading[i] = last, head
		if b.long() {
			p.proseBefore[i+1] += b.words
			last = int32(i)
		}
		if headingTag(b.tag) {
			head = int32(i)
			if b.tag == atom.H1 {
				p.h1++
				if p.h1At < 0 {
					p.h1At = i
				}
			}
		}
		p.repeats[b.hash]++
		if x := &t.boxes[b.box]; !x.dropped && x.inRoot {
			kept += b.words
		}
		p.longest = max(p.longest, float32(b.words))
	}
	// The same from the end, for the next block of prose behind each.
	next := int32(n)
	for i := n - 1; i >= 0; i-- {
		p.nextLong[i] = next
		if t.blocks[i].long() {
			next = int32(i)
		}
	}
	p.words, p.prose = float32(p.wordsBefore[n]), float32(p.proseBefore[n])
	p.own = p.words - float32(p.linkBefore[n])
	p.density = ratio(p.linkBefore[n], p.wordsBefore[n])
	p.keptShare = ratio(kept, p.wordsBefore[n])
	most := int32(0)
	for i := range t.boxes {
		x := &t.boxes[i]
		if x.node.DataAtom == atom.Article {
			p.articles++
		}
		if x.alike > 2 && x.words > 8 {
			most = max(most, x.alike)
		}
	}
	p.repeated = lg(most)
	p.titleAt, p.titleBox = t.entitled(int32(p.h1At))
	p.top = t.topBox()
	p.styles = map[uint64]*style{}
	for i := range t.blocks {
		b := &t.blocks[i]
		k := t.styleOf(b)
		st := p.styles[k]
		if st == nil {
			st = &style{}
			p.styles[k] = st
		}
		st.blocks, st.words, st.linked = st.blocks+1, st.words+b.words, st.linked+b.linked
		if b.long() {
			st.prose += b.words
			if old := p.styles[p.topStyle]; old == nil || st.prose > old.prose {
				p.topStyle = k
			}
		}
	}
	return p
}
