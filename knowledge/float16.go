package knowledge

import (
	"encoding/binary"
	"math"
)

// Vectors are stored as IEEE 754 half-precision numbers: of unit vectors that keeps a cosine to about four digits in
// half the space.

// appendHalf appends v to b, two bytes a number. The numbers are from -1 to 1.
func appendHalf(b []byte, v []float32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, half(x))
	}
	return b
}

// readHalf reads a stored vector into v. It reports false when b is not of v's length.
func readHalf(v []float32, b []byte) bool {
	if len(b) != 2*len(v) {
		return false
	}
	for i := range v {
		v[i] = single(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return true
}

// half rounds x, at most 1 in size, to half precision.
func half(x float32) uint16 {
	b := math.Float32bits(x)
	sign, e := uint16(b>>16&0x8000), int(b>>23&0xff)-112 // 127 - 15
	m := b&0x7fffff | 0x800000
	if e < 1 { // subnormal: the last place is 2^-24
		if e < -10 {
			return sign
		}
		m >>= 1 - e
		e = 0
	} else {
		m &= 0x7fffff
	}
	m += 0xfff + m>>13&1                   // to nearest, ties to even
	return sign + uint16(e<<10+int(m>>13)) // what m carries over belongs to the exponent
}

func single(h uint16) float32 {
	sign, e, m := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	if e == 0 {
		x := float32(m) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(x) | sign)
	}
	return math.Float32frombits(sign | (e+112)<<23 | m<<13)
}

// dot returns the inner product of two vectors of one length.
func dot(a, b []float32) float32 {
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

// unit scales v, which is not zero, to length 1, in place.
func unit(v []float32) []float32 {
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
