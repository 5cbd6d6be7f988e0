package pdf

// pack is an object stream (§7.5.7). Its objects are read when they are needed: most of a large file never are. list
// has the objects in the order of the stream's head.
type pack struct {
	data []byte
	list []packedObject
}

// packedObject is the place of an object in its stream. at is an offset of the decoded stream.
type packedObject struct{ num, at int }

// objects returns the places of the objects in an object stream; none for a nil pack.
func (p *pack) objects() []packedObject {
	if p == nil {
		return nil
	}
	return p.list
}

// packed returns an object stream; nil if there is none with that number. A stream that is itself in an object stream
// is refused, as §7.5.7 has it: it could hold itself. Entries that lead out of the stream are kept with the number -1,
// so that the places of the others stay as the table counts them.
func (r *pdfReader) packed(num int) *pack {
	if p, ok := r.packs[num]; ok {
		return p
	}
	r.packs[num] = nil
	p, known := r.places[num]
	if !known || p.in > 0 {
		return nil
	}
	_, v := r.definition(p.offset, ref{num: num})
	s, ok := v.(*stream)
	if !ok {
		return nil
	}
	in := &pack{data: r.decode(s)}
	count, first := r.number(s.dict["N"]), r.number(s.dict["First"])
	if first < 0 || first > float64(len(in.data)) {
		return nil
	}
	head := lexer{b: in.data[:int(first)]}
	for range int(min(count, maxItems)) {
		r.step()
		a, _ := head.next()
		b, ok := head.next()
		n, isNumber1 := a.(float64)
		offset, isNumber2 := b.(float64)
		if !ok {
			break
		}
		if !isNumber1 || !isNumber2 || n < 0 || n > 1<<24 || offset < 0 || first+offset > float64(len(in.data)) {
			n, offset = -1, 0
		}
		in.list = append(in.list, packedObject{int(n), int(first + offset)})
	}
	r.packs[num] = in
	return in
}

// unpacked reads one object of an object stream. Its strings are not decrypted on their own: the stream around them
// was.
func (r *pdfReader) unpacked(in *pack, i int) any {
	at := in.list[i].at
	l := lexer{b: in.data, at: at}
	v, _ := l.next()
	r.spend((l.at-at)/lexBytes + l.items)
	if _, bare := v.(word); bare {
		return nil
	}
	return v
}
