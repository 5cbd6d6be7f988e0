package css

import (
	"iter"
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// The syntax of CSS (CSS Syntax Module Level 3), as far as it decides where a rule, a declaration or a value ends. It
// is read as browsers read it: a brace in a string, a comment or an open parenthesis closes no rule. A reader that
// differs from browsers would be told one style, and people shown another.

// maxBrackets is how many brackets may be open at once. What nests deeper ends the sheet. The stack of them is an array
// on the goroutine's own stack, so that a hostile sheet costs no allocation.
const maxBrackets = 64

// special marks the bytes of a style sheet at which until stops to look. All others are passed over at once: until
// walks every sheet several times, and most bytes are letters.
var special = func() (t [256]bool) {
	for _, c := range `/"'\([{)]};:,!|` {
		t[c] = true
	}
	return t
}()

// until returns the offset from i on of the first byte of stops that stands outside strings, comments and brackets, or
// len(s). It is how this package finds the end of every rule, declaration, value and argument. A backslash hides the
// byte after it; a closing bracket that does not close the innermost open one is passed over, as browsers do; a string
// ends with its line. Callers compare the result with len(s) before they index s with it.
func until(s string, i int, stops string) int {
	var open [maxBrackets]byte // the brackets that must close
	depth := 0
	for i < len(s) {
		c := s[i]
		if !special[c] {
			i++
			continue
		}
		if depth == 0 && strings.IndexByte(stops, c) >= 0 {
			return i
		}
		switch c {
		case '/':
			if strings.HasPrefix(s[i:], "/*") {
				i = commentEnd(s, i)
				continue
			}
		case '\\':
			i++
		case '"', '\'':
			i = stringEnd(s, i)
			continue
		case '(', '[', '{':
			if c == '(' && unquotedURL(s, i) {
				i = urlEnd(s, i)
				continue
			}
			if depth == maxBrackets {
				return len(s)
			}
			open[depth] = closing(c)
			depth++
		case ')', ']', '}':
			if depth > 0 && open[depth-1] == c {
				depth--
			}
		}
		i++
	}
	return len(s)
}

// closing returns the bracket of CSS that closes c, one of "(", "[" and "{".
func closing(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// commentEnd returns the offset in a style sheet behind the comment that begins at i. A comment that is never closed
// reaches to the end of the sheet.
func commentEnd(s string, i int) int {
	if end := strings.Index(s[i+2:], "*/"); end >= 0 {
		return i + 2 + end + 2
	}
	return len(s)
}

// stringEnd returns the offset in a style sheet behind the string whose quote stands at i. A string ends with its line
// even where no quote closes it: what follows is read as CSS again, as in browsers.
func stringEnd(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch s[i] {
		case quote:
			return i + 1
		case '\n', '\r', '\f':
			return i
		case '\\':
			i++
		}
	}
	return len(s)
}

// unquotedURL reports whether the parenthesis at i opens an address without quotes, in which quotes, brackets and
// comments mean nothing. Such an address is one token that only ")" ends (CSS Syntax Level 3, consume a url token). It
// looks at 64 bytes of white space at most, so that many parentheses before much space cost no square of time.
func unquotedURL(s string, i int) bool {
	if i < 3 || !strings.EqualFold(s[i-3:i], "url") || i > 3 && nameByte(s[i-4]) {
		return false
	}
	rest := strings.TrimLeft(s[i+1:min(len(s), i+65)], " \t\r\n\f")
	return rest == "" || rest[0] != '"' && rest[0] != '\''
}

// urlEnd returns the offset in a style sheet behind the parenthesis that closes an address without quotes. i is within
// the address or at the parenthesis that opens it.
func urlEnd(s string, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ')':
			return i + 1
		}
	}
	return len(s)
}

// blank returns the offset of the first byte of a style sheet, from i on, that is neither white space nor in a comment.
// It is len(s) where only these are left.
func blank(s string, i int) int {
	for i < len(s) {
		switch {
		case s[i] <= ' ':
			i++
		case strings.HasPrefix(s[i:], "/*"):
			i = commentEnd(s, i)
		default:
			return i
		}
	}
	return i
}

// withoutComments puts a space in the place of each comment of CSS. What stands in a string is no comment. The space
// keeps two words apart that only a comment parted.
func withoutComments(css string) string { return replaceComments(css, " ") }

// replaceComments puts with in the place of each comment of CSS, and leaves alone what looks like one in a string or an
// unquoted address. Selectors take "" for with: a comment between two simple selectors does not make them descendant
// and ancestor, as a space would.
func replaceComments(css, with string) string {
	if !strings.Contains(css, "/*") {
		return css
	}
	var b strings.Builder
	begun := 0
	for i := 0; i < len(css); {
		switch c := css[i]; {
		case c == '"' || c == '\'':
			i = stringEnd(css, i)
		case c == '\\':
			i += 2
		case c == '(' && unquotedURL(css, i):
			i = urlEnd(css, i)
		case strings.HasPrefix(css[i:], "/*"):
			b.WriteString(css[begun:i])
			b.WriteString(with)
			i = commentEnd(css, i)
			begun = i
		default:
			i++
		}
	}
	b.WriteString(css[min(begun, len(css)):])
	return b.String()
}

