package pdf

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
)

// crossReference follows the chain (xref) of cross-reference tables of a PDF from the end of the file (§7.5.4,
// §7.5.8), the newest first, and so fills places and trailer: what a newer table says stays. It reports false where an
// offset has no table; a chain that leads out of the file, or in a circle, ends with what was read before. It cuts off
// what stands before the header of the file.
func (r *pdfReader) crossReference() bool {
	tail := r.b[max(0, len(r.b)-2048):]
	i := bytes.LastIndex(tail, []byte("startxref"))
	if i < 0 {
		return false
	}
	l := lexer{b: tail, at: i + len("startxref")}
	v, _ := l.next()
	start, ok := v.(float64)
	// What stands before the header shifts every offset.
	shift := max(0, bytes.Index(r.b[:min(len(r.b), 1024)], []byte("%PDF-")))
	if shift > 0 {
		r.b = r.b[shift:]
	}
	seen := map[int]bool{}
	pending := []int{int(start)}
	for len(pending) > 0 {
		at := pending[0]
		pending = pending[1:]
		if !ok || at < 0 || at >= len(r.b) || seen[at] {
			return len(seen) > 0 && len(r.trailer) > 0
		}
		seen[at] = true
		r.step()
		var d dict
		if d = r.table(at); d == nil {
			if d = r.tableStream(at); d == nil {
				return false
			}
		}
		// Entries of a newer trailer win. A file for old and new viewers has a stream of more objects beside its table, which
		// goes before older tables.
		for key, v := range d {
			if _, set := r.trailer[key]; !set {
				r.trailer[key] = v
			}
		}
		if hybrid, ok := d["XRefStm"].(float64); ok {
			pending = append(pending, int(hybrid))
		}
		if previous, ok := d["Prev"].(float64); ok {
			pending = append(pending, int(previous))
		}
	}
	return true
}

// put records, as the cross-reference has it, the place of an object of a PDF, unless a newer table has done so. Too
// many objects end the reading.
func (r *pdfReader) put(num int, p place) {
	_, known := r.places[num]
	switch {
	case known || num < 0 || num > 1<<24 || p.in == 0 && (p.offset <= 0 || p.offset >= len(r.b)):
	case len(r.places) >= maxObjects:
		r.cut = true
		panic(halt{})
	default:
		r.places[num] = p
	}
}

// table reads the cross-reference (xref) table at an offset of a PDF and returns its trailer; nil where there is none.
// Free entries are passed over.
func (r *pdfReader) table(at int) dict {
	l := lexer{b: r.b, at: at}
	if v, _ := l.next(); v != word("xref") {
		return nil
	}
	for {
		v, ok := l.next()
		if !ok {
			return nil
		}
		if v == word("trailer") {
			d, _ := l.next()
			trailer, _ := d.(dict)
			return trailer
		}
		first, ok1 := v.(float64)
		v, _ = l.next()
		count, ok2 := v.(float64)
		if !ok1 || !ok2 {
			return nil
		}
		for i := range int(min(count, 1<<24)) {
			r.step()
			offset, ok := l.next()
			if offset == word("trailer") { // it promised more
				l.at -= len("trailer")
				break
			}
			_, _ = l.next()
			kind, _ := l.next()
			at, isNumber := offset.(float64)
			if !ok || !isNumber {
				return nil
			}
			if kind == word("n") && at > 0 {
				r.put(int(first)+i, place{offset: int(at)})
			}
		}
	}
}

// tableStream reads the cross-reference (xref) stream at an offset of a PDF (§7.5.8) and returns its dictionary, which
// serves as trailer; nil where there is none. Rows have three numbers of the widths in W; without a first one, the kind
// is 1.
func (r *pdfReader) tableStream(at int) dict {
	_, v := r.definition(at, ref{num: -1})
	s, ok := v.(*stream)
	if !ok {
		return nil
	}
	var w [3]int
	widths, _ := s.dict["W"].([]any)
	if len(widths) < 3 {
		return nil
	}
	for i := range w {
		n, _ := widths[i].(float64)
		if w[i] = int(n); w[i] < 0 || w[i] > 8 {
			return nil
		}
	}
	index, _ := s.dict["Index"].([]any)
	if size, ok := s.dict["Size"].(float64); ok && index == nil {
		index = []any{0.0, size}
	}
	data, row := r.decode(s), w[0]+w[1]+w[2]
	if row == 0 {
		return nil
	}
	for ; len(index) >= 2; index = index[2:] {
		first, _ := index[0].(float64)
		count, _ := index[1].(float64)
		for i := 0; i < int(count) && len(data) >= row; i++ {
			r.step()
			kind, a, b := bigEndian(data[:w[0]]), bigEndian(data[w[0]:w[0]+w[1]]), bigEndian(data[w[0]+w[1]:row])
			if w[0] == 0 {
				kind = 1
			}
			data = data[row:]
			switch kind {
			case 1:
				r.put(int(first)+i, place{offset: a})
			case 2:
				r.put(int(first)+i, place{in: a, index: b})
			}
		}
	}
	return s.dict
}

// bigEndian returns the number that some bytes of a cross-reference of a PDF are, the first the highest.
func bigEndian(b []byte) (v int) {
	for _, c := range b {
		v = v<<8 | int(c)
	}
	return v
}

