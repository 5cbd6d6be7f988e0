package pdf

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	xencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// font turns the bytes of shown strings into characters with widths (§9.5 to §9.10). simple, charset, two or codes
// says how strings are split, the first that is set; what toText says of a code goes before what its encoding says.
type font struct {
	style    Style
	codes    cmap               // by which a composite font splits strings, if it brings one
	two      bool               // every code has two bytes
	toText   cmap               // what the file says that codes mean
	unicode  bool               // codes are UTF-16
	charset  xencoding.Encoding // codes are text in this encoding
	simple   *encoding
	widths   map[int]float64
	width    float64 // of all others
	vertical bool
	unit     float64 // size of a width
	height   float64 // of a font of size 1: 1, except of some Type 3 fonts
	drawn    bool    // its glyphs are drawings (Type 3), which may have colors
}

// char is one code of a shown string. The glyph itself is not read: its text and its width are enough.
type char struct {
	code  int
	size  int // bytes
	text  string
	width float64 // of a size of 1

	unmapped bool // the font does not say what text the code is
}

// font returns the font of a resource, once for each. Fonts that are no references are read anew each time they are
// set; so are those beyond 4,096.
func (f *File) font(v any) *font {
	to, isRef := v.(ref)
	if known := f.fonts[to]; isRef && known != nil {
		return known
	}
	ft := f.r.font(f.r.dict(v))
	if isRef && len(f.fonts) < 4096 {
		f.fonts[to] = ft
	}
	return ft
}

// font reads the dictionary of a font: simple or composite, with its ToUnicode CMap if it has one. An empty dictionary
// gives a font of standard encoding.
func (r *pdfReader) font(d dict) *font {
	f := &font{widths: map[int]float64{}, unit: .001, height: 1}
	base := string(r.name(d["BaseFont"]))
	if _, rest, ok := strings.Cut(base, "+"); ok {
		base = rest
	}
	descriptor := r.dict(d["FontDescriptor"])
	if s, ok := r.resolve(d["ToUnicode"]).(*stream); ok {
		f.toText = readCMap(r, r.decode(s))
	}
	if r.name(d["Subtype"]) == "Type0" {
		r.composite(f, d)
		if list, ok := r.resolve(d["DescendantFonts"]).([]any); ok && len(list) > 0 {
			descriptor = r.dict(r.dict(list[0])["FontDescriptor"])
		}
	} else {
		r.simple(f, d, descriptor, base)
	}
	f.style = r.style(base, descriptor)
	return f
}

// style returns the style of a font by its name and its descriptor. Prefixes of subsets are cut off already. Names of
// TeX's fonts, such as cmbx10 and cmti10, are known; flags are those of §9.8.2.
func (r *pdfReader) style(base string, descriptor dict) (s Style) {
	lower := strings.ToLower(base)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(lower, p) {
				return true
			}
		}
		return false
	}
	flags := int(r.number(descriptor["Flags"]))
	if has("bold", "black", "heavy", "semibold", "demi") || strings.HasPrefix(lower, "cmbx") ||
		strings.HasPrefix(lower, "sfbx") || strings.HasPrefix(lower, "ecbx") || flags>>18&1 == 1 ||
		r.number(descriptor["FontWeight"]) >= 600 {
		s |= Bold
	}
	if has("italic", "oblique", "slanted") || strings.HasSuffix(lower, "ital") || strings.HasPrefix(lower, "cmti") ||
		strings.HasPrefix(lower, "sfti") || strings.HasPrefix(lower, "ecti") || flags>>6&1 == 1 {
		s |= Italic
	}
	if has("courier", "mono", "consol", "menlo", "typewriter", "inconsolata", "fixed", "lettergothic", "sourcecode",
		"firacode") || strings.HasPrefix(lower, "cmtt") ||
		strings.HasPrefix(lower, "sftt") || strings.HasPrefix(lower, "ectt") || strings.HasPrefix(lower, "lmtt") ||
		strings.HasPrefix(lower, "lmmono") || flags&1 == 1 {
		s |= Mono
	}
	return s
}

