package pdf

import "math"

// matrix is a transformation: x' = a·x + c·y + e, y' = b·x + d·y + f. It is written as in §8.3.4: six numbers, the
// last two of which shift.
type matrix [6]float64

// then returns the transformation m followed by n. In PDF, "cm" puts its own before the one that holds: own.then(ctm).
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// apply returns the place on the page of a point that is given in the units of m.
func (m matrix) apply(x, y float64) (float64, float64) {
	return m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]
}

// finite reports whether all numbers of m are finite and of a sensible size. Operators with others are ignored: places
// must fit into a float32.
func (m matrix) finite() bool {
	for _, v := range m {
		if math.IsNaN(v) || math.Abs(v) > 1e7 {
			return false
		}
	}
	return true
}
