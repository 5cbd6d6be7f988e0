package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/readthru/readthru/internal/unknown"
	"github.com/readthru/readthru/page"
)

// PackedForm is the first byte of a record in the form of this file. Records of pages and renditions that an
// older program wrote are JSON, which begins otherwise: they are read all the same, and written in this form with the
// next change.
const PackedForm = 1

// Fields reads or writes the fields of a record, one after the other, so that both have the same order.
type Fields struct {
	d *Decoder // nil: write to e
	e *Encoder
}

// Packed is a record that has a binary form: Fields reads or writes its fields.
type Packed interface{ Fields(f Fields) }

// Pack returns a record in its binary form, which its fields make.
func Pack(r Packed) []byte {
	e := make(Encoder, 1, 512)
	e[0] = PackedForm
	r.Fields(Fields{e: &e})
	return e
}

// Unmarshal reads the fields of a record into v, a pointer, and reports whether it could. The record may be in JSON, or
// a key alone.
func Unmarshal(value []byte, v any) bool {
	if k, ok := v.(*page.Key); ok {
		return copy(k[:], value) == len(k) && len(value) == len(k)
	}
	r, ok := v.(Packed)
	if !ok || len(value) == 0 || value[0] != PackedForm {
		return unknown.Unmarshal(value, v) == nil
	}
	d := Decoder{b: value[1:]}
	r.Fields(Fields{d: &d})
	return d.OK()
}

// Reading reports whether the fields are read.
func (f Fields) Reading() bool { return f.d != nil }

// Ends reports whether a record ends here, as one of a program that did not know of what follows: when it is read,
// whether nothing is left; when it is written, whether there is nothing to follow.
func (f Fields) Ends(nothing bool) bool {
	if f.d != nil {
		return len(f.d.b) == 0
	}
	return nothing
}

// Hash reads or writes a field that is a hash.
func (f Fields) Hash(h *[32]byte) {
	if f.d != nil {
		copy(h[:], f.d.Raw(len(h)))
		return
	}
	f.e.Raw(h[:])
}

// Text reads or writes a field that is a text.
func (f Fields) Text(s *string) {
	if f.d != nil {
		*s = f.d.Text()
		return
	}
	f.e.Text(*s)
}

// List reads or writes a field that is a list of texts.
func (f Fields) List(list *[]string) {
	if f.d != nil {
		*list = f.d.List()
		return
	}
	f.e.List(*list)
}

// Time reads or writes a time in seconds and nanoseconds: origins may claim any year.
func (f Fields) Time(t *time.Time) {
	if f.d == nil {
		f.e.Int(t.Unix())
		f.e.Int(int64(t.Nanosecond()))
		return
	}
	if u := time.Unix(f.d.Int(), f.d.Int()).UTC(); !f.d.bad {
		*t = u
	}
}

// Bool reads or writes a field that says whether something is so.
func (f Fields) Bool(b *bool) {
	if f.d != nil {
		*b = f.d.Int() != 0
		return
	}
	n := int64(0)
	if *b {
		n = 1
	}
	f.e.Int(n)
}

// Integer reads or writes a field that is a number.
func Integer[T ~int | ~int64 | ~uint64](f Fields, n *T) {
	if f.d != nil {
		*n = T(f.d.Int())
		return
	}
	f.e.Int(int64(*n))
}

// Word reads or writes a field that is a text of a type of its own.
func Word[T ~string](f Fields, s *T) {
	text := string(*s)
	f.Text(&text)
	*s = T(text)
}

// Meta reads or writes a page's metadata.
func (f Fields) Meta(m *page.Meta) {
	if f.d == nil {
		f.e.Int(int64(len(*m)))
		for _, name := range slices.Sorted(maps.Keys(*m)) {
			f.e.Text(name)
			f.e.Text((*m)[name])
		}
		return
	}
	n := f.d.Count()
	if n == 0 {
		return
	}
	*m = make(page.Meta, min(n, 64))
	for range n {
		if f.d.bad {
			return
		}
		name := f.d.Text()
		(*m)[name] = f.d.Text()
	}
}

// Rare reads or writes a field that few records have, as JSON.
func Rare[T any](f Fields, v **T) {
	if f.d == nil {
		if *v == nil {
			f.e.Text("")
			return
		}
		f.e.Text(string(JSON(*v)))
		return
	}
	if text := f.d.Text(); text != "" {
		*v = new(T)
		f.d.bad = json.Unmarshal([]byte(text), *v) != nil || f.d.bad
	}
}

// JSON encodes one of our records whose fields have no binary form. Their types can always be encoded, so an error is a
// bug.
func JSON(v any) []byte {
	b, err := unknown.Marshal(v)
	if err != nil {
		panic("store: encode record: " + err.Error())
	}
	return b
}
