package symbols

import "bytes"

// lexeme is a word, a punctuation character, a literal or a directive of the preprocessor of C or Java.
type lexeme struct {
	kind       byte // word, literal, directive, the punctuation character itself, or 0 at the end
	start, end int
}

const (
	word      = 'a'
	literal   = '0'
	directive = '#'
)

// lexer reads the tokens of C, C++ and Java. It skips comments.
type lexer struct {
	text []byte
	at   int
	java bool
	used bool // there is something before in the line
}

// next returns the next lexeme of C, C++ or Java; one of kind 0 at the end.
func (x *lexer) next() lexeme {
	x.skipSpace()
	if x.at >= len(x.text) {
		return lexeme{start: x.at, end: x.at}
	}
	start, c, used := x.at, x.text[x.at], x.used
	x.used = true
	t := lexeme{kind: c, start: start}
	switch {
	case wordByte(c) && (c < '0' || c > '9'):
		t.kind = word
		for x.at < len(x.text) && wordByte(x.text[x.at]) {
			x.at++
		}
		if x.at < len(x.text) && x.text[x.at] == '"' && !x.java && x.text[x.at-1] == 'R' && x.at-start <= 3 {
			t.kind = literal
			x.rawString()
		}
	case c >= '0' && c <= '9':
		t.kind = literal
		for x.at < len(x.text) && (wordByte(x.text[x.at]) || x.text[x.at] == '.' || x.text[x.at] == '\'' && !x.java) {
			x.at++
		}
	case x.java && c == '"' && bytes.HasPrefix(x.text[x.at:], []byte(`"""`)):
		t.kind = literal
		x.until(x.at+3, `"""`)
	case c == '"' || c == '\'':
		t.kind = literal
		x.quoted(c)
	case c == '#' && !x.java && !used:
		x.line()
	default:
		x.at++
	}
	t.end = x.at
	return t
}

// wordByte reports whether the lexer takes a byte as part of a word.
func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// skipSpace moves behind white space and comments of C, C++ or Java. A new line may begin a directive.
func (x *lexer) skipSpace() {
	for x.at < len(x.text) {
		switch c := x.text[x.at]; {
		case c == '\n':
			x.used = false
			x.at++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\\':
			x.at++
		case c == '/' && x.at+1 < len(x.text) && x.text[x.at+1] == '*':
			x.until(x.at+2, "*/")
		case c == '/' && x.at+1 < len(x.text) && x.text[x.at+1] == '/':
			x.line()
		default:
			return
		}
	}
}

// until moves behind the next mark after from, or to the end.
func (x *lexer) until(from int, mark string) {
	if i := bytes.Index(x.text[min(from, len(x.text)):], []byte(mark)); i >= 0 {
		x.at = from + i + len(mark)
		return
	}
	x.at = len(x.text)
}

// quoted moves behind a string or character that begins here. It ends with its line at the latest.
func (x *lexer) quoted(quote byte) {
	for x.at++; x.at < len(x.text); x.at++ {
		switch x.text[x.at] {
		case quote:
			x.at++
			return
		case '\n':
			return
		case '\\':
			x.at++
		}
	}
	x.at = min(x.at, len(x.text))
}

// rawString moves behind a string such as R"x(…)x", whose quotation mark is here.
func (x *lexer) rawString() {
	open := bytes.IndexByte(x.text[x.at:min(x.at+18, len(x.text))], '(')
	if open < 0 {
		x.quoted('"')
		return
	}
	mark := ")" + string(x.text[x.at+1:x.at+open]) + `"`
	x.until(x.at+open, mark)
}

// line moves to the end of a line, which goes on after a backslash. Comments of several lines in it are skipped.
func (x *lexer) line() {
	comment := x.text[x.at] == '/'
	for ; x.at < len(x.text) && x.text[x.at] != '\n'; x.at++ {
		switch {
		case x.text[x.at] == '\\' && !x.java:
			x.at++
			if x.at < len(x.text) && x.text[x.at] == '\r' {
				x.at++
			}
		case !comment && bytes.HasPrefix(x.text[x.at:], []byte("/*")):
			x.until(x.at+2, "*/")
			x.at--
		}
	}
	x.at = min(x.at, len(x.text))
}
