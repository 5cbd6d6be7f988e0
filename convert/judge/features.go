package judge

import (
	"math"

	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/rules"
)

// featureCount is the length of the feature vector of a block. The order of the calls of put defines the features; a
// change of that order requires a new model.
const featureCount = 148

// headingTag reports, as a feature, whether the element of a block is a heading of any level.
func headingTag(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// ratio is a/b as a feature; 0 where b is 0.
func ratio(a, b int32) float32 {
	if b == 0 {
		return 0
	}
	return float32(a) / float32(b)
}

// lg is, for features, the logarithm to the base 2 of n+1. Counts are features by their logarithm: a tree asks for the
// order of a number, and what is 0 stays 0.
func lg(n int32) float32 {
	if n >= 0 && int(n) < len(smallLogs) {
		return smallLogs[n]
	}
	return float32(math.Log2(float64(n) + 1))
}

// smallLogs holds lg of small numbers, which the features of one block need thirty times.
var smallLogs = func() (logs [512]float32) {
	for n := range logs {
		logs[n] = float32(math.Log2(float64(n) + 1))
	}
	return logs
}()

// flag is 1 as a feature for true.
func flag(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// vector is a feature vector that is being filled. n is the number of the next feature.
type vector struct {
	f *[featureCount]float32
	n int
}

// put sets the next feature.
func (v *vector) put(value float32) {
	v.f[v.n] = value
	v.n++
}

// features fills f with the features of block i. Each of the methods below puts the same number of features for every
// block, whatever it is; -1 and -2 stand for what a block has not.
func (t *outline) features(i int, p *pageFacts, f *[featureCount]float32) {
	v := &vector{f: f}
	t.selfFeatures(v, i)
	t.roundFeatures(v, i, p)
	t.placeFeatures(v, i, p)
	t.boxesFeatures(v, i, p)
	t.namesFeatures(v, i, p)
	t.pageFeatures(v, i, p)
	t.styleFeatures(v, i, p)
	t.pictureFeatures(v, i, p)
	t.emphasisFeatures(v, i)
	t.titleFeatures(v, i, p)
}

// selfFeatures puts features of the block itself.
func (t *outline) selfFeatures(v *vector, i int) {
	b := &t.blocks[i]
	x := &t.boxes[t.blocks[i].box]
	v.put(lg(b.words))
	v.put(ratio(b.linked, b.words))
	v.put(ratio(b.letters, b.words))
	v.put(flag(b.ended))
	v.put(lg(b.sentences))
	v.put(ratio(b.commas, b.words))
	v.put(ratio(b.digits, b.letters+b.digits))
	v.put(ratio(b.capitals, b.words))
	level := float32(0)
	if headingTag(b.tag) {
		level = float32(b.tag.String()[1] - '0')
	}
	v.put(level)
	v.put(float32(tagClass(b.tag)))
	for bit := uint32(1); bit <= inLink; bit <<= 1 {
		v.put(flag(x.marks&bit != 0))
	}
	for s := uint8(1); s <= signImage; s <<= 1 {
		v.put(flag(b.signs&s != 0))
	}
}

// roundFeatures puts features of the blocks around the block.
func (t *outline) roundFeatures(v *vector, i int, p *pageFacts) {
	n := len(t.blocks)
	for _, d := range []int{-3, -2, -1, 1, 2, 3} {
		if j := i + d; j >= 0 && j < n {
			o := &t.blocks[j]
			v.put(lg(o.words))
			v.put(ratio(o.linked, o.words))
		} else {
			v.put(-1)
			v.put(-1)
		}
	}
	for _, d := range []int{-1, 1} {
		if j := i + d; j >= 0 && j < n {
			v.put(flag(headingTag(t.blocks[j].tag)))
		} else {
			v.put(-1)
		}
	}
	for _, d := range []int{4, 12} {
		lo, hi := max(0, i-d), min(n, i+d+1)
		words, links := p.wordsBefore[hi]-p.wordsBefore[lo], p.linkBefore[hi]-p.linkBefore[lo]
		v.put(lg(words - links))
		v.put(ratio(links, words))
		v.put(ratio(p.proseBefore[hi]-p.proseBefore[lo], words))
	}
}

// placeFeatures puts features of the place of the block on the page.
func (t *outline) placeFeatures(v *vector, i int, p *pageFacts) {
	x := &t.boxes[t.blocks[i].box]
	n := len(t.blocks)
	v.put(float32(i) / float32(n))
	v.put(float32(p.wordsBefore[i]) / max(1, p.words))
	v.put(float32(p.proseBefore[i]) / max(1, p.prose))
	v.put(float32(p.proseBefore[n]-p.proseBefore[i+1]) / max(1, p.prose))
	if p.h1At < 0 {
		v.put(-99)
	} else if d := int32(i - p.h1At); d < 0 {
		v.put(-lg(-d))
	} else {
		v.put(lg(d))
	}
	if p.lastLong[i] < 0 {
		v.put(20)
	} else {
		v.put(lg(int32(i) - p.lastLong[i]))
	}
	if p.nextLong[i] >= int32(n) {
		v.put(20)
	} else {
		v.put(lg(p.nextLong[i] - int32(i)))
	}
	v.put(lg(x.depth))
}

// boxesFeatures puts features of the boxes around the block.
func (t *outline) boxesFeatures(v *vector, i int, p *pageFacts) {
	b := &t.blocks[i]
	// The boxes around it, those that hold more than the one before.
	// far tells of the largest list of boxes alike that the block is in, near of the innermost.
	levels, near := 0, int32(0)
	far, farWords, farShare, farDensity := int32(0), float32(0), float32(0), float32(0)
	begin, end := int32(-1), int32(-1)
	for j := b.box; j >= 0; j = t.boxes[j].parent {
		y := &t.boxes[j]
		if levels < 4 && near < y.alike && y.words > 0 {
			near = y.alike
		}
		if y.alike > 2 && y.alike > far {
			far = y.alike
			farWords = lg(y.words)
			if y.parent >= 0 {
				farShare = ratio(t.boxes[y.parent].own(), int32(p.own)+1)
				farDensity = ratio(t.boxes[y.parent].linked, t.boxes[y.parent].words)
			}
		}
		if y.begin == begin && y.end == end {
			continue
		}
		begin, end = y.begin, y.end
		if levels < 5 {
			v.put(lg(y.end - y.begin))
			v.put(ratio(y.linked, y.words))
			v.put(lg(y.own()))
			v.put(ratio(y.prose, y.words))
			v.put(ratio(y.own(), int32(p.own)+1))
			v.put(ratio(int32(i)-y.begin, y.end-y.begin))
		}
		levels++
	}
	for ; levels < 5; levels++ {
		for range 6 {
			v.put(-1)
		}
	}
	v.put(lg(near))
	v.put(lg(far))
	v.put(farWords)
	v.put(farShare)
	v.put(farDensity)
}

// namesFeatures puts features of the names and first words of the block and its boxes.
func (t *outline) namesFeatures(v *vector, i int, p *pageFacts) {
	b := &t.blocks[i]
	x := &t.boxes[t.blocks[i].box]
	v.put(x.low)
	v.put(x.high)
	v.put(x.lowest)
	v.put(x.highest)
	v.put(x.sum)
	low, high, mean := b.saying()
	v.put(low)
	v.put(high)
	v.put(mean)
	if h := p.heading[i]; h >= 0 {
		low, high, mean := t.blocks[h].saying()
		v.put(low)
		v.put(high)
		v.put(mean)
		v.put(lg(int32(i) - h))
		v.put(float32(t.blocks[h].tag.String()[1] - '0'))
	} else {
		for range 5 {
			v.put(-2)
		}
	}
}

// pageFeatures puts features of the decision of the rules and the page as a whole.
func (t *outline) pageFeatures(v *vector, i int, p *pageFacts) {
	b := &t.blocks[i]
	x := &t.boxes[t.blocks[i].box]
	n := len(t.blocks)
	v.put(flag(x.dropped))
	v.put(flag(x.inRoot))
	v.put(lg(p.repeats[b.hash]))
	v.put(lg(int32(p.words)))
	v.put(p.density)
	v.put(lg(int32(n)))
	v.put(p.prose / max(1, p.words))
	v.put(p.keptShare)
	v.put(min(p.articles, 10))
	v.put(min(p.h1, 5))
	v.put(p.repeated)
	v.put(lg(int32(p.longest)))
	v.put(float32(typeNumbers[p.kind]))
	v.put(flag(p.kind == rules.Forum))
	v.put(flag(p.kind == rules.Product))
}

// styleFeatures puts features of blocks that look like the block, and the box that an article extractor would choose.
func (t *outline) styleFeatures(v *vector, i int, p *pageFacts) {
	b := &t.blocks[i]
	st := p.styles[t.styleOf(b)]
	v.put(lg(st.blocks))
	v.put(ratio(st.words, int32(p.words)))
	v.put(ratio(st.linked, st.words))
	v.put(ratio(st.prose, st.words))
	v.put(float32(st.words) / float32(st.blocks))
	v.put(flag(t.styleOf(b) == p.topStyle))
	// Where it stands to the box an article extractor would choose.
	y := &t.boxes[p.top]
	v.put(flag(int32(i) >= y.begin && int32(i) < y.end))
	up, share := float32(0), ratio(y.own(), int32(p.own)+1)
	begin, end := y.begin, y.end
	for j := p.top; j >= 0; j = t.boxes[j].parent {
		z := &t.boxes[j]
		if z.begin != begin || z.end != end {
			up++
			begin, end = z.begin, z.end
		}
		if int32(i) >= z.begin && int32(i) < z.end {
			share = ratio(y.own(), z.own()+1)
			break
		}
	}
	v.put(up)
	v.put(share)
	v.put(ratio(y.own(), int32(p.own)+1))
	switch {
	case int32(i) < y.begin:
		v.put(-lg(y.begin - int32(i)))
	case int32(i) >= y.end:
		v.put(lg(int32(i) - y.end + 1))
	default:
		v.put(0)
	}
}

// pictureFeatures puts features of the pictures beside the block, and the smallest box around it that holds one.
func (t *outline) pictureFeatures(v *vector, i int, p *pageFacts) {
	v.put(p.picturesAt[i])
	v.put(p.picturesAt[i+1])
	up := float32(0)
	for j := t.blocks[i].box; j >= 0; j = t.boxes[j].parent {
		if n := p.picturesIn[j]; n > 0 {
			x := &t.boxes[j]
			v.put(lg(x.end - x.begin))
			v.put(ratio(n, x.end-x.begin))
			v.put(lg(x.words))
			v.put(up)
			return
		}
		up++
	}
	v.put(-1)
	v.put(-1)
	v.put(-1)
	v.put(up)
}

// emphasisFeatures puts features of the emphasis of the block: notes of editors are in italics or in brackets.
func (t *outline) emphasisFeatures(v *vector, i int) {
	b := &t.blocks[i]
	v.put(ratio(b.slanted, b.words))
	v.put(ratio(b.bold, b.words))
	v.put(flag(b.bracket))
}

// titleFeatures puts features of the likeness of the block to the title and description of the page, and its place
// relative to the title.
func (t *outline) titleFeatures(v *vector, i int, p *pageFacts) {
	b := &t.blocks[i]
	v.put(flag(b.hash == t.title))
	v.put(flag(b.hash == t.abstract))
	v.put(flag(t.abstract != 0))
	if d := int32(i) - p.titleAt; d < 0 {
		v.put(-lg(-d))
	} else {
		v.put(lg(d))
	}
	x := &t.boxes[p.titleBox]
	v.put(flag(int32(i) >= x.begin && int32(i) < x.end))
	v.put(ratio(x.own(), int32(p.own)+1))
	v.put(ratio(x.linked, x.words))
}

// typeNumbers are the types of pages as a feature. The model has learnt these numbers.
var typeNumbers = map[rules.PageType]int{
	rules.Article: 0, rules.Service: 1, rules.Documentation: 2, rules.Listing: 3, rules.Product: 4, rules.Forum: 5,
}

// saying sums up, as features, the odds of the first words of a block: the lowest, the highest, and the mean. low and
// high are 0 where no word is below or above it.
func (b *block) saying() (low, high, mean float32) {
	if b.said == 0 {
		return 0, 0, 0
	}
	for _, v := range b.opening[:b.said] {
		low, high, mean = min(low, v), max(high, v), mean+v
	}
	return low, high, mean / float32(b.said)
}

// tagClass is the kind of element that makes a block, as a feature: kinds that pages use alike have one number.
func tagClass(a atom.Atom) int {
	switch a {
	case atom.P:
		return 1
	case atom.Li:
		return 2
	case atom.Table:
		return 3
	case atom.Pre:
		return 4
	case atom.Dd, atom.Dt:
		return 5
	case atom.Td, atom.Th:
		return 6
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return 7
	case atom.Figcaption, atom.Caption:
		return 8
	case atom.A:
		return 9
	}
	return 0
}
