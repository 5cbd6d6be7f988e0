// Package vector finds the vectors nearest to a query.
//
// A [Quantised] set answers from memory, with estimates from four bits a number (quantised.go) of vectors that it
// rotates first (rotation.go). What is stored on disk, for exact comparison, has half precision (half.go).
package vector

import "math"

// Dot returns the inner product of two vectors of one length.
func Dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// Unit scales v, which is not zero, to length 1, in place, and returns it.
func Unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return v
}
