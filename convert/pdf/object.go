package pdf

import "strconv"

// The kinds of objects (ISO 32000-1 §7.3): nil, bool, float64 for numbers, string, name, []any, dict, *stream and ref;
// operators and other bare words are of type word.
type (
	name string
	word string
	dict map[name]any
	ref  struct{ num, gen int }

	// stream is a dictionary with data. The data are as they stand in the file.
	stream struct {
		dict dict
		at   ref // whose key decrypts it
		raw  []byte
	}
)

// dictItems is how many items of an array take about as much memory as a dictionary. A file of many small dictionaries
// would otherwise take more memory than maxItems allows for.
const dictItems = 16

// lexer reads objects from the bytes of a PDF: of the file itself, of object streams, of content streams, of CMaps and
// of font programs, which share one syntax. An error gives a nil object, because what follows may be readable again.
type lexer struct {
	b     []byte
	at    int
	depth int
	items int // of the outermost array or dictionary
}

// The classes of bytes (§7.2.2).
const (
	regular byte = iota
	space
	delimiter
)

// classes has the class of each byte (§7.2.2).
var classes = func() (c [256]byte) {
	for _, b := range []byte("\x00\t\n\f\r ") {
		c[b] = space
	}
	for _, b := range []byte("()<>[]{}/%") {
		c[b] = delimiter
	}
	return c
}()

