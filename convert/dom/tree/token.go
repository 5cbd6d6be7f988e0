package tree

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Tokenizer divides a page into tokens, as that of x/net, whose other fields are explained there.
type Tokenizer struct {
	buf           []byte // the whole page
	tt            TokenType
	err           error
	raw, data     span
	pendingAttr   [2]span
	attr          [][2]span
	nAttrReturned int
	rawTag        string
	textIsRaw     bool
	convertNUL    bool
	allowCDATA    bool

	names map[string]bool // of the attributes of a tag that has many
	attrs []Attribute     // room for the next ones
	texts strings.Builder // room for the next short texts

	stop   func() error
	looked int // where stop was last called
}

// lookEvery is how many bytes are read until stop is called again: what a hostile page can make the parser do late.
const lookEvery = 4 << 10

// readByte returns the next byte. It sets the error at the end of the page.
func (z *Tokenizer) readByte() byte {
	if z.raw.end >= len(z.buf) {
		z.err = io.EOF
		return 0
	}
	z.raw.end++
	return z.buf[z.raw.end-1]
}

// readTag reads a tag, and notes its attributes if they count.
func (z *Tokenizer) readTag(saveAttr bool) {
	z.attr, z.nAttrReturned, z.names = z.attr[:0], 0, nil
	z.readTagName()
	for {
		if z.skipWhiteSpace(); z.err != nil {
			return
		}
		if c := z.readByte(); z.err != nil || c == '>' {
			return
		}
		z.raw.end--
		z.readTagAttrKey()
		z.readTagAttrVal()
		if key := z.pendingAttr[0]; saveAttr && key.start != key.end && !z.hasAttr(z.buf[key.start:key.end]) {
			z.attr = append(z.attr, z.pendingAttr)
		}
	}
}

// hasAttr reports whether the tag has an attribute of that name already. It may take the name down.
func (z *Tokenizer) hasAttr(key []byte) bool {
	const few = 16 // are compared one by one
	if len(z.attr) < few {
		for _, a := range z.attr {
			if sameName(z.buf[a[0].start:a[0].end], key) {
				return true
			}
		}
		return false
	}
	if z.names == nil {
		z.names = map[string]bool{}
		for _, a := range z.attr {
			z.names[lowered(z.buf[a[0].start:a[0].end])] = true
		}
	}
	name := lowered(key)
	known := z.names[name]
	z.names[name] = true
	return known
}

// sameName reports whether two names are the same but for the case of ASCII letters.
func sameName(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i, c := range a {
		if c != b[i] && lowerByte(c) != lowerByte(b[i]) {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// lowered returns s with its ASCII letters in lower case.
func lowered(s []byte) string {
	b := bytes.Clone(s)
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return string(b)
}

// Token returns the current token.
func (z *Tokenizer) Token() Token {
	if z.raw.end-z.looked >= lookEvery {
		z.looked = z.raw.end
		if err := z.stop(); err != nil {
			z.tt, z.err = ErrorToken, err
		}
	}
	t := Token{Type: z.tt}
	switch z.tt {
	case TextToken, CommentToken, DoctypeToken:
		t.Data = z.text(z.data, z.convertNUL || z.tt == CommentToken, !z.textIsRaw, false)
	case StartTagToken, SelfClosingTagToken, EndTagToken:
		if t.DataAtom, t.Data = z.name(z.data); t.DataAtom == 0 && t.Data == "" {
			t.Data = lowered(bytes.ReplaceAll(z.buf[z.data.start:z.data.end], nul, replacement))
		}
		t.Attr = z.attributes()
	}
	return t
}

// name returns the atom of a name, and the name in lower case: "" if HTML does not know it.
func (z *Tokenizer) name(of span) (known atom.Atom, name string) {
	var room [32]byte // no name is as long
	if of.end-of.start > len(room) {
		return 0, ""
	}
	lower := room[:copy(room[:], z.buf[of.start:of.end])]
	for i, c := range lower {
		lower[i] = lowerByte(c)
	}
	known = atom.Lookup(lower)
	return known, known.String()
}

// attributes returns those of the tag, side by side with those of the tags before it.
func (z *Tokenizer) attributes() []Attribute {
	const many = 64 // are allocated together
	n := len(z.attr)
	if n == 0 {
		return nil
	}
	if cap(z.attrs)-len(z.attrs) < n {
		z.attrs = make([]Attribute, 0, max(n, many))
	}
	begin := len(z.attrs)
	for _, a := range z.attr {
		_, key := z.name(a[0])
		if key == "" {
			key = z.keep([]byte(lowered(bytes.ReplaceAll(z.buf[a[0].start:a[0].end], nul, replacement))))
		}
		z.attrs = append(z.attrs, Attribute{Key: key, Val: z.text(a[1], true, true, true)})
	}
	end := len(z.attrs)
	return z.attrs[begin:end:end]
}

// text returns a text of the page, with newlines alone, and with what stands for other characters replaced if it may.
func (z *Tokenizer) text(of span, nuls, references, attribute bool) string {
	s := z.buf[of.start:of.end]
	if bytes.IndexByte(s, '\r') >= 0 {
		s = convertNewlines(bytes.Clone(s))
	}
	if nuls && bytes.IndexByte(s, 0) >= 0 {
		s = bytes.ReplaceAll(s, nul, replacement)
	}
	switch {
	case !references || bytes.IndexByte(s, '&') < 0:
		return z.keep(s)
	case attribute:
		return unescapeValue(string(s))
	}
	return html.UnescapeString(string(s))
}

// keep returns a string of s. Short strings share a piece of memory: it is no larger than a long one.
func (z *Tokenizer) keep(s []byte) string {
	const short, piece = 128, 1 << 10
	if len(s) > short {
		return string(s)
	}
	if z.texts.Cap()-z.texts.Len() < len(s) {
		z.texts.Reset()
		z.texts.Grow(piece)
	}
	begin := z.texts.Len()
	z.texts.Write(s)
	return z.texts.String()[begin:]
}
