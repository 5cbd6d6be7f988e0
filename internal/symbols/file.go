package symbols

import (
	"cmp"
	"slices"

	"github.com/readthru/readthru/internal/lazy"
)

// definition is a symbol in its file.
type definition struct {
	name      string
	signature string // one line
	owner     string // the type that a method belongs to, if known
	kind      Kind
	line      int  // from 1
	parent    int  // index of the enclosing definition in the same file, which comes before it; -1 if there is none
	local     bool // not visible outside a function
}

// source holds the definitions and references of one file.
type source struct {
	definitions []definition    // in the order of the text
	references  map[string]uses // by name, including names that the file defines
	cut         bool            // the file has more definitions or references than were read
}

// use says how a file refers to a name. If there are several ways, it is the greatest.
type use uint8

const (
	unused    use = iota
	usedOf        // as a member of something: x.name
	usedAlone     // called, or a type
)

// uses is how and how often a file refers to a name.
type uses struct {
	way use
	n   uint32
}

// refer records a use of a name in a file.
func (s *source) refer(text []byte, u use) {
	if nameable(text) {
		was := s.references[string(text)]
		s.references[string(text)] = uses{max(was.way, u), was.n + 1}
	}
}

// take adds the matches of a grammar in a file's content: it finds the nesting, names and signatures of the
// definitions.
func (s *source) take(l *language, content []byte, found []match) {
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
	var open []frame // enclosing definitions
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
		if !d.worthShowing() {
			continue
		}
		d.signature = signature(l, content, m)
		open = append(open, frame{len(s.definitions), m.end})
		s.definitions = append(s.definitions, d)
	}
}

// nest makes parent the enclosing definition in a file of d.
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

var macroBeforeName = lazy.Pattern(`\b(?:class|struct|union|enum)\s+((?:[A-Z][A-Z0-9_]*(?:\([^()\n]*\))?\s+)+)[A-Za-z_]\w*\s*(?:final\s*)?[:{]`)

// blankMacros replaces macros of a file between class and its name with spaces, as in "class API_EXPORT Table {". The
// grammar does not recognise a class with an unexpanded macro.
func blankMacros(content []byte) {
	for _, place := range macroBeforeName().FindAllSubmatchIndex(content, -1) {
		for i := place[2]; i < place[3]; i++ {
			if content[i] != '\n' {
				content[i] = ' '
			}
		}
	}
}

// maxName is the maximum length of a name in bytes; people do not write longer ones.
const maxName = 100

// maxSignature is the maximum length of a signature in bytes.
const maxSignature = 160

var (
	hashRemarks  = lazy.Pattern(`(?m)(?:^|\s)#.*$`)
	annotations  = lazy.Pattern(`^(?:@[A-Za-z][\w.]*(?:\([^()]*\))?\s+)+`) // that end before the definition
	slashRemarks = lazy.Pattern(`(?m)(?:^|\s)//.*$|(?s)/\*.*?\*/`)
)
