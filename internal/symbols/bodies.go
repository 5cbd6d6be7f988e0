package symbols

import (
	"bytes"
	"slices"
	"strings"
)

// skeleton is a text of C, C++ or Java without what stands in the bodies of functions, which define nothing that others
// see and are most of the text. The grammar need not read that: a lexer finds what it refers to.
type skeleton struct {
	text []byte
	cuts []cut
}

// cut is a place of a skeleton where the text has more: with the cuts before, so many lines.
type cut struct{ at, lines int }

// minBody is the shortest body that is worth a cut, in bytes.
const minBody = 32

// withoutBodies returns the skeleton of content, and records in s what the bodies refer to.
func withoutBodies(content []byte, java bool, s *source) *skeleton {
	b := &bodies{lexer: lexer{text: content, java: java}, s: s}
	k := &skeleton{text: make([]byte, 0, len(content))}
	from, lines := 0, 0
	for {
		begin, end, ok := b.next()
		if !ok {
			break
		}
		k.text = append(k.text, content[from:begin]...)
		lines += bytes.Count(content[begin:end], []byte("\n"))
		k.cuts = append(k.cuts, cut{len(k.text), lines})
		from = end
	}
	k.text = append(k.text, content[from:]...)
	return k
}

// restore makes, after bodies were left out, the lines of matches in a skeleton those of the text.
func (k *skeleton) restore(found []match) {
	for i := range found {
		m := &found[i]
		n, _ := slices.BinarySearchFunc(k.cuts, m.nameStart+1, func(c cut, at int) int { return c.at - at })
		if n > 0 {
			m.line += k.cuts[n-1].lines
		}
	}
}

// bodies finds the bodies of functions.
type bodies struct {
	lexer
	s    *source
	vain int // bytes that were read without an end of a body

	// of the present statement
	words  int    // before the name in front of the last parenthesis
	seen   int    // words so far
	last   lexeme // the last lexeme
	header bool   // a name and parentheses have been read, and since then only what may stand before a body
	throws bool   // after that word
}

// next returns where the content of the next body begins and ends.
func (b *bodies) next() (begin, end int, ok bool) {
	for {
		t := b.lexer.next()
		switch {
		case t.kind == 0:
			return 0, 0, false
		case t.kind == directive:
			continue
		case t.kind == ';' || t.kind == '}' || t.kind == ':' && b.last.kind == word && b.seen == 1: // "public:"
			b.begin()
		case t.kind == '{':
			is := b.header && b.words > 0 || b.last.kind == '=' // what a variable holds
			b.begin()
			if is && b.vain <= 4*len(b.text) {
				end, ok := b.skip()
				if ok && end-t.end >= minBody {
					b.refer(t.end, end)
					b.last = lexeme{kind: '}', start: end, end: end + 1}
					return t.end, end, true
				}
				if !ok {
					b.vain += b.at - t.end
					b.at = t.end // where it ends cannot be told: the grammar reads it
				}
			}
		case t.kind == '(':
			b.parameters()
			continue
		case t.kind == word:
			b.seen++
			b.header = b.header && (b.throws || b.follows(t))
		case b.throws && (t.kind == ',' || t.kind == '.'), t.kind == '&' && b.header:
		default:
			b.header = false
			if t.kind == '=' {
				b.words, b.seen = 0, -1<<30 // a value: what it holds is no body
			}
		}
		b.last = t
	}
}

// begin begins a statement.
func (b *bodies) begin() { b.words, b.seen, b.header, b.throws = 0, 0, false, false }

// follows reports whether a word may stand between the parameters and the body of a function.
func (b *bodies) follows(t lexeme) bool {
	switch string(b.text[t.start:t.end]) {
	case "throws":
		b.throws = b.java
		return b.java
	case "const", "override", "final", "noexcept", "volatile":
		return !b.java
	}
	return false
}

// parameters reads to the parenthesis that closes the one read last. They are those of a function if a name precedes
// them.
func (b *bodies) parameters() {
	name := b.last
	for depth := 1; depth > 0; {
		t := b.lexer.next()
		switch t.kind {
		case '(':
			depth++
		case ')':
			depth--
		case '{', ';', 0: // it is never closed
			b.at = t.start
			b.header = false
			return
		}
		b.last = t
	}
	b.header = name.kind == word && !attribute(b.text[name.start:name.end])
	b.words = b.seen - 1
	if !b.java {
		b.words = b.seen
	}
}

