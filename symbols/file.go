package symbols

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// definition is a symbol as its file has it.
type definition struct {
	name      string
	signature string // one line
	owner     string // the type that a method belongs to, if known
	kind      Kind
	line      int // from 1
	parent    int // index in the file of the definition it stands in, before it; -1 for none
	local     bool
}

// source is what one file defines and refers to.
type source struct {
	definitions []definition   // in the order of the text
	references  map[string]use // by name; those the file defines too are among them
	cut         bool           // there was more than is looked at
}

// use is how a file refers to a name; the greatest that occurs.
type use uint8

const (
	unused    use = iota
	usedOf        // as a member of something: x.name
	usedAlone     // called, or a type
)

// refer notes the use of a name.
func (s *source) refer(text []byte, u use) {
	if nameable(text) && s.references[string(text)] < u {
		s.references[string(text)] = u
	}
}

// newSource orders what a grammar found in content: who stands in whom, what each is called and how it reads.
func newSource(l *language, content []byte, found []match, cut bool) *source {
	s := &source{cut: cut, references: map[string]use{}}
	definitions := found[:0]
	for _, m := range found {
		switch {
		// a name that error recovery made up
		case m.nameStart >= m.nameEnd || m.nameEnd > len(content) || m.end > len(content):
		case m.kind == reference:
			s.refer(content[m.nameStart:m.nameEnd], usedAlone)
		case m.kind == memberReference:
			s.refer(content[m.nameStart:m.nameEnd], usedOf)
		default:
			definitions = append(definitions, m)
		}
	}
	slices.SortStableFunc(definitions, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.nameStart, b.nameStart),
			a.kind.value()-b.kind.value())
	})
	definitions = slices.CompactFunc(definitions, func(a, b match) bool { return a.nameStart == b.nameStart })
	type frame struct{ index, end int }
	var open []frame // definitions around this one
	for _, m := range definitions {
		for len(open) > 0 && open[len(open)-1].end <= m.start {
			open = open[:len(open)-1]
		}
		d := definition{kind: m.kind, line: m.line + 1, parent: -1}
		d.owner, d.name = bareName(content[m.nameStart:m.nameEnd])
		if !nameable([]byte(d.name)) {
			continue
		}
		if len(open) > 0 {
			s.nest(&d, open[len(open)-1].index)
		}
		if !d.settle() {
			continue
		}
		d.signature = signature(l, content, m)
		open = append(open, frame{len(s.definitions), m.end})
		s.definitions = append(s.definitions, d)
	}
	return s
}

// nest puts d into another definition.
func (s *source) nest(d *definition, parent int) {
	p := s.definitions[parent]
	d.parent = parent
	d.local = p.local || p.kind == Function || p.kind == Method
	if p.kind.holdsMethods() {
		d.owner = p.name
		if d.kind == Function {
			d.kind = Method
		}
	}
}

var macroBeforeName = pattern(`\b(?:class|struct|union|enum)\s+((?:[A-Z][A-Z0-9_]*(?:\([^()\n]*\))?\s+)+)[A-Za-z_]\w*\s*(?:final\s*)?[:{]`)

// blankMacros puts spaces where a macro stands between class and its name, as in "class API_EXPORT Table {":
// unexpanded, no grammar makes a class of that.
func blankMacros(content []byte) {
	for _, place := range macroBeforeName().FindAllSubmatchIndex(content, -1) {
		for i := place[2]; i < place[3]; i++ {
			if content[i] != '\n' {
				content[i] = ' '
			}
		}
	}
}

// settle tells whether a match is a definition worth naming, where its pattern alone cannot tell.
func (d *definition) settle() bool {
	if d.kind == Module && (d.name == "tests" || d.name == "test") { // in the midst of a file of Rust
		d.local = true
	}
	if d.kind == Variable && isUpper(d.name) { // in languages where a constant is a matter of spelling
		d.kind = Constant
	}
	return d.kind != Variable && (d.kind != Constant || !d.local)
}

// holdsMethods tells whether functions that stand in this are methods.
func (k Kind) holdsMethods() bool {
	switch k {
	case Class, Struct, Union, Interface, Trait, Impl, Enum:
		return true
	}
	return false
}

// value is 1 for what a name may stand for if it is nothing better.
func (k Kind) value() int {
	if k == Constant || k == Variable {
		return 1
	}
	return 0
}

