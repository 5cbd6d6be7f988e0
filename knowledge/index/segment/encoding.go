package segment

import (
	"encoding/binary"
	"errors"
)

// ErrDamaged means that a record of the index is not as it was written.
var ErrDamaged = errors.New("segment is damaged")

// Uvarint decodes a number of a record and returns the rest of b, which is empty if the number is incomplete or too
// large.
func Uvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil
	}
	return v, b[n:]
}

// AppendText encodes a text for a record: it appends it with its length before it.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// CutText reads what AppendText wrote, and returns what follows it.
func CutText(b []byte) (s string, rest []byte, ok bool) {
	n, b := Uvarint(b)
	if b == nil || n > uint64(len(b)) {
		return "", nil, false
	}
	return string(b[:n]), b[n:], true
}

// EncodeNumbers packs ascending numbers for a record.
func EncodeNumbers(numbers []uint32) []byte {
	b := binary.AppendUvarint(nil, uint64(len(numbers)))
	prev := uint32(0)
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n-prev))
		prev = n
	}
	return b
}

// DecodeNumbers reads what EncodeNumbers wrote.
func DecodeNumbers(b []byte) ([]uint32, error) {
	n, b := Uvarint(b)
	if n > uint64(len(b)) {
		return nil, ErrDamaged
	}
	numbers := make([]uint32, 0, n)
	number := uint64(0)
	for range n {
		if len(b) == 0 {
			return nil, ErrDamaged
		}
		var d uint64
		d, b = Uvarint(b)
		number += d
		numbers = append(numbers, uint32(number))
	}
	return numbers, nil
}
