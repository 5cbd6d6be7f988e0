package symbols

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/lazy"
)

// scanner reads a language line by line, without a grammar. It blanks comments and strings. Then rules find
// definitions, and every name that is called or written like a type is a reference.
type scanner struct {
	comment  string    // markers of comments that end with the line, separated by a space
	block    [2]string // markers of block comments
	quotes   string    // quotes of strings on one line
	multi    []string  // quotes of strings over several lines
	verbatim string    // what begins a string over several lines that ends at a single double quote
	indented bool      // definitions nest by indentation instead of braces
	rules    []rule
	calls    func() *regexp.Regexp // finds references, by one of two groups; if nil, called
}

// rule finds definitions in a line. The last group that matches is the name.
type rule struct {
	kind Kind
	line func() *regexp.Regexp
	top  bool // applies only outside functions
	sure bool // a keyword says what is defined: the name may be a keyword elsewhere
}

// maxLine is how much of a line the rules see, in bytes.
const maxLine = 400

// notNames are keywords that look like called or defined names.
var notNames = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`if else for foreach while do switch case default return catch try finally throw throws new delete sizeof typeof instanceof
		in of and or not is await yield assert with using lock lambda print super this self defined alignof decltype static_assert synchronized function
		elif elsif unless until when match guard defer fixed checked typedef define public private protected operator end then begin True False None
		isset unset empty array list echo include require let var const fn`) {
		words[word] = true
	}
	return words
}()

var called = lazy.Pattern(`([A-Za-z_$][\w$]*)\s*\(|\b([A-Z][A-Za-z0-9]*[a-z][\w$]*)`)

// read returns the definitions and references that the rules find in content. The error is errLate after the time
// limit.
func (sc *scanner) read(ctx context.Context, l *language, content []byte, limit time.Duration) (*source, error) {
	left := newBudget(limit)
	s := &source{references: map[string]uses{}}
	type frame struct{ index, depth int }
	var open []frame
	calls := sc.calls
	if calls == nil {
		calls = called
	}
	depth, at, number := 0, 0, 0
	blank := sc.blank(content)
	for line := range bytes.Lines(blank) {
		number++
		if number%256 == 0 && left.spent(ctx) {
			return nil, errLate
		}
		start, after := at, depth+bytes.Count(line, []byte("{"))-bytes.Count(line, []byte("}"))
		at += len(line)
		line = line[:min(len(line), maxLine)]
		level := depth
		depth = max(0, after)
		if sc.indented {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			level = len(line) - len(bytes.TrimLeft(line, " \t"))
		}
		for len(open) > 0 && open[len(open)-1].depth >= level {
			open = open[:len(open)-1]
		}
		defined := ""
		if r, name := sc.match(line, len(open) > 0 && s.inside(open[len(open)-1].index)); name != "" &&
			len(s.definitions) < maxRows {
			d := definition{kind: r.kind, line: number, parent: -1}
			d.owner, d.name = bareName([]byte(name))
			if len(open) > 0 {
				s.nest(&d, open[len(open)-1].index)
			}
			text, _, _ := bytes.Cut(content[start:start+len(line)], []byte("{"))
			d.signature = oneLine(text, l)
			if d.worthShowing() {
				defined = name
				open = append(open, frame{len(s.definitions), level})
				s.definitions = append(s.definitions, d)
			}
		}
		for _, m := range calls().FindAllSubmatchIndex(line, -1) {
			at, end := max(m[2], m[4]), max(m[3], m[5])
			name := line[at:end]
			switch {
			case string(name) == defined || notNames[string(name)]:
			case at > 0 && line[at-1] == '.':
				s.refer(name, usedOf)
			default:
				s.refer(name, usedAlone)
			}
		}
	}
	s.cut = len(s.definitions) == maxRows
	return s, nil
}

// inside reports, as a file is scanned, whether the content of a definition is not visible from outside.
func (s *source) inside(index int) bool {
	d := s.definitions[index]
	return d.local || d.kind == Function || d.kind == Method
}

// match returns the first rule of the language that a line matches, and the name that it defines. Inside a body only
// rules for nested definitions count.
func (sc *scanner) match(line []byte, inside bool) (rule, string) {
	for _, r := range sc.rules {
		if inside && r.top {
			continue
		}
		groups := r.line().FindSubmatch(line)
		for i := len(groups) - 1; i > 0; i-- {
			if name := string(groups[i]); name != "" && (r.sure || !notNames[name]) && nameable(groups[i]) {
				return r, name
			}
		}
	}
	return rule{}, ""
}

// blank returns source code with every byte of comments and strings replaced by a space, except for line ends, so that
// the scanner's rules match only code, at the same places.
func (sc *scanner) blank(content []byte) []byte {
	blank := bytes.Clone(content)
	wipe := func(from, to int) {
		for i := from; i < min(to, len(blank)); i++ {
			if blank[i] != '\n' {
				blank[i] = ' '
			}
		}
	}
	comments := strings.Fields(sc.comment)
	for i := 0; i < len(content); {
		rest := content[i:]
		end := i + 1
		switch {
		case sc.block[0] != "" && bytes.HasPrefix(rest, []byte(sc.block[0])):
			end = after(content, i+len(sc.block[0]), sc.block[1])
			wipe(i, end)
		case startsWith(rest, comments) != "":
			end = after(content, i, "\n")
			wipe(i, end)
		case startsWith(rest, sc.multi) != "":
			quote := startsWith(rest, sc.multi)
			end = after(content, i+len(quote), quote)
			wipe(i, end)
		case sc.verbatim != "" && bytes.HasPrefix(rest, []byte(sc.verbatim)):
			end = verbatimEnd(content, i+len(sc.verbatim))
			wipe(i, end)
		case strings.IndexByte(sc.quotes, rest[0]) >= 0:
			end = stringEnd(content, i)
			wipe(i, end)
		case rest[0] == '\'' && len(rest) > 2 && rest[2] == '\'': // a character; a single quote may also mark a lifetime
			end = i + 3
			wipe(i, end)
		}
		i = end
	}
	return blank
}

// startsWith returns, for the scanner, the first of some prefixes that a text begins with; empty if none.
func startsWith(text []byte, prefixes []string) string {
	for _, prefix := range prefixes {
		if bytes.HasPrefix(text, []byte(prefix)) {
			return prefix
		}
	}
	return ""
}

// after returns, for the scanner, the index after the next occurrence of mark, or the end of content.
func after(content []byte, from int, mark string) int {
	if from < len(content) {
		if n := bytes.Index(content[from:], []byte(mark)); n >= 0 {
			return from + n + len(mark)
		}
	}
	return len(content)
}

// verbatimEnd returns, for the scanner's blanking of strings, the index after the next double quote that is not
// doubled.
func verbatimEnd(content []byte, from int) int {
	for from < len(content) {
		n := bytes.IndexByte(content[from:], '"')
		if n < 0 {
			break
		}
		if from += n + 1; from >= len(content) || content[from] != '"' {
			return from
		}
		from++
	}
	return len(content)
}

// stringEnd returns, as a file is scanned, the index after the string that begins at i, at most the end of the line.
func stringEnd(content []byte, i int) int {
	for j := i + 1; j < len(content); j++ {
		switch content[j] {
		case '\\':
			j++
		case content[i]:
			return j + 1
		case '\n':
			return j
		}
	}
	return len(content)
}
