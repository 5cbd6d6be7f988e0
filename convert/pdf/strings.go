package pdf

import "strconv"

// name reads a name, as strings are read, of a PDF, from its slash on (§7.3.5). "#" with two hexadecimal digits is a
// byte; other uses of it are left as they are.
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

// literal reads a string in parentheses (§7.3.4.2). Parentheses nest, a backslash escapes, and line ends of any kind
// are one line feed. A string that is never closed ends with the file; bytes beyond maxString are read and dropped.
func (l *lexer) literal() string {
	l.at++
	var out []byte
	depth := 1
	for l.at < len(l.b) {
		c := l.b[l.at]
		l.at++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return string(out)
			}
		case '\r':
			if l.at < len(l.b) && l.b[l.at] == '\n' {
				l.at++
			}
			c = '\n'
		case '\\':
			if l.at >= len(l.b) {
				return string(out)
			}
			c = l.b[l.at]
			l.at++
			switch c {
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case '\r':
				if l.at < len(l.b) && l.b[l.at] == '\n' {
					l.at++
				}
				continue
			case '\n':
				continue
			// One to three octal digits; a number beyond a byte loses its upper bits.
			case '0', '1', '2', '3', '4', '5', '6', '7':
				v := int(c - '0')
				for range 2 {
					if l.at < len(l.b) && l.b[l.at] >= '0' && l.b[l.at] <= '7' {
						v = v*8 + int(l.b[l.at]-'0')
						l.at++
					}
				}
				c = byte(v)
			}
		}
		if len(out) < maxString {
			out = append(out, c)
		}
	}
	return string(out)
}

// hex reads a string of hexadecimal digits between < and > (§7.3.4.3).
func (l *lexer) hex() string {
	l.at++
	return string(l.digits(maxString))
}

// digits reads the pairs of hexadecimal digits of a string to the closing >, for at most limit bytes. Other bytes are
// passed over, and a last odd digit has a 0 behind it. The filter ASCIIHexDecode is read by it, too.
func (l *lexer) digits(limit int) (out []byte) {
	high := -1
	for l.at < len(l.b) {
		c := l.b[l.at]
		l.at++
		if c == '>' {
			break
		}
		v := unhex(c)
		switch {
		case v < 0:
		case high < 0:
			high = v
		default:
			if len(out) < limit {
				out = append(out, byte(high<<4|v))
			}
			high = -1
		}
	}
	if high >= 0 && len(out) < limit {
		out = append(out, byte(high<<4))
	}
	return out
}

// unhex returns the value of a hexadecimal digit of a string, -1 for another byte.
func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
