package store

import (
	"encoding/binary"
	"math"
	"net/http"
	"slices"
	"time"
)

// Records that are read on every miss, and those that hold foreign bytes (a field value need not be UTF-8), have a
// binary form: numbers are varints, text and lists begin with their length.

type encoder []byte

func (e *encoder) int(n int64)   { *e = binary.AppendVarint(*e, n) }
func (e *encoder) raw(b []byte)  { *e = append(*e, b...) }
func (e *encoder) text(s string) { e.int(int64(len(s))); *e = append(*e, s...) }
func (e *encoder) list(all []string) {
	e.int(int64(len(all)))
	for _, s := range all {
		e.text(s)
	}
}

// time writes nanoseconds since 1970, and the smallest number for the zero time.
func (e *encoder) time(t time.Time) {
	if t.IsZero() {
		e.int(math.MinInt64)
		return
	}
	e.int(t.UnixNano())
}

// decoder reads what encoder wrote. After the first thing that is not there it is bad, and gives zero values.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) int() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) raw(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.b, d.bad = nil, true
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) text() string {
	n := d.int()
	if n < 0 || n > int64(len(d.b)) {
		d.b, d.bad = nil, true
		return ""
	}
	return string(d.raw(int(n)))
}

// count reads a list's length. No element takes less than a byte, so a length over what is left is bad.
func (d *decoder) count() int {
	n := d.int()
	if n < 0 || n > int64(len(d.b)) {
		d.b, d.bad = nil, true
		return 0
	}
	return int(n)
}

func (d *decoder) list() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	all := make([]string, 0, min(n, 64))
	for range n {
		if d.bad {
			return nil
		}
		all = append(all, d.text())
	}
	return all
}

func (d *decoder) time() time.Time {
	n := d.int()
	if n == math.MinInt64 || d.bad {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// ok reports whether everything was there and nothing is left.
func (d *decoder) ok() bool { return !d.bad && len(d.b) == 0 }

func (r *Response) encode() []byte {
	var e encoder
	e.raw(r.ID[:])
	e.raw(r.Body[:])
	e.text(r.URL)
	e.list(r.Vary)
	e.int(int64(len(r.Selecting)))
	for _, name := range sortedKeys(r.Selecting) {
		e.text(name)
		e.text(r.Selecting[name])
	}
	e.text(r.Partition)
	e.text(r.Class)
	e.int(int64(r.Status))
	e.int(int64(len(r.Header)))
	for _, name := range sortedKeys(r.Header) {
		e.text(name)
		e.list(r.Header[name])
	}
	e.time(r.RequestTime)
	e.time(r.ResponseTime)
	e.int(r.Length)
	e.int(r.Offset)
	e.int(r.Total)
	e.time(r.Retain)
	e.list(r.Tags)
	return e
}

// ResponseForm is the form that Encode writes and DecodeResponse reads.
const ResponseForm = 1

// Encode returns r, without its content, in a form for other stores.
func (r *Response) Encode() []byte { return r.encode() }

// DecodeResponse reads what Encode wrote, and reports whether it did. The response has no ID.
func DecodeResponse(b []byte) (*Response, bool) {
	r, ok := decodeResponse(b)
	r.ID = EntryID{}
	return r, ok
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// decodeResponse reads what encode wrote, and reports whether it did.
func decodeResponse(b []byte) (*Response, bool) {
	d := decoder{b: b}
	r := &Response{}
	copy(r.ID[:], d.raw(len(r.ID)))
	copy(r.Body[:], d.raw(len(r.Body)))
	r.URL = d.text()
	r.Vary = d.list()
	if n := d.count(); n > 0 {
		r.Selecting = make(map[string]string, min(n, 64))
		for range n {
			if d.bad {
				return r, false
			}
			name := d.text()
			r.Selecting[name] = d.text()
		}
	}
	r.Partition = d.text()
	r.Class = d.text()
	r.Status = int(d.int())
	n := d.count()
	r.Header = make(http.Header, min(n, 64))
	for range n {
		if d.bad {
			return r, false
		}
		name := d.text()
		r.Header[name] = d.list()
	}
	r.RequestTime = d.time()
	r.ResponseTime = d.time()
	r.Length = d.int()
	r.Offset = d.int()
	r.Total = d.int()
	r.Retain = d.time()
	r.Tags = d.list()
	return r, d.ok()
}

// variants is the record of a URI.
type variants struct {
	URL  string
	Used uint32 // hour of its last use
	IDs  []EntryID
}

func (v *variants) encode() []byte {
	var e encoder
	e.text(v.URL)
	e.int(int64(v.Used))
	e.int(int64(len(v.IDs)))
	for _, id := range v.IDs {
		e.raw(id[:])
	}
	return e
}

func decodeVariants(b []byte) (v variants, ok bool) {
	d := decoder{b: b}
	v.URL = d.text()
	v.Used = uint32(d.int())
	for range d.count() {
		var id EntryID
		copy(id[:], d.raw(len(id)))
		v.IDs = append(v.IDs, id)
	}
	return v, d.ok()
}

// manifest says what a body is made of and who refers to it.
type manifest struct {
	Length    int64
	Refs      int64  // records that refer to the body
	Responses int64  // of these, stored responses
	Dead      uint32 // hour in which Refs fell to 0
	Gone      bool   // its parts were found damaged; to be written again with the next reference
}

// parts returns into how many parts the body is cut.
func (m manifest) parts() int { return int((m.Length + partSize - 1) / partSize) }

func (m manifest) encode() []byte {
	var e encoder
	e.int(m.Length)
	e.int(m.Refs)
	e.int(m.Responses)
	e.int(int64(m.Dead))
	gone := int64(0)
	if m.Gone {
		gone = 1
	}
	e.int(gone)
	return e
}

func decodeManifest(b []byte) (m manifest, ok bool) {
	d := decoder{b: b}
	m.Length = d.int()
	m.Refs = d.int()
	m.Responses = d.int()
	m.Dead = uint32(d.int())
	m.Gone = d.int() == 1
	return m, d.ok() && m.Length >= 0 && m.Length <= maxBody
}
