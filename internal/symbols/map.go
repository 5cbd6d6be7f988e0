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
	aside  bool
}

// Symbol is a definition.
type Symbol struct {
	Name       string `json:"name"`
	Kind       Kind   `json:"kind"`
	Line       int    `json:"line"` // from 1
	Signature  string `json:"signature"`
	References int    `json:"references"` // number of other files that use the name
	// of the most important symbols: the files that use the name most, and how often all other files do
	Users   []User   `json:"users,omitempty"`
	Uses    int      `json:"uses,omitempty"`
	Members []Symbol `json:"members,omitempty"`
}

// User is a file that uses a name.
type User struct {
	Path string `json:"path"`
	Uses int    `json:"uses"`
}

// Map waits for the added files and returns their map. Its text has at most about this many tokens; if tokens is not
// positive, only the limit of 5,000 symbols applies. The builder must not be used afterwards.
func (b *Builder) Map(tokens int) *Map {
	b.work.Wait()
	slices.SortFunc(b.files, func(x, y *file) int {
		return cmp.Or(cmp.Compare(strings.Count(x.path, "/"), strings.Count(y.path, "/")), cmp.Compare(x.path, y.path))
	})
	list := rank(b.files, b.names)
	b.findUsers(list[:min(len(list), withUsers)])
	shown, full := b.choose(list, tokens)
	m := &Map{Files: []File{}, Known: len(list), Sources: b.sources, Basic: len(b.basic) > 0, Skipped: b.skipped}
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
	slices.SortStableFunc(m.Files, func(x, y File) int {
		return cmp.Or(lastIf(x.aside, y.aside), cmp.Compare(y.weight, x.weight))
	})
	b.warn(m, full, tokens)
	return m
}

// choose selects, for the map, the most important symbols that fit, with their enclosing definitions. For each file it
// returns the symbols by index. full reports whether not all symbols fit.
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
		if extra := tokensOf(usersText(r.references, r.uses, r.users)); tokens <= 0 || used+cost+extra <= tokens {
			cost += extra
		} else {
			r.users = nil
		}
		if count+more > maxInMap || tokens > 0 && used+cost > tokens {
			return shown, true
		}
		if shown[r.file] == nil {
			shown[r.file] = map[int]ranked{}
		}
		for i := r.index; i >= 0; i = f.definitions[i].parent {
			if _, ok := shown[r.file][i]; !ok {
				shown[r.file][i] = ranked{aside: true}
			}
		}
		shown[r.file][r.index] = r
		count, used = count+more, used+cost
	}
	return shown, false
}

// show returns, for the map, the file with the chosen symbols, in the order of the text.
func (f *file) show(chosen map[int]ranked) File {
	out := File{Path: f.path, Language: f.language.name, Known: len(f.definitions), aside: true}
	children := map[int][]int{}
	for i, d := range f.definitions {
		if r, ok := chosen[i]; ok {
			children[d.parent] = append(children[d.parent], i)
			out.weight += r.weight
			out.aside = out.aside && r.aside
		}
	}
	var members func(parent int) []Symbol
	members = func(parent int) []Symbol {
		var list []Symbol
		for _, i := range children[parent] {
			d := f.definitions[i]
			r := chosen[i]
			list = append(list, Symbol{d.name, d.kind, d.line, d.signature, r.references, r.users, r.uses, members(i)})
		}
		return list
	}
	out.Symbols = members(-1)
	return out
}

const (
	withUsers = 40 // symbols whose users are named
	maxUsers  = 3  // users that are named of a symbol
)

// findUsers finds, for the map, who uses the symbols of list, and how often.
func (b *Builder) findUsers(list []ranked) {
	wanted := map[*count][]int{} // indexes in list
	for i, r := range list {
		f := b.files[r.file]
		if c := b.names[name{f.language.family, f.definitions[r.index].name}]; c != nil && r.references > 0 {
			wanted[c] = append(wanted[c], i)
		}
	}
	for i, f := range b.files {
		for _, u := range f.references {
			for _, j := range wanted[u.name] {
				r := &list[j]
				if r.file == i || u.way != usedAlone && b.files[r.file].definitions[r.index].owner == "" {
					continue
				}
				r.uses += int(u.n)
				if !f.aside {
					r.users = append(r.users, User{f.path, int(u.n)})
				}
			}
		}
	}
	for i := range list {
		r := &list[i]
		slices.SortStableFunc(r.users, func(x, y User) int { return cmp.Compare(y.Uses, x.Uses) })
		r.users = slices.Clone(r.users[:min(len(r.users), maxUsers)])
	}
}

// usersText says, in the map, who uses a symbol; empty if that is not known.
func usersText(files, uses int, users []User) string {
	if len(users) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  ← %d× in %d files: ", uses, files)
	if files == 1 {
		b.Reset()
		fmt.Fprintf(&b, "  ← %d× in ", uses)
	}
	for i, u := range users {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(u.Path)
		if files > 1 {
			fmt.Fprintf(&b, " %d×", u.Uses)
		}
	}
	if files > len(users) {
		b.WriteString(", …")
	}
	return b.String()
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

// tokensOf returns about how many tokens a text of the map has.
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

// Outline returns the symbols of a tree that has one file, as Text has them, without the file's name and warnings.
func (m *Map) Outline() string {
	var b strings.Builder
	for _, f := range m.Files {
		writeSymbols(&b, f.Symbols, "")
	}
	return b.String()
}

// writeSymbols writes symbols of the map, one to a line with its line number, members indented below.
func writeSymbols(b *strings.Builder, symbols []Symbol, indent string) {
	for _, s := range symbols {
		fmt.Fprintf(b, "%s%d: %s%s\n", indent, s.Line, s.Signature, usersText(s.References, s.Uses, s.Users))
		writeSymbols(b, s.Members, indent+"  ")
	}
}
