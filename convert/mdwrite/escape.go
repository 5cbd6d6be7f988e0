package mdwrite

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// escapeTree escapes the text below root so that markdown shows it unchanged. It runs after white space is collapsed,
// so that it knows which text begins a line. It takes time linear in the text. root is a copy of a piece of the page;
// the page itself is not changed.
func escapeTree(ctx context.Context, root *html.Node) {
	lineStart := true
	var walk func(n *html.Node, inLink bool)
	walk = func(n *html.Node, inLink bool) {
		guard.Check(ctx)
		if dom.IsHeading(n) { // behind its # nothing begins a block
			lineStart = false
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				text := c.Data
				c.Data = escaped(text, lineStart, inLink)
				if !chars.Blank(text) {
					lineStart = false
				}
			case c.Type != html.ElementNode:
			case dom.Is(c, atom.Br):
				lineStart = true
			case verbatim(c):
				lineStart = dom.Is(c, atom.Pre)
			case dom.Is(c, atom.Img):
				lineStart = false
			default:
				block := dom.IsBlock(c)
				lineStart = lineStart || block
				walk(c, inLink || dom.Is(c, atom.A))
				lineStart = lineStart || block
			}
		}
	}
	walk(root, false)
}

// verbatim reports whether the text of n is written without escapes. Backslashes in it would show.
func verbatim(n *html.Node) bool {
	return dom.Is(n, atom.Pre, atom.Code, atom.Kbd, atom.Samp, atom.Tt) || n.Data == dom.MathElement ||
		n.Data == dom.RawElement
}

// escaped returns s with a backslash before each character that markdown would take for markup. lineStart says that s
// begins a line, inLink that it is the text of a link, where brackets always count. It escapes as little as it can:
// agents read markdown as it stands, and each backslash is a token. Leading white space of a line goes.
func escaped(s string, lineStart, inLink bool) string {
	var b strings.Builder // empty while nothing is escaped, as in most texts
	if lineStart {
		s = strings.TrimLeft(s, " \t\n")
		if n := lineMark(s); n < len(s) && (n > 0 || opensBlock(s)) {
			b.Grow(len(s) + 8)
			b.WriteString(s[:n])
			b.WriteByte('\\')
			b.WriteByte(s[n])
			s = s[n+1:]
		}
	}
	from := 0
	for i := range len(s) {
		if c := s[i]; c < utf8.RuneSelf && escapes[c] && special(s, i, inLink) {
			if b.Len() == 0 {
				b.Grow(len(s) + 8)
			}
			b.WriteString(s[from:i])
			b.WriteByte('\\')
			from = i
		}
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// WriteEscaped writes s as markdown that shows it unchanged. lineStart says that s begins a line, inLink that it is the
// text of a link. Writers of formats without a tree use it.
func WriteEscaped(b *strings.Builder, s string, lineStart, inLink bool) {
	b.WriteString(escaped(s, lineStart, inLink))
}

// Escaped escapes plain text so that markdown shows it unchanged. lineStart says that the text begins a line; next is
// the character after it. Some characters are markup before others only.
func Escaped(s string, lineStart bool, next byte) string {
	return strings.TrimSuffix(escaped(s+string(next), lineStart, false), string(next))
}

// escapes are the characters that special decides about.
var escapes = [utf8.RuneSelf]bool{
	'\\': true, '`': true, '*': true, '_': true, '[': true, ']': true, '<': true,
	'&': true, '~': true, '!': true,
}

// special reports whether the character at i is markup at this place, and is escaped. At the edges of s, where the
// neighbour is unknown, it reports true. The rules are those of CommonMark and of GitHub's extensions: emphasis by
// flanking, links, tags, entities, strikethrough and notes.
func special(s string, i int, inLink bool) bool {
	next := byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch s[i] {
	case '`':
		return true
	case '\\':
		return next == 0 || punctuation(next)
	case '*':
		return !spaceBefore(s, i) || next != ' '
	case '_':
		// Of a run of them each is markup or none: __init__ would begin emphasis behind the first if that alone were none.
		before, after := strings.TrimRight(s[:i], "_"), strings.TrimLeft(s[i:], "_")
		return (!wordBefore(s, len(before)) || !wordAfter(after, 0)) && (!spaceBefore(s, i) || next != ' ')
	case '~':
		return next == '~' || i > 0 && s[i-1] != ' '
	case '[':
		return inLink || next == '^' || next == '!' || next >= '0' && next <= '9' && numbered(s[i+1:])
	case ']':
		return inLink || next == 0 || next == '(' || next == '[' || next == ':'
	case '!':
		return next == '['
	case '<':
		return next == 0 || chars.Letter(next) || next == '/' || next == '!' || next == '?'
	case '&':
		return chars.Entity(s[i+1:])
	}
	return false
}

// punctuation reports whether c is ASCII punctuation, which a backslash escapes (CommonMark 2.4).
func punctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// spaceBefore reports whether a space stands before the character at i of a text that is escaped.
func spaceBefore(s string, i int) bool { return i > 0 && s[i-1] == ' ' }

// wordBefore reports whether a letter or digit stands before the character at i of a text that is escaped, so that an
// underscore there is within a word.
func wordBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return i > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// wordAfter reports whether the character at i of a text that is escaped is a letter or a digit.
func wordAfter(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return i < len(s) && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// numbered reports whether s begins with digits and a closing bracket: the label of a link by reference, which is
// escaped. Text such as [12] would become a link if this program wrote a definition with that number.
func numbered(s string) bool {
	for i := range min(len(s), 8) {
		if s[i] == ']' {
			return i > 0
		}
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return false
}

// lineMark returns the number of digits at the start of s when they would make it an item of a numbered list. The dot
// or parenthesis behind them is what is escaped. It is 0 for any other text.
func lineMark(s string) int {
	i := 0
	for i < len(s) && i < 10 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i > 0 && i < 10 && i < len(s) && (s[i] == '.' || s[i] == ')') && (i+1 == len(s) || s[i+1] == ' ') {
		return i
	}
	return 0
}

// opensBlock reports whether the first character of s, at the start of a line, begins a heading, list, quote, rule or
// fence, and is escaped. "=" and "-" alone would make a heading of the line before.
func opensBlock(s string) bool {
	if s == "" {
		return false
	}
	switch c := s[0]; c {
	case '#':
		rest := strings.TrimLeft(s, "#")
		return len(s)-len(rest) <= 6 && (rest == "" || rest[0] == ' ')
	case '>':
		return true
	case '-', '+', '=':
		if len(s) == 1 || s[1] == ' ' && c != '=' {
			return true
		}
		return c != '+' && strings.Trim(s, string(c)+" ") == ""
	case ':':
		return len(s) > 1 && s[1] == ' '
	case '|':
		return true
	case '[':
		return len(s) > 2 && s[2] == ']' // a box to tick
	case '~':
		return strings.HasPrefix(s, "~~~")
	}
	return false
}
