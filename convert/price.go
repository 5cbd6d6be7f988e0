package convert

import "golang.org/x/net/html/atom"

// keepPrice keeps the price of a product: the first two amounts of money that are blocks of their own a little below
// the kept title. The second may be the former price.
func (t *outline) keepPrice(keep []bool) {
	const near, sums = 20, 2
	for i := range t.blocks {
		if !keep[i] || t.blocks[i].tag != atom.H1 {
			continue
		}
		found := 0
		for j := i + 1; j < min(len(keep), i+near) && found < sums; j++ {
			b := &t.blocks[j]
			switch {
			case b.signs&signCurrency != 0 && b.digits > 0 && b.words <= 4 && b.linked == 0:
				keep[j] = true
				found++
			case found > 0:
				return
			}
		}
		return
	}
}