// simple sets up a font whose codes are single bytes. Fonts that bring no widths are among the standard ones that
// viewers have: their widths are taken from tables, those of Helvetica where the name says nothing.
func (r *pdfReader) simple(f *font, d, descriptor dict, base string) {
	f.simple = r.encoding(d, descriptor, base)
	if r.name(d["Subtype"]) == "Type3" {
		f.drawn = true
		if m, ok := r.resolve(d["FontMatrix"]).([]any); ok && len(m) == 6 {
			if f.unit = r.number(m[0]); f.unit <= 0 || f.unit > 1e3 {
				f.unit = .001
			}
			box := r.box(d["FontBBox"])
			if h := (box[3] - box[1]) * math.Abs(r.number(m[3])); h > 0 && (h < .2 || h > 5) && h < 1e4 {
				f.height = h // its signs are as high as that, whatever size the file gives
			}
		}
	}
	first := int(r.number(d["FirstChar"]))
	list, _ := r.resolve(d["Widths"]).([]any)
	for i, w := range list {
		if i < 256 {
			f.widths[first+i] = r.number(w)
		}
	}
	f.width = r.number(descriptor["MissingWidth"])
	if len(list) > 0 {
		return
	}
	// Without widths in the file the font is one that viewers have: its family is told from its name.
	lower := strings.ToLower(base)
	table := &helvetica
	switch {
	case strings.Contains(lower, "courier"), strings.Contains(lower, "mono"):
		f.width = 600
		return
	case strings.Contains(lower, "times"), strings.Contains(lower, "serif") && !strings.Contains(lower, "sans"),
		strings.Contains(lower, "roman"), strings.Contains(lower, "symbol"):
		table = &times
	}
	f.width = 556
	for c := range 256 {
		text := f.simple[c]
		if text == "" {
			continue
		}
		if ch, _ := utf8.DecodeRuneInString(text); ch >= 32 && ch < 127 {
			f.widths[c] = float64(table[ch-32])
		}
	}
}

// encoding returns the text of each code of a simple font. It begins with the font's own encoding or that of its kind,
// is replaced by the one that the file names, and changed by its Differences (§9.6.6). Every code of a font of
// dingbats is a bullet.
func (r *pdfReader) encoding(d, descriptor dict, base string) *encoding {
	lower := strings.ToLower(base)
	e := standard
	symbolic := int(r.number(descriptor["Flags"]))>>2&1 == 1
	switch {
	case strings.HasPrefix(lower, "symbol"):
		e = symbol
	case strings.Contains(lower, "dingbats"), strings.HasPrefix(lower, "wingdings"), strings.HasPrefix(lower, "webdings"):
		for c := 33; c < 256; c++ {
			e[c] = "•"
		}
	case r.name(d["Subtype"]) == "TrueType":
		e = winAnsi
	case r.name(d["Subtype"]) == "Type3":
		e = encoding{}
	case d["ToUnicode"] == nil || symbolic:
		if own := r.ownEncoding(descriptor, symbolic); own != nil {
			e = *own
		}
	}
	// The file's entry replaces what the font program says, in whole or by differences.
	named := func(n name) {
		switch n {
		case "WinAnsiEncoding":
			e = winAnsi
		case "MacRomanEncoding":
			e = macRoman
		case "StandardEncoding":
			e = standard
		}
	}
	switch v := r.resolve(d["Encoding"]).(type) {
	case name:
		named(v)
	case dict:
		named(r.name(v["BaseEncoding"]))
		list, _ := r.resolve(v["Differences"]).([]any)
		code := 0
		for _, item := range list {
			switch item := r.resolve(item).(type) {
			case float64:
				code = int(item)
			case name:
				if code >= 0 && code < 256 {
					if r.name(d["Subtype"]) == "Type3" && strings.Trim(string(item), letters) == strconv.Itoa(code) {
						e[code] = texText[code]
					} else if text := glyphText(string(item)); text != "" || !numbered(string(item)) {
						e[code] = text
					}
				}
				code++
			}
		}
	}
	return &e
}

// letters are those that names of glyphs in Type 3 fonts have beside the number of the code.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

// ownEncoding returns the encoding inside an embedded font program; nil if there is none. TrueType programs are not
// read: their encoding is that of Windows, or said by the file.
func (r *pdfReader) ownEncoding(descriptor dict, symbolic bool) *encoding {
	if s, ok := r.resolve(descriptor["FontFile"]).(*stream); ok && symbolic {
		return builtIn(r.decode(s))
	}
	if s, ok := r.resolve(descriptor["FontFile3"]).(*stream); ok && r.name(s.dict["Subtype"]) == "Type1C" {
		return cffEncoding(r.decode(s))
	}
	return nil
}

// numbered reports whether the name that a font has for a glyph is only a number, such as g12, C0041 or cid_33. The
// code may then say more. Such names are given by programs that subset fonts, and mean nothing elsewhere.
func numbered(n string) bool {
	return len(n) > 1 && strings.Trim(n, "0123456789") != n && len(strings.Trim(n, "0123456789")) <= 5 ||
		strings.HasPrefix(n, "index")
}

// builtIn reads the encoding that a Type 1 font program has in clear text: lines of "dup 65 /A put". It reads 16 KiB at
// most, up to the word readonly behind the table.
func builtIn(program []byte) *encoding {
	start := bytes.Index(program, []byte("/Encoding"))
	if start < 0 {
		return nil
	}
	text := program[start:min(len(program), start+16<<10)]
	if end := bytes.Index(text, []byte("readonly")); end > 0 {
		text = text[:end]
	}
	if bytes.Contains(text[:min(len(text), 60)], []byte("StandardEncoding")) {
		e := standard
		return &e
	}
	e := &encoding{}
	found := false
	l := lexer{b: text}
	var code float64
	for {
		v, ok := l.next()
		if !ok {
			break
		}
		switch v := v.(type) {
		case float64:
			code = v
		case name:
			if code >= 0 && code < 256 && v != "Encoding" {
				e[int(code)] = glyphText(string(v))
				found = true
			}
		}
	}
	if !found {
		return nil
	}
	return e
}