// attribute reports, in search of a body, whether a word and the parentheses after it say something about a declaration
// and are no function.
func attribute(name []byte) bool {
	switch string(name) {
	case "__attribute__", "__attribute", "__declspec", "alignas", "_Alignas", "decltype", "noexcept", "throw", "asm",
		"requires", "explicit", "__asm__", "__typeof__", "typeof":
		return true
	}
	return false
}

// skip reads a body to the brace that closes it, and returns where that is. A body of which a conditional of the
// preprocessor has a part only cannot be told.
func (b *bodies) skip() (end int, ok bool) {
	type branch struct{ before, after int } // depths; after is that of the first branch
	var open []branch
	for depth := 1; ; {
		t := b.lexer.next()
		switch t.kind {
		case 0:
			return 0, false
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return t.start, len(open) == 0
			}
		case directive:
			name := strings.TrimLeft(string(b.text[t.start+1:min(t.start+16, t.end)]), " \t")
			switch {
			case strings.HasPrefix(name, "if"):
				open = append(open, branch{depth, -1})
			case strings.HasPrefix(name, "el") || strings.HasPrefix(name, "endif"):
				if len(open) == 0 {
					return 0, false
				}
				last := &open[len(open)-1]
				if last.after < 0 {
					last.after = depth
				}
				if depth = last.before; name[1] == 'n' {
					depth = last.after
					open = open[:len(open)-1]
				}
			}
		}
	}
}

// refer records the names that a body refers to: what it calls, and words in the place of a type.
func (b *bodies) refer(begin, end int) {
	x := lexer{text: b.text[:end], at: begin, java: b.java, used: true}
	before, t := lexeme{kind: ';'}, x.next()
	for t.kind != 0 {
		next := x.next()
		if t.kind == word && !ownWord(b.text[t.start:t.end]) {
			name := b.text[t.start:t.end]
			switch {
			case next.kind == '(' && !b.java && (before.kind == '.' || before.kind == '>' && b.arrow(before)):
				b.s.refer(name, usedOf)
			case next.kind == '(' || b.typed(before, t, next, x):
				b.s.refer(name, usedAlone)
			}
		}
		before, t = t, next
	}
}

func (b *bodies) arrow(t lexeme) bool { return t.start > 0 && b.text[t.start-1] == '-' }

// typed reports whether a word stands where a type does. x is behind the lexeme after it.
func (b *bodies) typed(before, t, next lexeme, x lexer) bool {
	if before.kind == word {
		switch string(b.text[before.start:before.end]) {
		case "struct", "union", "enum", "class", "new", "instanceof", "extends":
			return true
		}
	}
	begins := strings.IndexByte(";{}", before.kind) >= 0 || before.kind == word || before.kind == directive
	if b.java && (before.kind == '@' || before.kind == ':' && t.start > 1 && b.text[t.start-2] == ':') {
		return true
	}
	switch next.kind {
	case word:
		return before.kind != '.' && !ownWord(b.text[next.start:next.end])
	case '*', '&':
		for next.kind == '*' || next.kind == '&' {
			next = x.next()
		}
		return next.kind == ')' && before.kind == '(' || next.kind == word && begins
	case ')': // of a cast
		if before.kind != '(' {
			return false
		}
		after := x.next()
		return after.kind == word || after.kind == literal || after.kind == '('
	case '<':
		return next.start == t.end
	case '>', ',':
		return before.kind == '<'
	}
	return false
}

// ownWord reports, in search of a body, whether a word is one of the languages' own, and not a name.
func ownWord(text []byte) bool { return keywords[string(text)] }

var keywords = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`if else for while do switch case default return break continue goto sizeof
		typeof try catch throw finally new delete this super struct union enum class const static volatile register extern
		inline typedef auto void char short int long float double signed unsigned bool boolean byte _Bool true false null NULL
		nullptr instanceof final synchronized assert yield var operator template typename using namespace public private
		protected and or not constexpr static_cast dynamic_cast const_cast reinterpret_cast co_await co_return co_yield
		alignof decltype noexcept mutable thread_local extends implements throws abstract native transient`) {
		words[w] = true
	}
	return words
}()
