package css

import (
	"iter"
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// The syntax of CSS (CSS Syntax Module Level 3), as far as it decides where a rule, a declaration or a value ends. It
// is read as browsers read it: a brace in a string, a comment or an open parenthesis closes no rule. A reader that
// differs from browsers would be told one style, and people shown another.

// maxBrackets is how many brackets may be open at once. What nests deeper ends the sheet.
const maxBrackets = 64

// special marks the bytes at which until stops to look.
var special = func() (t [256]bool) {
	for _, c := range `/"'\([{)]};:,!|` {
		t[c] = true
	}
	return t
}()

// until returns the offset from i on of the first byte of stops that stands outside strings, comments and brackets, or
// len(s).
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

func closing(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// commentEnd returns what follows the comment at i.
func commentEnd(s string, i int) int {
	if end := strings.Index(s[i+2:], "*/"); end >= 0 {
		return i + 2 + end + 2
	}
	return len(s)
}

// stringEnd returns what follows the string at i. A string ends with its line.
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
// comments mean nothing.
func unquotedURL(s string, i int) bool {
	if i < 3 || !strings.EqualFold(s[i-3:i], "url") || i > 3 && nameByte(s[i-4]) {
		return false
	}
	rest := strings.TrimLeft(s[i+1:min(len(s), i+65)], " \t\r\n\f")
	return rest == "" || rest[0] != '"' && rest[0] != '\''
}

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

// blank returns what follows white space and comments at i.
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

// withoutComments puts a space in the place of each comment of CSS. What stands in a string is no comment.
func withoutComments(css string) string { return replaceComments(css, " ") }

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

// split yields the parts of a value between the separators that stand outside strings and brackets, trimmed.
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

// words yields the words of a value. A function with its arguments is one word.
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

// call splits a function into its name and its arguments. It is false for what is no single function.
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

func nameByte(c byte) bool {
	return c >= 0x80 || c == '-' || c == '_' || chars.Letter(c) || c >= '0' && c <= '9'
}

// cutName reads a name from the start of s, its escapes undone.
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

// escapeEnd returns what follows the escape at i.
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

// unescape undoes the escapes of CSS: a backslash with up to six hex digits and one space, or with any other
// character.
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

// declaration is one property with its value.
type declaration struct {
	name      string // in lower case; a custom property as it is written
	value     string // in lower case, unless it refers to custom properties
	shorthand string // the property that was written, when value has to be read after variables are known
	important bool
}

// eachDeclaration yields the declarations of a block without nested rules. Unknown properties and values that browsers
// refuse are left out; shorthands are written out.
func eachDeclaration(block string, yield func(declaration)) {
	for i := 0; i < len(block); {
		end := until(block, i, ";")
		readDeclaration(block[i:end], yield)
		i = end + 1
	}
}

// readDeclaration yields what one declaration sets.
func readDeclaration(text string, yield func(declaration)) {
	text = text[blank(text, 0):]
	colon := 0
	for colon < len(text) && (nameByte(text[colon]) || text[colon] == '\\') {
		if text[colon] == '\\' {
			colon = min(escapeEnd(text, colon), len(text))
			continue
		}
		colon++
	}
	name := text[:colon]
	if colon = blank(text, colon); name == "" || colon >= len(text) || text[colon] != ':' {
		return
	}
	name = unescape(name)
	custom := strings.HasPrefix(name, "--")
	if !custom {
		if name = strings.ToLower(name); !properties[name] {
			if name = aliases[name]; name == "" {
				return
			}
		}
	}
	d := declaration{name: name, value: strings.TrimSpace(withoutComments(text[colon+1:]))}
	if mark := strings.LastIndexByte(d.value, '!'); mark >= 0 &&
		strings.EqualFold(strings.TrimSpace(d.value[mark+1:]), "important") {
		d.value, d.important = strings.TrimSpace(d.value[:mark]), true
	}
	if len(d.value) > maxValue {
		return
	}
	d.value = unescape(d.value)
	if custom {
		yield(d)
		return
	}
	if refers(d.value) {
		for _, long := range longhands(name) {
			d.shorthand, d.name = name, long
			yield(d)
		}
		return
	}
	d.value = strings.ToLower(d.value)
	expand(name, d.value, func(name, value string) {
		d.name, d.value = name, value
		yield(d)
	})
}

// Declarations reads a style attribute: values by property, both in lower case, shorthands written out. Of two values
// for one property the last counts.
func Declarations(style string) Values {
	var best candidates
	eachDeclaration(style, func(d declaration) {
		if d.shorthand == "" {
			best.put(&d, inlineKey(d.important), nil)
		}
	})
	set := make(Values, len(best))
	for i := range best {
		set[i] = Value{Name: best[i].name, Value: best[i].value}
	}
	return set
}

// Words yields the words of a value. A function with its arguments is one word.
func Words(value string) iter.Seq[string] { return words(value) }

// List yields the parts of a value between commas.
func List(value string) iter.Seq[string] { return split(value, ",") }

// Parts yields the words of a value and those in its functions, a colour in one piece.
func Parts(value string) iter.Seq[string] {
	return func(yield func(string) bool) { parts(value, 0, yield) }
}

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
