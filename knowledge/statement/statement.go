// Package statement says what a passage says: its subjects, problems and resolutions, in lists of short items.
//
// [Local] makes statements without a model, from names, headings and code (keywords.go); [Normalise] asks a model for
// them (normalise.go). Whatever a model says is tidied before it is kept: [Statement.Tidy].
package statement

import (
	"strings"
	"unicode"

	"github.com/readthru/readthru/internal/clip"
)

// Statement is one thing that a passage says (rule D2). Its lists are never nil.
type Statement struct {
	NormalizedText string   `json:"normalized_text"` // the statement in words of its own; empty when no model made it
	Frame          string   `json:"frame"`           // upper case; CAUSAL unless a model says otherwise
	Domains        []string `json:"domains"`
	Entities       []string `json:"entities"`
	Problems       []string `json:"problems"`
	Resolutions    []string `json:"resolutions"`
	Contexts       []string `json:"contexts"`
	Confidence     float64  `json:"confidence"` // 0 to 1: a model's own, or .3 without one
}

// MaxItems is how many items a list of a statement has at most.
const MaxItems = 12

const (
	defaultFrame    = "CAUSAL"
	localConfidence = .3

	maxStatements   = 8    // of a passage
	maxItemBytes    = 120  // of an item
	maxStatementLen = 2000 // bytes
)

// Tidy brings a model's statement into our form: within bounds, without repeats in its lists, with a single word as its
// frame.
func (s *Statement) Tidy() {
	s.NormalizedText = clip.Bytes(strings.Join(strings.Fields(printable(s.NormalizedText)), " "), maxStatementLen)
	if s.Frame = strings.ToUpper(strings.TrimSpace(s.Frame)); !isFrame(s.Frame) {
		s.Frame = defaultFrame
	}
	for _, list := range []*[]string{&s.Domains, &s.Entities, &s.Problems, &s.Resolutions, &s.Contexts} {
		var kept List
		for _, item := range *list {
			kept.Add(item)
		}
		*list = kept.items()
	}
	if !(s.Confidence >= 0 && s.Confidence <= 1) {
		s.Confidence = 1
	}
}

// isFrame reports whether a word may name a frame.
func isFrame(s string) bool {
	return s != "" && len(s) <= 32 && !strings.ContainsFunc(s,
		func(r rune) bool { return (r < 'A' || r > 'Z') && r != '_' })
}

// List gathers the items of a list: tidy, each once in any case, at most MaxItems.
type List struct {
	Items []string // as they were added
	seen  map[string]bool
}

// Add adds an item unless it is empty, too long, in the list already, or one too many.
func (l *List) Add(item string) {
	item = strings.Join(strings.Fields(printable(item)), " ")
	fold := strings.ToLower(item)
	if item == "" || len(item) > maxItemBytes || len(l.Items) == MaxItems || l.seen[fold] {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[fold] = true
	l.Items = append(l.Items, item)
}

// items returns the list, never nil.
func (l *List) items() []string { return append([]string{}, l.Items...) }

// printable returns the text of a statement without what nobody can see: control characters, and those that hide or
// turn text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
}

// Subjects returns what a passage is about: the domains and entities of its statements (rule D7).
func Subjects(statements []Statement) []string {
	var all []string
	seen := map[string]bool{}
	for i := range statements {
		for _, list := range [][]string{statements[i].Domains, statements[i].Entities} {
			for _, item := range list {
				if fold := FoldSubject(item); fold != "" && !seen[fold] {
					seen[fold] = true
					all = append(all, item)
				}
			}
		}
	}
	return all
}

// FoldSubject returns a subject as it stands in keys: two that differ in case or white space are one.
func FoldSubject(subject string) string {
	return clip.Bytes(strings.ToLower(strings.Join(strings.Fields(printable(subject)), " ")), maxItemBytes)
}