// repair finds objects, without a cross-reference, by their beginnings, "12 0 obj", anywhere in the file. Later ones
// replace earlier ones, as in an update. The error is ErrEncrypted. It serves files whose cross-reference table is
// missing or wrong, which viewers open all the same. Trailers are taken from anywhere in the file, too, and object
// streams are opened once decryption is known.
func (r *pdfReader) repair() error {
	r.reset()
	r.repaired = true
	for num, at := range r.scan() {
		r.places[num] = place{offset: at}
	}
	// Trailers of updates come later and replace entries of earlier ones.
	for rest := r.b; ; {
		i := bytes.Index(rest, []byte("trailer"))
		if i < 0 {
			break
		}
		r.step()
		l := lexer{b: rest[:min(len(rest), i+64<<10)], at: i + 7}
		if v, _ := l.next(); v != nil {
			if d, ok := v.(dict); ok {
				maps.Copy(r.trailer, d)
			}
		}
		r.spend((l.at - i) / lexBytes)
		rest = rest[i+7:]
	}
	var packs []int
	catalogue := ref{}
	for _, num := range r.numbers() { // what no table says is said by the objects themselves
		r.step()
		s, isStream := r.head(r.places[num].offset)
		switch s["Type"] {
		case name("Catalog"):
			if catalogue.num == 0 {
				catalogue.num = num
			}
		case name("XRef"):
			for _, key := range []name{"Root", "Info", "Encrypt", "ID"} {
				if v, ok := s[key]; ok {
					r.trailer[key] = v
				}
			}
		case name("ObjStm"):
			if isStream {
				packs = append(packs, num)
			}
		}
	}
	if err := r.unlock(); err != nil {
		return err
	}
	for _, num := range packs {
		for i, o := range r.packed(num).objects() {
			r.put(o.num, place{in: num, index: i})
		}
	}
	// A file without a usable trailer still has its catalogue somewhere.
	if r.dict(r.trailer["Root"]) == nil && catalogue.num > 0 {
		r.trailer["Root"] = catalogue
	}
	for _, num := range packs { // a catalogue may be in one of them
		for i, o := range r.packs[num].objects() {
			if r.dict(r.trailer["Root"]) != nil {
				return nil
			}
			if d, ok := r.unpacked(r.packs[num], i).(dict); ok && d["Type"] == name("Catalog") {
				r.trailer["Root"] = ref{num: o.num}
			}
		}
	}
	return nil
}

// scan returns where, without a cross-reference, objects begin, by their numbers. Of several objects with one number
// the last counts. The file is searched once; its cost is a step for each "obj".
func (r *pdfReader) scan() map[int]int {
	if r.scanned != nil {
		return r.scanned
	}
	r.scanned = map[int]int{}
	at := 0
	for {
		i := bytes.Index(r.b[at:], []byte("obj"))
		if i < 0 {
			return r.scanned
		}
		r.step()
		i += at
		at = i + 3
		if i >= 3 && string(r.b[i-3:i]) == "end" {
			continue
		}
		if num, start, ok := objectBefore(r.b, i); ok {
			if r.scanned[num] = start; len(r.scanned) >= maxObjects {
				r.cut = true
				return r.scanned
			}
		}
	}
}

// head reads, without a cross-reference, the dictionary of the object at an offset. stream reports whether data follow
// it. repair asks it of every object for its type, so that it reads 64 KiB at most and decrypts nothing.
func (r *pdfReader) head(at int) (d dict, stream bool) {
	l := lexer{b: r.b[:min(len(r.b), at+64<<10)], at: at}
	defer func() { r.spend((l.at - at) / lexBytes) }()
	for range 3 {
		if _, ok := l.next(); !ok {
			return nil, false
		}
	}
	v, _ := l.next()
	d, _ = v.(dict)
	after, _ := l.next()
	return d, after == word("stream")
}

// numbers returns the numbers of all objects in the cross-reference, in order. A damaged file whose page tree is lost
// is read by it.
func (r *pdfReader) numbers() []int { return slices.Sorted(maps.Keys(r.places)) }

// objectBefore reads, without a cross-reference, "12 0 " backwards from the word obj at i. start is the offset of the
// number; ok is false where the word follows something else.
func objectBefore(b []byte, i int) (num, start int, ok bool) {
	back := func() (int, bool) {
		end := i
		for i > 0 && classes[b[i-1]] == space {
			i--
		}
		if end == i {
			return 0, false
		}
		end = i
		for i > 0 && b[i-1] >= '0' && b[i-1] <= '9' && end-i < 9 {
			i--
		}
		n, err := strconv.Atoi(string(b[i:end]))
		return n, err == nil
	}
	if _, ok = back(); !ok {
		return 0, 0, false
	}
	num, ok = back()
	return num, i, ok && num > 0 && num <= 1<<24
}

// open reads the cross-reference table, or rebuilds it where it is damaged. The error is ErrEncrypted. A table that is
// in order but leads to no page tree is rebuilt, too.
func (r *pdfReader) open() error {
	r.reset()
	if r.crossReference() {
		if err := r.unlock(); err != nil || r.dict(r.dict(r.trailer["Root"])["Pages"]) != nil {
			return err
		}
	}
	return r.repair()
}

// reset forgets the objects that were read of a PDF, before its cross-reference table is read or rebuilt.
func (r *pdfReader) reset() {
	r.places, r.trailer, r.cache, r.packs, r.active = map[int]place{}, dict{}, map[int]any{}, map[int]*pack{},
		map[int]bool{}
	r.crypt = nil
}