// isUpper tells whether a name is written in capitals, as constants are.
func isUpper(name string) bool {
	return strings.ContainsFunc(name, unicode.IsUpper) && !strings.ContainsFunc(name, unicode.IsLower)
}

// maxName bounds a name in bytes; longer ones are not made by people.
const maxName = 100

// nameable tells whether a name can be shown and asked for.
func nameable(name []byte) bool {
	return len(name) > 0 && len(name) <= maxName && utf8.Valid(name) &&
		!bytes.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// bareName splits a qualified name: "Table" and "~Table" of "db::Table::~Table", "Vector" and "at" of "Vector<T>::at".
func bareName(text []byte) (owner, bare string) {
	qualified := string(text)
	if i := strings.Index(qualified, "operator"); i == 0 || i > 0 && qualified[i-1] == ':' {
		bare = strings.Join(strings.Fields(qualified[i:]), " ")
		qualified = strings.TrimSuffix(qualified[:i], "::")
		if qualified == "" {
			return "", bare
		}
	} else if i := strings.LastIndex(qualified, "::"); i >= 0 {
		qualified, bare = qualified[:i], strings.TrimSpace(qualified[i+2:])
	} else {
		return "", withoutArguments(qualified)
	}
	owner = withoutArguments(qualified)
	return strings.TrimSpace(owner[strings.LastIndexByte(owner, ':')+1:]), bare
}

// withoutArguments returns a name without the template arguments at its end.
func withoutArguments(name string) string {
	if i := strings.IndexByte(name, '<'); i > 0 && strings.HasSuffix(name, ">") {
		name = name[:i]
	}
	return strings.TrimSpace(name)
}

// maxSignature bounds a signature in bytes.
const maxSignature = 160

// signature returns the text of a definition up to its body as one line, with an ellipsis where that is too long.
func signature(l *language, content []byte, m match) string {
	end := min(m.body, m.start+4*maxSignature)
	if m.nameEnd > end {
		end = min(m.nameEnd+maxSignature, m.end)
	}
	text := content[m.start:end]
	if m.kind == Type {
		text = typeText(content[m.start:m.end])
	}
	if m.kind == Constant || m.kind == Macro {
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[:i]
		}
	}
	return oneLine(text, l)
}

// typeText leaves the braces of "typedef struct node {…} node_t" empty, if it is long: the name is at the end.
func typeText(text []byte) []byte {
	first, last := bytes.IndexByte(text, '{'), bytes.LastIndexByte(text, '}')
	if len(text) > maxSignature/2 && first >= 0 && first < last {
		text = slices.Concat(text[:first+1], []byte("…"), text[last:])
	}
	return text[:min(len(text), 4*maxSignature)]
}

// oneLine returns text with every run of white space as one space, without comments and what opens a body at its end.
func oneLine(text []byte, l *language) string {
	var b strings.Builder
	text = l.remarks().ReplaceAllLiteral(text, nil)
	text = annotations().ReplaceAllLiteral(text, nil)
	space := false
	for _, r := range string(text) {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case !unicode.IsPrint(r):
			continue
		}
		if space {
			if last := b.String()[b.Len()-1]; last != '(' && last != '[' && r != ')' && r != ']' && r != ',' {
				b.WriteByte(' ')
			}
			space = false
		}
		b.WriteRune(r)
		if b.Len() > maxSignature {
			return strings.TrimRight(b.String()[:cutAt(b.String(), maxSignature)], " ,") + "…"
		}
	}
	line := strings.ReplaceAll(b.String(), ",)", ")")
	for _, opening := range []string{"{", "=>", ":", ";", "=", "where", "\\"} {
		if opening == ":" && l.grammar != python {
			continue
		}
		line = strings.TrimRight(strings.TrimSuffix(line, opening), " ")
	}
	return line
}

var (
	hashRemarks  = pattern(`(?m)(?:^|\s)#.*$`)
	annotations  = pattern(`^(?:@[A-Za-z][\w.]*(?:\([^()]*\))?\s+)+`) // that end before the definition
	slashRemarks = pattern(`(?m)(?:^|\s)//.*$|(?s)/\*.*?\*/`)
)

// remarks finds comments, in texts as short as signatures.
func (l *language) remarks() *regexp.Regexp {
	if l.scan != nil && strings.HasPrefix(l.scan.comment, "#") {
		return hashRemarks()
	}
	return slashRemarks()
}

// cutAt returns the greatest place up to n where text may be cut between characters.
func cutAt(text string, n int) int {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
