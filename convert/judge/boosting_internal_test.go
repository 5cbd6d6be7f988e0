package judge

import (
	"math"
	"slices"
)

// matrix is what trees are grown from: features, labels from 0 to 1, and weights.
type matrix struct {
	x [][featureCount]float32
	y []float32
	w []float32
}

// params say how trees are grown.
type params struct {
	trees, leaves int
	rate, l2, min float64
	sample        float64
}

// train grows trees by gradient boosting for a logistic loss with soft labels: by histograms, leaf by leaf.
func train(m *matrix, p params) forest {
	const bins = 48
	n := len(m.y)
	cuts := make([][]float32, featureCount)
	binned := make([][]uint8, featureCount)
	parallel(featureCount, func(f int) {
		step := max(1, n/20000)
		var vals []float32
		for i := 0; i < n; i += step {
			vals = append(vals, m.x[i][f])
		}
		slices.Sort(vals)
		var c []float32
		for k := 1; k < bins; k++ {
			v := vals[k*len(vals)/bins]
			if len(c) == 0 || v > c[len(c)-1] {
				if v < vals[len(vals)-1] {
					c = append(c, v)
				}
			}
		}
		cuts[f] = c
		col := make([]uint8, n)
		for i := range n {
			v := m.x[i][f]
			lo, hi := 0, len(c)
			for lo < hi {
				mid := (lo + hi) / 2
				if v <= c[mid] {
					hi = mid
				} else {
					lo = mid + 1
				}
			}
			col[i] = uint8(lo)
		}
		binned[f] = col
	})
	score := make([]float64, n)
	g, h := make([]float64, n), make([]float64, n)
	var out forest
	rng := uint64(20261125)
	rand := func() float64 {
		rng ^= rng << 13
		rng ^= rng >> 7
		rng ^= rng << 17
		return float64(rng>>11) / (1 << 53)
	}
	type leaf struct {
		rows       []int32
		G, H       float64
		gain       float64
		f, bin, at int
	}
	for range p.trees {
		for i := range n {
			q := 1 / (1 + math.Exp(-score[i]))
			g[i], h[i] = float64(m.w[i])*(q-float64(m.y[i])), float64(m.w[i])*q*(1-q)
		}
		var rows []int32
		for i := range n {
			if rand() < p.sample {
				rows = append(rows, int32(i))
			}
		}
		use := make([]bool, featureCount)
		for f := range use {
			use[f] = len(cuts[f]) > 0 && rand() < .6
		}
		best := func(l *leaf) {
			type cand struct {
				gain   float64
				f, bin int
			}
			res := make([]cand, featureCount)
			work := func(f int) {
				if !use[f] {
					return
				}
				var hg, hh [bins + 1]float64
				col := binned[f]
				for _, r := range l.rows {
					b := col[r]
					hg[b] += g[r]
					hh[b] += h[r]
				}
				gl, hl := 0.0, 0.0
				for b := range cuts[f] {
					gl += hg[b]
					hl += hh[b]
					gr, hr := l.G-gl, l.H-hl
					if hl < p.min || hr < p.min {
						continue
					}
					gain := gl*gl/(hl+p.l2) + gr*gr/(hr+p.l2) - l.G*l.G/(l.H+p.l2)
					if gain > res[f].gain {
						res[f] = cand{gain, f, b}
					}
				}
			}
			if len(l.rows) > 3000 {
				parallel(featureCount, work)
			} else {
				for f := range featureCount {
					work(f)
				}
			}
			l.gain = 0
			for _, c := range res {
				if c.gain > l.gain {
					l.gain, l.f, l.bin = c.gain, c.f, c.bin
				}
			}
		}
		root := &leaf{rows: rows}
		for _, r := range rows {
			root.G += g[r]
			root.H += h[r]
		}
		best(root)
		forks := []fork{{}}
		answers := []float32{0}
		leaves := []*leaf{root}
		for len(leaves) < p.leaves {
			k := -1
			for i, l := range leaves {
				if l.gain > 1e-6 && (k < 0 || l.gain > leaves[k].gain) {
					k = i
				}
			}
			if k < 0 {
				break
			}
			l := leaves[k]
			a, b := &leaf{at: len(forks)}, &leaf{at: len(forks) + 1}
			for _, r := range l.rows {
				to := a
				if int(binned[l.f][r]) > l.bin {
					to = b
				}
				to.rows = append(to.rows, r)
				to.G += g[r]
				to.H += h[r]
			}
			forks[l.at] = fork{cuts[l.f][l.bin], uint8(l.f), uint8(len(forks))}
			forks, answers = append(forks, fork{}, fork{}), append(answers, 0, 0)
			best(a)
			best(b)
			leaves[k] = a
			leaves = append(leaves, b)
		}
		for _, l := range leaves {
			forks[l.at], answers[l.at] = leafAt(l.at), float32(-p.rate*l.G/(l.H+p.l2))
		}
		grown := tree{size: len(forks)}
		copy(grown.forks[:], forks)
		copy(grown.answers[:], answers)
		grown.measure()
		out = append(out, grown)
		one := forest{grown}
		for i := range n {
			score[i] += float64(one.sumOf(&m.x[i]))
		}
	}
	return out
}
