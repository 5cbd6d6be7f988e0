package convert

import "golang.org/x/net/html/atom"

// keepPrice keeps what a thing costs: the first sums of money that stand alone a little below its kept name. Two of
// them, since one may be what it cost before.
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
