package pdf

import "strings"

// cffEncoding reads the encoding that a font program in the Compact Font Format has (Adobe Technical Note 5176): the
// text of each code by the name of its glyph. It returns nil for fonts without one of their own. It walks the tables of
// the program: names of fonts, their dictionaries, the strings that are names of glyphs, then the charset, which gives
// each glyph a name, and the encoding, which gives each code a glyph. Only the first font is read.
func cffEncoding(b []byte) *encoding {
	if len(b) < 4 {
		return nil
	}
	_, at := cffIndex(b, int(b[2])) // the names of fonts
	fonts, at := cffIndex(b, at)
	names, _ := cffIndex(b, at)
	if len(fonts) == 0 {
		return nil
	}
	charset, codes, glyphs := cffOffsets(fonts[0])
	list, _ := cffIndex(b, glyphs)
	if codes < 2 || codes >= len(b) || charset == 1 || charset == 2 || len(list) == 0 {
		return nil
	}
	ids := cffCharset(b, charset, len(list))
	e := standard
	set := func(code, id int) {
		name := ""
		switch {
		case id < len(cffNames):
			name = cffNames[id]
		case id >= cffOwnNames && id-cffOwnNames < len(names):
			name = string(names[id-cffOwnNames])
		}
		if name == "" || code >= len(e) {
			return
		}
		if text := glyphText(name); text != "" || !numbered(name) {
			e[code] = text
		}
	}
	glyph := 0
	next := func(code int) {
		if glyph++; glyph < len(ids) {
			set(code, ids[glyph])
		}
	}
	// The encoding states the codes of glyphs 1, 2 and so on: each, or as ranges. A high bit in its format says that more
	// codes follow, each with the name of its glyph.
	c := cffReader{b, codes}
	form := c.uint(1)
	switch form & 0x7f {
	case 0:
		for range c.uint(1) {
			next(c.uint(1))
		}
	case 1:
		for range c.uint(1) {
			first, more := c.uint(1), c.uint(1)
			for i := range more + 1 {
				next(first + i)
			}
		}
	default:
		return nil
	}
	if form&0x80 != 0 {
		for range c.uint(1) {
			code, id := c.uint(1), c.uint(2)
			set(code, id)
		}
	}
	return &e
}

// cffReader reads big-endian numbers; behind the end they are 0.
type cffReader struct {
	b  []byte
	at int
}

// uint reads a number of size bytes and goes on behind it.
func (c *cffReader) uint(size int) (n int) {
	if size < 0 || c.at < 0 || c.at+size > len(c.b) {
		c.at = len(c.b)
		return 0
	}
	n = bigEndian(c.b[c.at : c.at+size])
	c.at += size
	return n
}

// cffIndex reads a list of byte strings, and returns the offset behind it. A damaged one is empty. It is the INDEX of a
// font program: a count, the size of offsets, the offsets from 1, and the data.
func cffIndex(b []byte, at int) (list [][]byte, end int) {
	c := cffReader{b, at}
	n := c.uint(2)
	if n == 0 {
		return nil, c.at
	}
	size := c.uint(1)
	data := c.at + (n+1)*size - 1
	if size < 1 || size > 4 || data > len(b) {
		return nil, len(b)
	}
	from := c.uint(size)
	for range n {
		to := c.uint(size)
		if from < 1 || to < from || data+to > len(b) {
			return nil, len(b)
		}
		list = append(list, b[data+from:data+to])
		from = to
	}
	return list, data + from
}

// cffOffsets returns where a font's charset, encoding and glyphs are, by its dictionary. Operands stand before their
// operator; only the last operand is kept, since these three operators have one each.
func cffOffsets(d []byte) (charset, codes, glyphs int) {
	c := cffReader{d, 0}
	last := 0
	for c.at < len(d) {
		switch v := c.uint(1); {
		case v == 12:
			c.uint(1)
		case v == 15:
			charset = last
		case v == 16:
			codes = last
		case v == 17:
			glyphs = last
		case v == 28:
			last = c.uint(2)
		case v == 29:
			last = c.uint(4)
		case v == 30: // a decimal number, up to a nibble of ones
			for c.at < len(d) {
				if n := c.uint(1); n&0xf == 0xf || n>>4 == 0xf {
					break
				}
			}
		case v >= 32 && v <= 246:
			last = v - 139
		case v >= 247 && v <= 250:
			last = (v-247)<<8 + c.uint(1) + 108
		case v >= 251 && v <= 254:
			last = -(v-251)<<8 - c.uint(1) - 108
		}
	}
	return charset, codes, glyphs
}