// split yields the parts of a value of CSS between the separators that stand outside strings and brackets, trimmed. Of
// an empty value it yields one empty part. The separator may be several bytes; each of them separates.
func split(value, separator string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; ; {
			end := until(value, i, separator)
			if !yield(strings.TrimSpace(value[i:end])) || end >= len(value) {
				return
			}
			i = end + 1
		}
	}
}

// words yields the words of a value of CSS. A function with its arguments is one word. Words are parted by white space
// alone: "1px/2px" is one word, and a comma stays with the word before it. Comments must be gone already.
func words(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(value); {
			for i < len(value) && value[i] <= ' ' {
				i++
			}
			begun := i
			for i < len(value) && value[i] > ' ' {
				switch value[i] {
				case '(':
					if end := until(value, i+1, ")"); end < len(value) {
						i = end
					} else {
						i = len(value) - 1
					}
				case '"', '\'':
					i = stringEnd(value, i) - 1
				}
				i++
			}
			if i > begun && !yield(value[begun:min(i, len(value))]) {
				return
			}
		}
	}
}

// call splits a function of CSS into its name and its arguments. It is false for what is no single function. A function
// that is still open at the end of the value is taken as closed there, as browsers close what the end of a sheet leaves
// open.
func call(value string) (name, arguments string, ok bool) {
	open := strings.IndexByte(value, '(')
	if open < 0 {
		return "", "", false
	}
	switch end := until(value, open+1, ")"); {
	case end >= len(value)-1: // an open function ends with the sheet
		return value[:open], value[open+1 : min(end, len(value))], true
	default:
		return "", "", false
	}
}

// nameByte reports whether c may stand in a name of CSS without an escape: letters, digits, hyphen, underscore, and all
// that is not ASCII.
func nameByte(c byte) bool {
	return c >= 0x80 || c == '-' || c == '_' || chars.Letter(c) || c >= '0' && c <= '9'
}

// cutName reads a name of CSS from the start of s, its escapes undone. The name is "" where s begins with no name; a
// digit may begin one here, which browsers allow only behind "#". rest begins right behind the name.
func cutName(s string) (name, rest string) {
	end := 0
	for end < len(s) && (nameByte(s[end]) || s[end] == '\\' && end+1 < len(s)) {
		if s[end] == '\\' {
			end = escapeEnd(s, end)
			continue
		}
		end++
	}
	end = min(end, len(s))
	return unescape(s[:end]), s[end:]
}

// escapeEnd returns the offset behind the escape that begins with the backslash at i: up to six hexadecimal digits and
// one white space, or any one byte (CSS Syntax Level 3, consume an escaped code point). It may be one more than len(s);
// callers cut it there.
func escapeEnd(s string, i int) int {
	digits := 0
	for digits < 6 && i+1+digits < len(s) && strings.IndexByte("0123456789abcdef", s[i+1+digits]|0x20) >= 0 {
		digits++
	}
	if digits == 0 {
		return i + 2
	}
	if i += 1 + digits; i < len(s) && s[i] <= ' ' {
		i++
	}
	return i
}

// unescape undoes the escapes of CSS: a backslash with up to six hex digits and one space, or with any other character.
// Property names, selectors and values are unescaped before they are compared, or a page could hide "display" as
// "d\69splay" from this reader and not from browsers.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		end := min(escapeEnd(s, i), len(s))
		digits := strings.TrimRight(s[i+1:end], " \t\r\n\f")
		if r := rune(0); end > i+2 || digits != "" && strings.IndexByte("0123456789abcdef", digits[0]|0x20) >= 0 {
			for _, c := range []byte(digits) {
				r = r<<4 | rune(strings.IndexByte("0123456789abcdef", c|0x20))
			}
			b.WriteRune(r)
		} else {
			b.WriteByte(s[i+1])
		}
		i = end
	}
	return b.String()
}

// Words yields the words of a value of CSS. A function with its arguments is one word. Package hidden reads values of
// several words by it, such as those of transform, filter and mask-size.
func Words(value string) iter.Seq[string] { return words(value) }

// List yields the parts of a value of CSS between commas. Package hidden reads the arguments of functions by it; commas
// in inner functions part nothing.
func List(value string) iter.Seq[string] { return split(value, ",") }

// Parts yields the words of a value of CSS and those in its functions, a colour in one piece. Package hidden looks by
// it for colours within gradients and shadows. What nests in more than eight functions is left out.
func Parts(value string) iter.Seq[string] {
	return func(yield func(string) bool) { parts(value, 0, yield) }
}

// parts does the work of [Parts] for the functions within a value of CSS. It is false when yield wants no more.
func parts(value string, depth int, yield func(string) bool) bool {
	if depth > 8 {
		return true
	}
	for one := range split(value, ",") {
		for word := range words(one) {
			name, inside, isCall := strings.Cut(strings.TrimSuffix(word, ")"), "(")
			if isCall && !colourFunctions[name] {
				if !parts(inside, depth+1, yield) {
					return false
				}
			} else if !yield(word) {
				return false
			}
		}
	}
	return true
}
