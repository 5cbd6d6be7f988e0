// Package wire is the binary form of records: of those that are read on every miss, and of those that hold foreign
// bytes (a field value need not be UTF-8). Numbers are varints, text and lists begin with their length.
package wire

import (
	"encoding/binary"
	"math"
	"time"
)

// Encoder is the encoding that was written so far.
type Encoder []byte

// Int writes a number.
func (e *Encoder) Int(n int64) { *e = binary.AppendVarint(*e, n) }

// Raw writes bytes without their length.
func (e *Encoder) Raw(b []byte) { *e = append(*e, b...) }

// Text writes a text.
func (e *Encoder) Text(s string) { e.Int(int64(len(s))); *e = append(*e, s...) }

// List writes a list of texts.
func (e *Encoder) List(all []string) {
	e.Int(int64(len(all)))
	for _, s := range all {
		e.Text(s)
	}
}

// Time writes nanoseconds since 1970, and the smallest number for the zero time.
func (e *Encoder) Time(t time.Time) {
	if t.IsZero() {
		e.Int(math.MinInt64)
		return
	}
	e.Int(t.UnixNano())
}

// Decoder reads what [Encoder] wrote. After the first thing that is not there it is bad, and gives zero values.
type Decoder struct {
	b   []byte
	bad bool
}

// NewDecoder returns a decoder of the encoding b.
func NewDecoder(b []byte) Decoder { return Decoder{b: b} }

// Bad reports whether something was not there.
func (d *Decoder) Bad() bool { return d.bad }

// Int reads a number.
func (d *Decoder) Int() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[size:]
	return n
}

// Raw reads n bytes. They are those of the record: never change them.
func (d *Decoder) Raw(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.b, d.bad = nil, true
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// Text reads a text.
func (d *Decoder) Text() string {
	n := d.Int()
	if n < 0 || n > int64(len(d.b)) {
		d.b, d.bad = nil, true
		return ""
	}
	return string(d.Raw(int(n)))
}

// Count reads a list's length. No element takes less than a byte, so a length over what is left is bad.
func (d *Decoder) Count() int {
	n := d.Int()
	if n < 0 || n > int64(len(d.b)) {
		d.b, d.bad = nil, true
		return 0
	}
	return int(n)
}

// List reads a list of texts.
func (d *Decoder) List() []string {
	n := d.Count()
	if n == 0 {
		return nil
	}
	all := make([]string, 0, min(n, 64))
	for range n {
		if d.bad {
			return nil
		}
		all = append(all, d.Text())
	}
	return all
}

// Time reads a time.
func (d *Decoder) Time() time.Time {
	n := d.Int()
	if n == math.MinInt64 || d.bad {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// OK reports whether everything was there and nothing is left.
func (d *Decoder) OK() bool { return !d.bad && len(d.b) == 0 }
