package vector

import (
	"encoding/binary"
	"math"
)

// AppendHalf appends v to b as IEEE 754 half-precision numbers, two bytes each. The numbers of v are from -1 to 1. Half
// precision keeps the cosine of two unit vectors to about four digits.
func AppendHalf(b []byte, v []float32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, half(x))
	}
	return b
}

// ReadHalf reads what AppendHalf wrote into v. It reports false if b does not have the length of v.
func ReadHalf(v []float32, b []byte) bool {
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
	return sign + uint16(e<<10+int(m>>13)) // m carries over into the exponent
}

// single returns the number that h, in half precision, stands for.
func single(h uint16) float32 {
	sign, e, m := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	if e == 0 {
		x := float32(m) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(x) | sign)
	}
	return math.Float32frombits(sign | (e+112)<<23 | m<<13)
}
