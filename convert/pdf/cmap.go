package pdf

import "slices"

// cmap maps codes: to text (ToUnicode, §9.10.3) or to numbers of glyphs (§9.7.5). In the zero value no code has a
// text, and each is its own number.
type cmap struct {
	spaces []span // of codes, by their bytes
	texts  map[int]string
	cids   []cidRange
}

// span is a range of codes of one size. A composite font splits its strings by them.
type span struct{ size, low, high int }

// cidRange maps a range of codes to as many numbers of glyphs, from cid on. Ranges are sorted by low.
type cidRange struct{ low, high, cid int }

// maxMapped is how many codes one CMap may map: all codes of two bytes, and some more.
const maxMapped = 1 << 17

// readCMap reads a CMap of a font: the ranges of its codes, what they mean, and which glyphs they are. It is read by
// the lexer of PDF objects, since its operators stand behind their operands in the same syntax; other CMaps that it
// names by usecmap are not.
func readCMap(r *pdfReader, data []byte) cmap {
	m := cmap{texts: map[int]string{}}
	l := lexer{b: data}
	var args []any
	for {
		r.step()
		v, ok := l.next()
		if !ok {
			break
		}
		w, isWord := v.(word)
		if !isWord {
			if args = append(args, v); len(args) > 4096 {
				args = args[2048:]
			}
			continue
		}
		switch w {
		// Operands are gathered between begin and end; each end says what they are.
		case "endcodespacerange":
			for ; len(args) >= 2; args = args[2:] {
				low, ok1 := args[0].(string)
				high, ok2 := args[1].(string)
				if ok1 && ok2 && len(low) == len(high) && len(low) >= 1 && len(low) <= 4 && len(m.spaces) < 32 {
					m.spaces = append(m.spaces, span{len(low), bigEndian([]byte(low)), bigEndian([]byte(high))})
				}
			}
		case "endbfchar":
			for ; len(args) >= 2; args = args[2:] {
				code, ok1 := args[0].(string)
				text, ok2 := args[1].(string)
				if ok1 && ok2 && len(code) <= 4 && len(m.texts) < maxMapped {
					m.texts[bigEndian([]byte(code))] = mapped(text)
				}
			}
		case "endbfrange":
			for ; len(args) >= 3; args = args[3:] {
				m.addRange(r, args[0], args[1], args[2])
			}
		case "endcidrange":
			for ; len(args) >= 3; args = args[3:] {
				low, ok1 := args[0].(string)
				high, ok2 := args[1].(string)
				cid, ok3 := args[2].(float64)
				if ok1 && ok2 && ok3 && len(low) <= 4 && len(high) <= 4 && len(m.cids) < maxMapped {
					m.cids = append(m.cids, cidRange{bigEndian([]byte(low)), bigEndian([]byte(high)), int(cid)})
				}
			}
		case "endcidchar":
			for ; len(args) >= 2; args = args[2:] {
				code, ok1 := args[0].(string)
				cid, ok2 := args[1].(float64)
				if ok1 && ok2 && len(code) <= 4 && len(m.cids) < maxMapped {
					n := bigEndian([]byte(code))
					m.cids = append(m.cids, cidRange{n, n, int(cid)})
				}
			}
		}
		args = args[:0]
	}
	slices.SortStableFunc(m.cids, func(a, b cidRange) int { return a.low - b.low })
	return m
}

// mapped reads the text that a CMap has for a code: UTF-16, or a single byte. Only its first 32 units are kept: no
// glyph stands for more.
func mapped(s string) string {
	if len(s) == 1 {
		return string(rune(s[0]))
	}
	return utf16Text(s[:min(len(s), 64)])
}

// addRange maps a range of codes to text (bfrange): to the text target and those after it, whose last character counts
// up, or to each text of a list.
func (m *cmap) addRange(r *pdfReader, from, to, target any) {
	low, ok1 := from.(string)
	high, ok2 := to.(string)
	if !ok1 || !ok2 || len(low) > 4 || len(high) > 4 {
		return
	}
	first, last := bigEndian([]byte(low)), bigEndian([]byte(high))
	switch target := target.(type) {
	case string:
		runes := []rune(mapped(target))
		if len(runes) == 0 {
			return
		}
		for code := first; code <= last && len(m.texts) < maxMapped; code++ {
			r.step()
			m.texts[code] = string(runes)
			runes[len(runes)-1]++
		}
	case []any:
		for i, v := range target {
			if text, ok := v.(string); ok && first+i <= last && len(m.texts) < maxMapped {
				m.texts[first+i] = mapped(text)
			}
		}
	}
}

// size returns how many bytes the first code of s has. A code that is in no range has as many bytes as the shortest, so
// that the next code is found again.
func (m *cmap) size(s string) int {
	least := 4
	for n := 1; n <= min(4, len(s)); n++ {
		code := bigEndian([]byte(s[:n]))
		for _, sp := range m.spaces {
			least = min(least, sp.size)
			if sp.size == n && code >= sp.low && code <= sp.high {
				return n
			}
		}
	}
	return max(1, min(least, len(s)))
}

// cid returns the number of the glyph of a code; the code itself where no range has it.
func (m *cmap) cid(code int) int {
	i, found := slices.BinarySearchFunc(m.cids, code, func(c cidRange, code int) int { return c.low - code })
	if !found {
		i--
	}
	if i >= 0 && i < len(m.cids) && code <= m.cids[i].high {
		return m.cids[i].cid + code - m.cids[i].low
	}
	return code
}
