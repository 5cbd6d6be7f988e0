package vector

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// rotation is a fixed random rotation. It spreads what a direction means over all numbers of a vector, so that a few
// bits a number keep it, wherever the model puts it. Three rounds of random signs and two overlapping Hadamard
// transforms do nearly what a random orthogonal matrix does, in n log n steps instead of n².
type rotation struct {
	size  int // numbers of a rotated vector: the dimension, filled up to whole words of 64
	span  int // the largest power of two not above size
	signs [3][]uint32
}

// newRotation returns the rotation of vectors of a dimension. Its signs are pseudorandom and depend on the dimension
// alone.
func newRotation(dimension int) *rotation {
	r := &rotation{size: (dimension + 63) &^ 63}
	r.span = 1 << (bits.Len(uint(r.size)) - 1)
	rng := rand.New(rand.NewPCG(0x9e3779b97f4a7c15, uint64(dimension)))
	for i := range r.signs {
		r.signs[i] = make([]uint32, r.size)
		for j := range r.signs[i] {
			r.signs[i][j] = rng.Uint32() & (1 << 31)
		}
	}
	return r
}

// apply rotates v, which has size numbers, in place.
func (r *rotation) apply(v []float32) {
	for _, signs := range r.signs {
		for i, sign := range signs {
			v[i] = math.Float32frombits(math.Float32bits(v[i]) ^ sign)
		}
		hadamard(v[:r.span])
		if r.span < r.size {
			hadamard(v[r.size-r.span:])
		}
	}
}

// hadamard is the orthonormal Walsh-Hadamard transform of a vector whose length is a power of two.
func hadamard(v []float32) {
	for h := 1; h < len(v); h *= 2 {
		for i := 0; i < len(v); i += 2 * h {
			a, b := v[i:i+h], v[i+h:i+2*h]
			for j, x := range a {
				a[j], b[j] = x+b[j], x-b[j]
			}
		}
	}
	scale := float32(1 / math.Sqrt(float64(len(v))))
	for i := range v {
		v[i] *= scale
	}
}
