package pdf

import (
	"strings"
	"time"
	"unicode/utf16"
)

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

// text reads a text string (§7.9.2.2): UTF-16 or UTF-8 with a mark, else PDFDocEncoding. Titles, languages, dates and
// ActualText are such strings; the strings that a page shows are bytes of its fonts and are not.
func (r *pdfReader) text(v any) string {
	s, _ := r.resolve(v).(string)
	switch {
	case len(s) >= 2 && s[0] == 0xfe && s[1] == 0xff:
		return utf16Text(s[2:])
	case len(s) >= 3 && s[:3] == "\xef\xbb\xbf":
		return strings.ToValidUTF8(s[3:], "\ufffd")
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x18 && c < 0x20:
			b.WriteRune(docAccents[c-0x18])
		case c >= 0x80 && c <= 0xa0:
			b.WriteRune(docSigns[c-0x80])
		default:
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}

// utf16Text decodes a text string in big-endian UTF-16 without its mark. A last odd byte is left out.
func utf16Text(s string) string {
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return string(utf16.Decode(units))
}

// parseDate parses a string of a PDF that is a date, D:YYYYMMDDHHmmSSOHH'mm', of which everything after the year is
// optional. It is zero for what is none, and for years up to 1900, which files have that know no date.
func parseDate(s string) time.Time {
	s = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(s), "D:"), "'", "")
	for _, form := range []string{
		"20060102150405-0700", "20060102150405Z0700", "20060102150405", "200601021504",
		"2006010215", "20060102", "200601", "2006",
	} {
		if t, err := time.Parse(form, s[:min(len(s), len(form))]); err == nil && t.Year() > 1900 {
			return t
		}
	}
	return time.Time{}
}

// Where PDFDocEncoding is not Latin 1 (§D.3).
var (
	docAccents = []rune("˘ˇˆ˙˝˛˚˜")
	docSigns   = []rune("•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\ufffd€")
)