// skip passes over white space and comments between the objects of a PDF.
func (l *lexer) skip() {
	for l.at < len(l.b) {
		c := l.b[l.at]
		switch {
		case classes[c] == space:
			l.at++
		case c == '%':
			for l.at < len(l.b) && l.b[l.at] != '\n' && l.b[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// next reads one object, or a word. It reports false at the end. Numbers are float64, and a reference is read as two
// numbers and the word R, which array, dict and definition put together: a content stream has no references. Closing
// brackets come as words. Null is nil, true.
func (l *lexer) next() (any, bool) {
	l.skip()
	if l.at >= len(l.b) {
		return nil, false
	}
	switch c := l.b[l.at]; c {
	case '/':
		return l.name(), true
	case '(':
		return l.literal(), true
	case '[':
		l.at++
		return l.array(), true
	case '<':
		if l.at+1 < len(l.b) && l.b[l.at+1] == '<' {
			l.at += 2
			return l.dict(), true
		}
		return l.hex(), true
	case '>':
		if l.at+1 < len(l.b) && l.b[l.at+1] == '>' {
			l.at += 2
			return word(">>"), true
		}
		l.at++
		return word(">"), true
	case ']', '{', '}', ')':
		l.at++
		return word(l.b[l.at-1 : l.at]), true
	}
	start := l.at
	for l.at < len(l.b) && classes[l.b[l.at]] == regular {
		l.at++
	}
	text := l.b[start:l.at]
	if c := text[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if n, ok := number(text); ok {
			return n, true
		}
	}
	switch string(text) {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null":
		return nil, true
	}
	return word(text), true
}

// number reads an object of a PDF that is a number, as viewers do: it ignores a second sign at the start, and
// everything from a later sign on, for some programs write "--5" and "0.00-35". ok is false for what is none, and for
// more than 300 digits.
func number(b []byte) (float64, bool) {
	sign, i := 1.0, 0
	for i < len(b) && (b[i] == '-' || b[i] == '+') {
		if b[i] == '-' {
			sign = -1
		}
		i++
	}
	value, scale, digits, dot := 0.0, 1.0, 0, false
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			if digits++; digits > 300 {
				return 0, false
			}
			value = value*10 + float64(c-'0')
			if dot {
				scale *= 10
			}
		case c == '.' && !dot:
			dot = true
		case c == '-' && digits > 0:
			return sign * value / scale, true
		default:
			return 0, false
		}
	}
	return sign * value / scale, digits > 0 || dot
}

// array reads an object of a PDF that is an array, to the closing bracket. Two integers before the word R are a
// reference. An array that is never closed ends with its object. The list is never nil, unless arrays nest too deep.
func (l *lexer) array() []any {
	if !l.enter() {
		return nil
	}
	defer func() { l.depth-- }()
	list := []any{}
	for {
		v, ok := l.next()
		if !ok {
			return list
		}
		if w, isWord := v.(word); isWord {
			switch w {
			case "]":
				return list
			case "R":
				if n := len(list); n >= 2 {
					if to, ok := toRef(list[n-2], list[n-1]); ok {
						list = append(list[:n-2], to)
					}
				}
			case "endobj", "endstream", "stream", "obj":
				return list // it was never closed
			}
			continue
		}
		list = append(list, v)
		l.count(1)
	}
}

// enter begins an array or a dictionary of a PDF. It reports false, and ends the reading, when they nest too deep; else
// the caller lessens depth again.
func (l *lexer) enter() bool {
	if l.depth == 0 {
		l.items = 0
	}
	if l.depth++; l.depth > maxNesting {
		l.depth--
		l.at = len(l.b)
		return false
	}
	return true
}

// count counts an item of an array or dictionary, and ends the reading when there are too many. The items of all that
// nests in the outermost one count together.
func (l *lexer) count(n int) {
	if l.items += n; l.items > maxItems {
		l.at = len(l.b)
	}
}

// toRef returns the reference to an object that two numbers are; false where they are none, or beyond what files have.
func toRef(num, gen any) (ref, bool) {
	n, ok1 := num.(float64)
	g, ok2 := gen.(float64)
	if !ok1 || !ok2 || n < 0 || n > 1<<24 || g < 0 || g > 1<<16 || n != float64(int(n)) {
		return ref{}, false
	}
	return ref{int(n), int(g)}, true
}

// dict reads an object of a PDF that is a dictionary, to the closing >>. An entry has one value, or two numbers and the
// word R; of more values the first counts. A dictionary that is never closed ends before "endobj" or "stream", where
// the reading goes on.
func (l *lexer) dict() dict {
	if !l.enter() {
		return nil
	}
	defer func() { l.depth-- }()
	l.count(dictItems)
	d := dict{}
	var key name
	var values []any // since key
	set := func() {
		if key == "" || len(values) == 0 {
			return
		}
		d[key] = values[0]
		l.count(1)
		if len(values) >= 2 {
			if to, ok := toRef(values[0], values[1]); ok {
				d[key] = to
			}
		}
	}
	reference := false
	for {
		before := l.at
		v, ok := l.next()
		if !ok {
			set()
			return d
		}
		switch v := v.(type) {
		case word:
			switch v {
			case ">>":
				if !reference && len(values) > 1 {
					values = values[:1]
				}
				set()
				return d
			case "R":
				reference = true
			case "endobj", "stream":
				l.at = before
				set()
				return d
			}
			continue
		case name:
			if key != "" && len(values) == 0 {
				values = append(values, v)
				continue
			}
			if !reference && len(values) > 1 {
				values = values[:1]
			}
			set()
			key, values, reference = v, nil, false
			continue
		}
		// Two numbers and R are one value; more than four mean that a key is missing.
		if len(values) < 4 {
			values = append(values, v)
		}
	}
}

// at returns an item of an array of a PDF's objects, nil when it is missing.
func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// name reads an object of a PDF that is a name, from its slash on (§7.3.5). "#" with two hexadecimal digits is a byte;
// other uses of it are left as they are.
func (l *lexer) name() name {
	l.at++
	start := l.at
	coded := false
	for l.at < len(l.b) && classes[l.b[l.at]] == regular {
		coded = coded || l.b[l.at] == '#'
		l.at++
	}
	text := l.b[start:l.at]
	if !coded {
		return name(text)
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] == '#' && i+2 < len(text) {
			if v, err := strconv.ParseUint(string(text[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(v))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return name(out)
}
