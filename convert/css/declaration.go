package css

import (
	"iter"
	"strconv"
	"strings"

	"readthru/convert/chars"
)

// declared is the value of a property with the weight by which it wins.
type declared struct {
	value  string
	weight int
}

// eachDeclaration yields the declarations of a block of CSS: property and value in lower case, escapes undone.
func eachDeclaration(block string) iter.Seq2[string, declared] {
	return func(yield func(string, declared) bool) {
		for block != "" {
			end := indexUnquoted(block, ";")
			one := block
			if end >= 0 {
				one, block = block[:end], block[end+1:]
			} else {
				block = ""
			}
			name, value, ok := strings.Cut(one, ":")
			if !ok {
				continue
			}
			d := declared{value: strings.ToLower(strings.TrimSpace(unescape(value)))}
			if bare, important := strings.CutSuffix(d.value, "important"); important {
				if bare, important = strings.CutSuffix(strings.TrimSpace(bare), "!"); important {
					d.value, d.weight = strings.TrimSpace(bare), importantSet
				}
			}
			if !yield(strings.ToLower(strings.TrimSpace(unescape(name))), d) {
				return
			}
		}
	}
}

// Declarations reads a style attribute: values by property, both in lower case. Of two values for one property the last
// counts.
func Declarations(style string) map[string]string {
	set, weights := map[string]string{}, map[string]int{}
	for name, d := range eachDeclaration(withoutComments(style)) {
		if d.weight >= weights[name] {
			set[name], weights[name] = d.value, d.weight
		}
	}
	return set
}

// withoutComments removes the comments of CSS, an open one to its end. What stands in a string is no comment.
func withoutComments(css string) string {
	if !strings.Contains(css, "/*") {
		return css
	}
	var b strings.Builder
	b.Grow(len(css))
	for {
		at := indexUnquoted(css, "/")
		if at < 0 {
			b.WriteString(css)
			return b.String()
		}
		rest, found := strings.CutPrefix(css[at+1:], "*")
		if !found {
			b.WriteString(css[:at+1])
			css = css[at+1:]
			continue
		}
		b.WriteString(css[:at])
		b.WriteByte(' ')
		if _, css, found = strings.Cut(rest, "*/"); !found {
			return b.String()
		}
	}
}

// indexUnquoted returns where one of signs stands in css outside strings, or -1.
func indexUnquoted(css, signs string) int {
	for i := 0; i < len(css); i++ {
		switch c := css[i]; {
		case strings.IndexByte(signs, c) >= 0:
			return i
		case c == '\\':
			i++
		case c == '"' || c == '\'':
			end := strings.IndexAny(css[i+1:], string(c)+"\n") // a string ends with its line
			if end < 0 {
				return -1
			}
			i += end + 1
		}
	}
	return -1
}

// cutBlock splits what follows an opening brace at the brace that closes it.
func cutBlock(css string) (block, rest string) {
	depth := 1
	for at := 0; ; {
		i := indexUnquoted(css[at:], "{}")
		if i < 0 {
			return css, ""
		}
		at += i + 1
		if css[at-1] == '{' {
			depth++
		} else if depth--; depth == 0 {
			return css[:at-1], css[at:]
		}
	}
}

// cutName reads a name from the start of s, its escapes undone.
func cutName(s string) (name, rest string) {
	end := 0
	for end < len(s) && (s[end] >= 0x80 || s[end] == '-' || s[end] == '_' || chars.Letter(s[end]) || s[end] >= '0' &&
		s[end] <= '9' || s[end] == '\\' && end+1 < len(s)) {
		if s[end] == '\\' {
			end++
		}
		end++
	}
	return unescape(s[:end]), s[end:]
}

// unescape undoes the escapes of CSS: a backslash with up to six hex digits and one space, or with any other
// character.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		r, digits := rune(0), 0
		for digits < 6 && i+1+digits < len(s) {
			d := strings.IndexByte("0123456789abcdef", s[i+1+digits]|0x20)
			if d < 0 {
				break
			}
			r = r<<4 | rune(d)
			digits++
		}
		if digits == 0 {
			i++
			b.WriteByte(s[i])
			continue
		}
		b.WriteRune(r)
		if i += digits; i+1 < len(s) && s[i+1] == ' ' {
			i++
		}
	}
	return b.String()
}

// Number reads a CSS number with its unit.
func Number(value string) (n float64, unit string, ok bool) {
	end := 0
	for end < len(value) && (value[end] >= '0' && value[end] <= '9' || value[end] == '.' || end == 0 &&
		(value[end] == '-' || value[end] == '+')) {
		end++
	}
	if end == 0 {
		return 0, value, false
	}
	n, err := strconv.ParseFloat(value[:end], 64)
	return n, value[end:], err == nil
}