// cffCharset returns the number of the name of each of n glyphs. The numbers are stated for each glyph, or as ranges
// whose lengths have one or two bytes; at is 0 for the standard charset. The first glyph, .notdef, is never stated.
func cffCharset(b []byte, at, n int) []int {
	ids := []int{0}
	if at == 0 {
		for len(ids) < min(n, len(cffNames)) {
			ids = append(ids, len(ids))
		}
		return ids
	}
	c := cffReader{b, at}
	form := c.uint(1)
	for len(ids) < n && c.at < len(b) {
		first, more := c.uint(2), 0
		switch form {
		case 1:
			more = c.uint(1)
		case 2:
			more = c.uint(2)
		}
		for i := range min(more+1, n-len(ids)) {
			ids = append(ids, first+i)
		}
	}
	return ids
}

// cffOwnNames is the number of the first name that a font brings itself. Smaller ones are the same for all.
const cffOwnNames = 391

// cffNames are the names of glyphs by number, up to the ligatures of the expert set (appendix A). Its other signs are
// small capitals, fractions and figures that text hardly has.
var cffNames = func() []string {
	list := strings.Fields(`.notdef space exclam quotedbl numbersign dollar percent ampersand quoteright parenleft parenright asterisk plus
comma hyphen period slash zero one two three four five six seven eight nine colon semicolon less equal greater
question at A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum
underscore quoteleft a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde
exclamdown cent sterling fraction yen florin section currency quotesingle quotedblleft guillemotleft
guilsinglleft guilsinglright fi fl endash dagger daggerdbl periodcentered paragraph bullet quotesinglbase
quotedblbase quotedblright guillemotright ellipsis perthousand questiondown grave acute circumflex tilde macron
breve dotaccent dieresis ring cedilla hungarumlaut ogonek caron emdash AE ordfeminine Lslash Oslash OE
ordmasculine ae dotlessi lslash oslash oe germandbls onesuperior logicalnot mu trademark Eth onehalf plusminus
Thorn onequarter divide brokenbar degree thorn threequarters twosuperior registered minus eth multiply
threesuperior copyright Aacute Acircumflex Adieresis Agrave Aring Atilde Ccedilla Eacute Ecircumflex Edieresis
Egrave Iacute Icircumflex Idieresis Igrave Ntilde Oacute Ocircumflex Odieresis Ograve Otilde Scaron Uacute
Ucircumflex Udieresis Ugrave Yacute Ydieresis Zcaron aacute acircumflex adieresis agrave aring atilde ccedilla
eacute ecircumflex edieresis egrave iacute icircumflex idieresis igrave ntilde oacute ocircumflex odieresis
ograve otilde scaron uacute ucircumflex udieresis ugrave yacute ydieresis zcaron exclamsmall Hungarumlautsmall
dollaroldstyle dollarsuperior ampersandsmall Acutesmall parenleftsuperior parenrightsuperior twodotenleader
onedotenleader zerooldstyle oneoldstyle twooldstyle threeoldstyle fouroldstyle fiveoldstyle sixoldstyle
sevenoldstyle eightoldstyle nineoldstyle commasuperior threequartersemdash periodsuperior questionsmall
asuperior bsuperior centsuperior dsuperior esuperior isuperior lsuperior msuperior nsuperior osuperior rsuperior
ssuperior tsuperior ff ffi ffl`)
	for i, figure := range strings.Fields("zero one two three four five six seven eight nine") {
		list[239+i] = figure // of old style
	}
	return list
}()
