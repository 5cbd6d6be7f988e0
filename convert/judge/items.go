package judge

import (
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/rules"
)

// A page repeats its units: cards, posts, answers, comments, rows. Blocks that are judged one by one cut through them,
// so that one card loses its price and another its name. What stands at the same place in every unit of a list is one
// field, and whether it is content is one question.

const (
	fewestUnits  = 3  // boxes alike, side by side, are units
	longestField = 25 // words; what is longer differs from unit to unit
	longestFact  = 6  // words of a price or a time
	longestPrice = 12 // words of a price with what is said of it
	longestCard  = 80 // words of a card
)

// units are the repeated units of a page, and their fields. The whole of it is made for one question of one page: which
// short blocks belong to units that are kept.
type units struct {
	*outline
	keep   []bool
	lists  []unitList
	of     []int32  // the list of each box that is a unit; of others -1
	around []int32  // the innermost unit around each box, itself included, or -1
	ways   []uint64 // the shapes of the boxes between each box and its unit
	whole  []bool   // is most of a unit kept, and of most units of its list?
}

// unitList counts the units of one list on a page: all of them, those of which most is kept, and the words of all.
type unitList struct {
	units, whole, words int32
}

// field is a place in the units of a list. way is the path of shapes from the unit to the block, so that blocks at the
// same place in two units have the same.
type field struct {
	list int32
	way  uint64
}

// fieldCount counts the units that have a field, those in which it is kept, and those in which it is a fact. A field
// that a unit has twice counts once.
type fieldCount struct {
	units, kept, facts        int32
	unit, keptUnit, factsUnit int32 // that were counted last
}

// keepFields keeps a field in all units (items) of a list if it is kept in most. It keeps the price and the time of
// units that have lost every one. On a forum only prices and times are kept so.
func (t *outline) keepFields(keep []bool) {
	u := newUnits(t, keep)
	if len(u.lists) == 0 {
		return
	}
	u.judge()
	at, counts := u.fields()
	told := u.told()
	for i, f := range at {
		if f < 0 || keep[i] || counts[f].units < fewestUnits {
			continue
		}
		c, b := &counts[f], &t.blocks[i]
		// A price or a time is also kept where it is in most units of its list, and this unit has lost all of that kind.
		fact := b.fact()
		keep[i] = t.kind != rules.Forum && c.kept*2 > c.units ||
			fact != 0 && c.facts*3 > c.units*2 && told[u.around[b.box]]&fact == 0
	}
}

// countUnit adds one to a count n of units, items of a list, if unit is not the one that was counted last.
func countUnit(n, last *int32, unit int32) {
	if *last != unit {
		*last = unit
		*n++
	}
}

// newUnits finds the units of a page, the items of its lists. What is quoted has none: whoever quotes chooses what to
// show of it. Boxes are in the order of the page, so that the unit around a box is known when the box comes.
func newUnits(t *outline, keep []bool) *units {
	n := len(t.boxes)
	u := &units{
		outline: t, keep: keep, of: make([]int32, n), around: make([]int32, n), ways: make([]uint64, n),
		whole: make([]bool, n),
	}
	type key struct {
		parent int32
		shape  uint32
	}
	lists := map[key]int32{}
	for i := range t.boxes {
		guard.Check(t.ctx)
		x := &t.boxes[i]
		u.of[i], u.around[i] = -1, -1
		switch {
		case x.alike >= fewestUnits && x.end-x.begin > 1 && x.marks&inQuote == 0:
			k := key{x.parent, x.shape}
			l, known := lists[k]
			if !known {
				l = int32(len(u.lists))
				lists[k], u.lists = l, append(u.lists, unitList{})
			}
			u.of[i], u.around[i] = l, int32(i)
			u.lists[l].units++
			u.lists[l].words += x.words
		case x.parent >= 0 && u.around[x.parent] >= 0:
			u.around[i], u.ways[i] = u.around[x.parent], u.ways[x.parent]*1099511628211^uint64(x.shape)
		}
	}
	return u
}

// judge notes which units (items) are kept as a whole. Of a list of which half or less is kept, no unit counts as kept.
// It may be asked again when keep has changed.
func (u *units) judge() {
	words := u.keptWords()
	clear(u.whole)
	for i := range u.lists {
		u.lists[i].whole = 0
	}
	for i, l := range u.of {
		if x := &u.boxes[i]; l >= 0 && (words[x.end]-words[x.begin])*2 > x.words {
			u.whole[i] = true
			u.lists[l].whole++
		}
	}
	for i, l := range u.of {
		if l >= 0 && u.lists[l].whole*2 <= u.lists[l].units {
			u.whole[i] = false
		}
	}
}

// keptWords returns, to judge items, the number of kept words before each block, and last the number of all. By two of
// them, the kept words of a box are known at once.
func (u *units) keptWords() []int32 {
	words := make([]int32, len(u.blocks)+1)
	for i := range u.blocks {
		words[i+1] = words[i]
		if u.keep[i] {
			words[i+1] += u.blocks[i].words
		}
	}
	return words
}

// fields returns the index of the field of an item that each block is in, or -1, and what was counted of the fields.
// Only short blocks of units that are kept are in fields. Code and tables are in none, however short.
func (u *units) fields() (at []int32, counts []fieldCount) {
	at = make([]int32, len(u.blocks))
	known := map[field]int32{}
	for i := range u.blocks {
		guard.Check(u.ctx)
		b := &u.blocks[i]
		unit := u.around[b.box]
		if at[i] = -1; unit < 0 || !u.whole[unit] || b.words > longestField || b.tag == atom.Pre || b.tag == atom.Table {
			continue
		}
		f := field{u.of[unit], u.ways[b.box]*31 ^ uint64(b.tag)}
		n, ok := known[f]
		if !ok {
			n = int32(len(counts))
			known[f], counts = n, append(counts, fieldCount{unit: -1, keptUnit: -1, factsUnit: -1})
		}
		at[i] = n
		c := &counts[n]
		countUnit(&c.units, &c.unit, unit)
		if u.keep[i] {
			countUnit(&c.kept, &c.keptUnit, unit)
		}
		if b.fact() != 0 {
			countUnit(&c.facts, &c.factsUnit, unit)
		}
	}
	return at, counts
}

// told returns for each unit (item) the kinds of facts, price and time, that are in its kept blocks, those of units
// inside it included. A unit that shows its price already needs no second one.
func (u *units) told() map[int32]uint8 {
	told := map[int32]uint8{}
	for i := range u.blocks {
		guard.Check(u.ctx)
		b := &u.blocks[i]
		signs := b.signs & (signCurrency | signTime)
		if !u.keep[i] || b.digits == 0 || signs == 0 {
			continue
		}
		for unit := u.around[b.box]; unit >= 0 && told[unit]&signs != signs; {
			told[unit] |= signs
			parent := u.boxes[unit].parent
			if unit = -1; parent >= 0 {
				unit = u.around[parent]
			}
		}
	}
	return told
}

// fact returns, for the items of a list, which signs of a price and of a time a block has, if it is hardly more than
// that; 0 for other blocks.
func (b *block) fact() uint8 {
	if b.digits == 0 || b.words > longestFact {
		return 0
	}
	return b.signs & (signCurrency | signTime)
}
