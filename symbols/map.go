package symbols

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Map holds the most important symbols of a tree.
type Map struct {
	Files    []File   `json:"files"`           // files with symbols in the map, by importance
	Symbols  int      `json:"symbols"`         // number of symbols in the map
	Known    int      `json:"known"`           // number of symbols in the tree
	Sources  int      `json:"sources"`         // number of files in the tree that define something
	Basic    bool     `json:"basic,omitempty"` // a scanner read some files: definitions over several lines may be missing
	Skipped  Skipped  `json:"skipped"`
	Warnings []string `json:"warnings,omitempty"` // what was left out and why
}

// File is a file with its symbols in the map.
type File struct {
	Path     string   `json:"path"`
	Language string   `json:"language"`
	Known    int      `json:"known"` // number of its symbols, in the map or not
	Symbols  []Symbol `json:"symbols"`

	weight float64
}

// Symbol is a definition.
type Symbol struct {
	Name       string   `json:"name"`
	Kind       Kind     `json:"kind"`
	Line       int      `json:"line"` // from 1
	Signature  string   `json:"signature"`
	References int      `json:"references"` // number of other files that use the name
	Members    []Symbol `json:"members,omitempty"`
}

// Map waits for the added files and returns their map. Its text has at most about this many tokens; if tokens is not
// positive, only the limit of 5,000 symbols applies. The builder must not be used afterwards.
func (b *Builder) Map(tokens int) *Map {
	b.work.Wait()
	slices.SortFunc(b.files, func(x, y *file) int { return cmp.Compare(x.path, y.path) })
	list := rank(b.files, b.names)
	shown, full := b.choose(list, tokens)
	m := &Map{Files: []File{}, Known: len(list), Sources: len(b.files), Basic: len(b.basic) > 0, Skipped: b.skipped}
	for i, f := range b.files {
		if len(shown[i]) > 0 {
			m.Files = append(m.Files, f.show(shown[i]))
		}
	}
	for i := range list {
		if _, ok := shown[list[i].file][list[i].index]; ok {
			m.Symbols++
		}
	}
	slices.SortStableFunc(m.Files, func(x, y File) int { return cmp.Compare(y.weight, x.weight) })
	b.warn(m, full, tokens)
	return m
}

// choose selects the most important symbols that fit, with their enclosing definitions. For each file it returns the
// symbols by index. full reports whether not all symbols fit.
func (b *Builder) choose(list []ranked, tokens int) (shown []map[int]ranked, full bool) {
	shown = make([]map[int]ranked, len(b.files))
	count, used := 0, footTokens
	for _, r := range list {
		f := b.files[r.file]
		cost, more := 0, 0
		if shown[r.file] == nil {
			cost += tokensOf(f.path) + 2
		}
		for i := r.index; i >= 0; i = f.definitions[i].parent {
			if _, ok := shown[r.file][i]; !ok {
				cost += tokensOf(f.definitions[i].signature) + lineTokens
				more++
			}
		}
		if count+more > maxInMap || tokens > 0 && used+cost > tokens {
			return shown, true
		}
		if shown[r.file] == nil {
			shown[r.file] = map[int]ranked{}
		}
		for i := r.index; i >= 0; i = f.definitions[i].parent {
			if _, ok := shown[r.file][i]; !ok {
				shown[r.file][i] = ranked{}
			}
		}
		shown[r.file][r.index] = r
		count, used = count+more, used+cost
	}
	return shown, false
}

// show returns the file with the chosen symbols, in the order of the text.
func (f *file) show(chosen map[int]ranked) File {
	out := File{Path: f.path, Language: f.language.name, Known: len(f.definitions)}
	children := map[int][]int{}
	for i, d := range f.definitions {
		if r, ok := chosen[i]; ok {
			children[d.parent] = append(children[d.parent], i)
			out.weight += r.weight
		}
	}
	var members func(parent int) []Symbol
	members = func(parent int) []Symbol {
		var list []Symbol
		for _, i := range children[parent] {
			d := f.definitions[i]
			list = append(list, Symbol{d.name, d.kind, d.line, d.signature, chosen[i].references, members(i)})
		}
		return list
	}
	out.Symbols = members(-1)
	return out
}

// warn sets the map's warnings.
func (b *Builder) warn(m *Map, full bool, tokens int) {
	say := func(format string, args ...any) { m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...)) }
	if m.Basic {
		say("symbols: basic (read by line: %s)", sentence(b.basic))
	}
	if full && tokens > 0 {
		say("symbols: %d of %d shown, in %d of %d files, for %d tokens", m.Symbols, m.Known, len(m.Files), m.Sources, tokens)
	} else if full {
		say("symbols: %d of %d shown, in %d of %d files", m.Symbols, m.Known, len(m.Files), m.Sources)
	}
	var left []string
	for _, reason := range []struct {
		files int
		why   string
	}{
		{m.Skipped.TooBig, "over 1 MiB"},
		{m.Skipped.Binary, "binary"},
		{m.Skipped.Generated, "generated"},
		{m.Skipped.Slow, "took too long"},
		{m.Skipped.Failed, "broke the parser"},
		{m.Skipped.Beyond, "beyond the limits of a tree"},
	} {
		if reason.files > 0 {
			left = append(left, fmt.Sprintf("%d %s", reason.files, reason.why))
		}
	}
	if left != nil {
		say("symbols: files not read: %s", strings.Join(left, ", "))
	}
	if b.cut > 0 {
		say("symbols: %d files have too many symbols to read all of them", b.cut)
	}
	if b.crowded || b.symbols >= maxSymbols {
		say("symbols: the tree has too many names to count all of them; the order is a best effort")
	}
}

// Cautious estimates of tokens.
const (
	bytesPerToken = 3
	lineTokens    = 4  // indentation, line number, end of line
	footTokens    = 40 // the warnings at the end of Text
)

func tokensOf(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// Text returns the map as text. It lists the files by importance, each with its symbols and their line numbers in the
// order of the file. The warnings come last.
func (m *Map) Text() string {
	var b strings.Builder
	for i, f := range m.Files {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", f.Path)
		writeSymbols(&b, f.Symbols, "  ")
	}
	for i, warning := range m.Warnings {
		if i == 0 && len(m.Files) > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[%s]\n", warning)
	}
	return b.String()
}

func writeSymbols(b *strings.Builder, symbols []Symbol, indent string) {
	for _, s := range symbols {
		fmt.Fprintf(b, "%s%d: %s\n", indent, s.Line, s.Signature)
		writeSymbols(b, s.Members, indent+"  ")
	}
}
