package outline

import (
	"bytes"
	"slices"
	"strings"

	"github.com/readthru/readthru/knowledge/analysis"
)

// Qualified writes a name that may be defined with one sign between its parts, whatever the language writes there.
func Qualified(name string) string {
	if !strings.ContainsAny(name, ":#>") {
		return name
	}
	return strings.Trim(strings.NewReplacer("::", ".", "->", ".", "#", ".").Replace(name), ".:")
}

// Definition is where a text defines what a query names.
type Definition struct {
	Landmark int  // -1: nowhere
	Term     int  // which of the landmark's terms it is
	Exact    bool // the name is the whole one, or lacks only qualifiers
}

// DefinitionOf returns which landmark's name it is that a query names, whole or but for the qualifiers in front of it:
// of several the first of those that are written most like it.
func DefinitionOf(list []Landmark, names []string) Definition {
	found, most := Definition{Landmark: -1}, 0
	for _, name := range names {
		for i := range list {
			for j, line := range list[i].lines {
				if isReference(line) {
					continue
				}
				if n := alike(TitleText(line), name, list[i].level == 0); n > most {
					found, most = Definition{i, j, n > qualifiedLess}, n
				}
			}
		}
		if most > 0 {
			break
		}
	}
	return found
}

// isReference reports whether a term leads to where it is defined, as those of an index do.
func isReference(line []byte) bool {
	line = bytes.TrimLeft(line, " >-*")
	return bytes.HasPrefix(line, []byte("[")) || bytes.Contains(line, []byte(", ["))
}

// How much names are alike.
const (
	qualifiedLess = 1 + iota // what is defined lacks qualifiers that the query has
	qualifiedMore
	otherCase
	sameName
)

// alike returns how much the name that the title of a definition begins with is like another; 0 if it is another name.
// A title may give several, as "-n, --lines=<count>" does.
func alike(title, name string, term bool) (most int) {
	for one := range strings.SplitSeq(title, ", ") {
		defined := leading(one, term)
		n := 0
		switch {
		case defined == name:
			n = sameName
		case strings.EqualFold(defined, name):
			n = otherCase
		case endsIn(defined, name):
			n = qualifiedMore
		case endsIn(name, defined):
			n = qualifiedLess
		}
		most = max(most, n)
	}
	return most
}

// endsIn reports whether a name is another with qualifiers in front of it.
func endsIn(long, short string) bool {
	rest, ok := strings.CutSuffix(long, short)
	return ok && len(short) > 1 && strings.HasSuffix(rest, ".")
}

// leading returns the name whose signature a title is; empty if it is none. Words that say what is defined may stand in
// front of it, and, before the name of a call in a list of definitions, a type.
func leading(title string, term bool) string {
	title = strings.ReplaceAll(title, "[no-]", "")
	if call, _, ok := strings.Cut(title, "("); ok && term && !strings.HasPrefix(title, "-") {
		if i := strings.LastIndexAny(call, " *&@"); i+1 < len(call) {
			return Qualified(call[i+1:])
		}
	}
	words := strings.Fields(title)
	for i, word := range words {
		if kinds[strings.TrimSuffix(word, ":")] {
			continue
		}
		word = strings.TrimLeft(word, "@")
		if end := strings.IndexAny(word, "([{=<|:"); end > 0 && !strings.HasPrefix(word[end:], "::") {
			word = word[:end] // and a signature follows
		} else if i+1 < len(words) && !strings.HasPrefix(word, "-") && !strings.ContainsAny(words[i+1][:1], "([{=<|") {
			return "" // a sentence
		}
		return Qualified(word)
	}
	return ""
}

// kinds are words that stand in front of what is defined.
var kinds = analysis.WordSet("class Class async exception classmethod staticmethod static abstractmethod abstract " +
	"property new Event function Function func def method Method const var let interface type enum struct fn pub export " +
	"default final public option Option command Command macro module Module coroutine awaitable decorator")

// MayDefine reports whether a text has one of the names in it, without their qualifiers.
func MayDefine(md []byte, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return bytes.Contains(md, []byte(name[strings.LastIndexByte(name, '.')+1:]))
	})
}
