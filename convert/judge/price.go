package judge

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/head"
)

// keepPrice keeps the price of a product: the first two amounts of money that are blocks of their own a little below
// the kept title, of which the second may be the former price. If the page's metadata state another amount, it keeps
// the block with that one instead. stated is that of the metadata, 0 for none. Prices are short, often beside buttons,
// and the model drops many of them.
func (t *outline) keepPrice(keep []bool, stated float64) {
	sums := t.belowTitle(keep)
	if stated > 0 && !slices.ContainsFunc(sums, func(i int) bool { return names(&t.blocks[i], stated) }) &&
		t.keepStated(keep, stated) {
		return
	}
	for _, i := range sums {
		keep[i] = true
	}
}

// belowTitle returns the price: the first two amounts of money that are blocks of their own a little below the kept
// title. A little is 20 blocks. The two follow one another.
func (t *outline) belowTitle(keep []bool) (sums []int) {
	const near, most = 20, 2
	title := -1
	for i := range t.blocks {
		b := &t.blocks[i]
		switch {
		case title < 0:
			if keep[i] && b.tag == atom.H1 {
				title = i
			}
		case i >= title+near || len(sums) == most:
			return sums
		case b.signs&signCurrency != 0 && b.digits > 0 && b.words <= 4 && b.linked == 0:
			sums = append(sums, i)
		case len(sums) > 0:
			return sums
		}
	}
	return sums
}

// keepStated keeps the block with the stated price, and reports whether there is one. Of several it takes a kept one,
// else the first. An amount in a link is that of another page, and so may be one in a row of cards. t.price then says
// which block was kept for this alone.
func (t *outline) keepStated(keep []bool, stated float64) bool {
	first := -1
	for i := range t.blocks {
		b := &t.blocks[i]
		if b.digits == 0 || b.linked > 0 || b.words > longestPrice || !names(b, stated) {
			continue
		}
		if keep[i] && !t.inCard(b.box) {
			return true
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 {
		return false
	}
	keep[first], t.price = true, first
	return true
}

// inCard reports, for a price, whether a box is in one of a row of cards with links, as other products are shown in.
func (t *outline) inCard(box int32) bool {
	for ; box >= 0; box = t.boxes[box].parent {
		if x := &t.boxes[box]; x.alike >= fewestUnits && x.linked > 0 && x.words <= longestCard {
			return true
		}
	}
	return false
}

// names reports whether a price, an amount of money in a block is the stated one. Amounts that differ by less than half
// a cent are the same.
func names(b *block, stated float64) bool {
	var text strings.Builder
	for n := b.first; n != nil; n = n.NextSibling {
		text.WriteString(dom.Text(n))
		if n == b.last {
			break
		}
	}
	for rest := text.String(); rest != ""; {
		var sum float64
		if sum, rest = head.Amount(rest); math.Abs(sum-stated) < .005 {
			return true
		}
	}
	return false
}