// predefined are the encodings behind the names of predefined CMaps (§9.7.5.2). The CMaps themselves are not here: a
// code is decoded by the encoding that their names state.
var predefined = []struct {
	prefix  string
	charset xencoding.Encoding
}{
	{"GBK", simplifiedchinese.GBK},
	{"GB-", simplifiedchinese.GBK},
	{"GBpc", simplifiedchinese.GBK},
	{"B5", traditionalchinese.Big5},
	{"ETen", traditionalchinese.Big5},
	{"HKscs", traditionalchinese.Big5},
	{"90ms", japanese.ShiftJIS},
	{"90pv", japanese.ShiftJIS},
	{"83pv", japanese.ShiftJIS},
	{"EUC-", japanese.EUCJP},
	{"KSC", korean.EUCKR},
}

// composite sets up a font whose codes have several bytes. Its widths are lists in W, by number of glyph (§9.7.4.3):
// "10 [500 600]" for each, or "10 20 500" for a range. Codes of encodings whose names begin with Uni and have UCS2 or
// UTF16 are text; codes of unknown names have two bytes.
func (r *pdfReader) composite(f *font, d dict) {
	f.width, f.two = 1000, true
	switch v := r.resolve(d["Encoding"]).(type) {
	case *stream:
		f.codes = readCMap(r, r.decode(v))
		f.two = len(f.codes.spaces) == 0
	case name:
		n := string(v)
		f.vertical = strings.HasSuffix(n, "-V")
		if strings.HasPrefix(n, "Uni") {
			f.unicode = strings.Contains(n, "UCS2") || strings.Contains(n, "UTF16")
		}
		for _, p := range predefined {
			if strings.HasPrefix(n, p.prefix) {
				f.charset, f.two = p.charset, false
			}
		}
	}
	list, _ := r.resolve(d["DescendantFonts"]).([]any)
	if len(list) == 0 {
		return
	}
	below := r.dict(list[0])
	if v, ok := r.resolve(below["DW"]).(float64); ok {
		f.width = v
	}
	ws, _ := r.resolve(below["W"]).([]any)
	for i := 0; i+1 < len(ws); {
		r.step()
		from := int(r.number(ws[i]))
		if each, ok := r.resolve(ws[i+1]).([]any); ok {
			for k, w := range each {
				if r.step(); len(f.widths) < maxMapped {
					f.widths[from+k] = r.number(w)
				}
			}
			i += 2
			continue
		}
		if i+2 >= len(ws) {
			break
		}
		to, w := int(r.number(ws[i+1])), r.number(ws[i+2])
		for code := from; code <= min(to, from+65535) && len(f.widths) < maxMapped; code++ {
			r.step()
			f.widths[code] = w
		}
		i += 3
	}
}

// chars splits a shown string into codes, and gives each to do.
func (f *font) chars(s string, do func(char)) {
	for len(s) > 0 {
		c := f.char(s)
		s = s[c.size:]
		do(c)
	}
}

// char reads the first code of s, with its text and its width. s must not be empty; the code has at least one byte, so
// that chars ends.
func (f *font) char(s string) char {
	c := char{code: int(s[0]), size: 1}
	switch {
	case f.simple != nil:
	case f.charset != nil:
		if s[0] >= 0x80 && len(s) > 1 && (s[0] < 0xa0 || s[0] > 0xdf || f.charset != japanese.ShiftJIS) {
			c.size = 2
		}
		c.code = bigEndian([]byte(s[:c.size]))
	case f.two:
		c.size = min(2, len(s))
		c.code = bigEndian([]byte(s[:c.size]))
	default:
		c.size = f.codes.size(s)
		c.code = bigEndian([]byte(s[:c.size]))
	}
	cid := c.code
	if f.codes.cids != nil {
		cid = f.codes.cid(c.code)
	}
	w, known := f.widths[cid]
	if !known || f.charset != nil || f.unicode {
		w = f.width // their widths are by numbers of a collection that is not here
	}
	c.width = w * f.unit
	c.text = f.text(c, s[:c.size])
	c.unmapped = c.text == "" && (c.size > 1 || c.code > ' ')
	return c
}

// text returns the text of a code, whose bytes are raw: what ToUnicode says, else what the encoding says; "" where
// nothing does.
func (f *font) text(c char, raw string) string {
	if text, ok := f.toText.texts[c.code]; ok && usable(text) {
		return text
	}
	switch {
	case f.simple != nil:
		return f.simple[c.code]
	case f.unicode:
		return utf16Text(raw)
	case f.charset != nil:
		if text, err := f.charset.NewDecoder().String(raw); err == nil && utf8.ValidString(text) {
			return text
		}
	}
	return ""
}

// usable reports whether the text to which a font maps a code is one. Some files use NULs and replacement characters
// for codes without a text. Their encoding is then asked.
func usable(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && r != 0 && r != utf8.RuneError
}
