package pdf

import (
	"bytes"
	"context"
	"slices"
)

// place is where an object of a PDF is: at an offset of the file, or in an object stream.
type place struct {
	offset int
	in     int // number of the stream, 0: none
	index  int
}

// pdfReader finds and decodes the objects of a PDF. It keeps the file's bytes, and what it has read of them; its
// methods panic with halt when a limit is reached, which rescue turns into an error at the two entrances, [Open] and
// [File.Pages].
type pdfReader struct {
	ctx      context.Context
	b        []byte
	places   map[int]place
	trailer  dict
	cache    map[int]any
	packs    map[int]*pack // streams of objects
	active   map[int]bool  // being read: a reference to one of them goes in a circle
	crypt    *crypt
	repaired bool
	scanned  map[int]int // what scan has found
	ends     []int       // where "endstream" stands; nil: not looked for
	cut      bool
	left     int // bytes that may still be decoded

	stepsLeft int
}

// halt is the panic that ends reading when the context has ended or a limit is reached. Reading goes deep, and every
// level would otherwise have to hand an error up. err is nil for a limit.
type halt struct{ err error }

// rescue turns a panic into an error: the context's error, else the one given. Foreign bytes must not end the process.
// It is deferred by whoever calls the reader from outside. Any other panic is a mistake of this program that a damaged
// file has met, and is taken for damage, too.
func (r *pdfReader) rescue(err *error, otherwise error) {
	if p := recover(); p != nil {
		*err = otherwise
		if h, ok := p.(halt); ok && h.err != nil {
			*err = h.err
		}
	}
}

// step counts one step of work, and stops the reading when there were too many or the context has ended.
func (r *pdfReader) step() { r.spend(1) }

// spend counts n steps of work on a PDF. It looks at the context once in 1,024 steps, and panics with halt when that
// has ended or the steps are spent.
func (r *pdfReader) spend(n int) {
	before := r.stepsLeft
	if r.stepsLeft -= n; before>>10 != r.stepsLeft>>10 {
		if err := r.ctx.Err(); err != nil {
			panic(halt{err})
		}
	}
	if r.stepsLeft < 0 {
		r.cut = true
		panic(halt{})
	}
}

// definition reads "12 0 obj …" at an offset. It returns nothing when the object has another number than the one
// wanted; -1 stands for any. The value of a stream is a *stream with its data as they stand in the file; strings are
// decrypted. It returns a zero ref where no object begins. The bytes that were read count as steps.
func (r *pdfReader) definition(at int, want ref) (ref, any) {
	if at < 0 || at >= len(r.b) {
		return ref{}, nil
	}
	l := lexer{b: r.b, at: at}
	defer func() { r.spend((l.at-at)/lexBytes + l.items) }()
	a, _ := l.next()
	b, _ := l.next()
	kind, _ := l.next()
	is, ok := toRef(a, b)
	if !ok || kind != word("obj") || want.num >= 0 && is.num != want.num {
		return ref{}, nil
	}
	v, _ := l.next()
	if _, bare := v.(word); bare {
		return is, nil
	}
	d, ok := v.(dict)
	if !ok {
		before := l.at
		if n, isNumber := v.(float64); isNumber { // an object that is nothing but a reference
			if second, _ := l.next(); second != nil {
				if third, _ := l.next(); third == word("R") {
					if to, ok := toRef(n, second); ok {
						return is, to
					}
				}
			}
			l.at = before
		}
		return is, r.decrypted(v, is)
	}
	// A dictionary that the word "stream" follows is that of a stream. Its data begin behind the line end.
	l.skip()
	if !bytes.HasPrefix(l.b[l.at:], []byte("stream")) {
		return is, r.decrypted(d, is)
	}
	l.at += len("stream")
	if l.at < len(l.b) && l.b[l.at] == '\r' {
		l.at++
	}
	if l.at < len(l.b) && l.b[l.at] == '\n' {
		l.at++
	}
	return is, &stream{dict: r.decryptedDict(d, is), at: is, raw: r.data(l.at, d["Length"])}
}

// data returns the data of a stream at an offset. It uses the length in the dictionary if that is right. Else the data
// reach to the next "endstream", or to the end of the file, as viewers read damaged files.
func (r *pdfReader) data(at int, length any) []byte {
	raw := r.b[at:]
	if n, ok := r.resolve(length).(float64); ok && n >= 0 && n <= float64(len(raw)) {
		end := lexer{b: raw[:min(len(raw), int(n)+32)], at: int(n)}
		end.skip()
		if bytes.HasPrefix(end.b[end.at:], []byte("endstream")) || bytes.HasPrefix(end.b[end.at:], []byte("endobj")) {
			return raw[:int(n)]
		}
	}
	if r.ends == nil { // the length is wrong: found once for all streams, so that many wrong ones take no longer
		r.ends = []int{}
		for i := 0; ; i += len("endstream") {
			next := bytes.Index(r.b[i:], []byte("endstream"))
			if next < 0 {
				break
			}
			i += next
			r.ends = append(r.ends, i)
		}
	}
	i, _ := slices.BinarySearch(r.ends, at)
	if i == len(r.ends) {
		r.cut = true
		return raw
	}
	return raw[:r.ends[i]-at]
}

// resolve follows references to an object. What is no reference is returned as it is. A chain that is too long leads to
// nothing.
func (r *pdfReader) resolve(v any) any {
	for range maxNesting {
		to, ok := v.(ref)
		if !ok {
			return v
		}
		v = r.object(to)
	}
	return nil
}

// object returns the object with a number, nil if there is none. It is nil, too, while the object is being read, which
// ends references that go in a circle. Objects are kept for the life of the file. Where the cross-reference table leads
// to another object, the whole file is searched for this one, once.
func (r *pdfReader) object(to ref) any {
	if v, ok := r.cache[to.num]; ok {
		return v
	}
	p, known := r.places[to.num]
	if !known || r.active[to.num] || len(r.active) > maxNesting {
		return nil
	}
	r.step()
	r.active[to.num] = true
	defer delete(r.active, to.num)
	var v any
	if p.in > 0 {
		in := r.packed(p.in)
		i := p.index
		if list := in.objects(); i < 0 || i >= len(list) || list[i].num != to.num {
			r.spend(len(list))
			i = slices.IndexFunc(list, func(o packedObject) bool { return o.num == to.num })
		}
		if i >= 0 {
			v = r.unpacked(in, i)
		}
	} else {
		var is ref
		if is, v = r.definition(p.offset, to); is.num != to.num { // the table is wrong here
			if at, found := r.scan()[to.num]; found {
				_, v = r.definition(at, to)
			}
		}
	}
	r.cache[to.num] = v
	return v
}

// dict returns the dictionary that a value of a PDF is or refers to, that of a stream among them; nil for anything
// else.
func (r *pdfReader) dict(v any) dict {
	switch v := r.resolve(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

// number returns the number that a value of a PDF is or refers to; 0 for anything else.
func (r *pdfReader) number(v any) float64 {
	n, _ := r.resolve(v).(float64)
	return n
}

// name returns the name that a value of a PDF is or refers to; "" for anything else.
func (r *pdfReader) name(v any) name {
	n, _ := r.resolve(v).(name)
	return n
}
