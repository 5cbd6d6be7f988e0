package knowledge

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

const (
	defaultFrame    = "CAUSAL"
	localConfidence = .3

	maxStatements   = 8    // of a passage
	maxItems        = 12   // of a list
	maxItemBytes    = 120  // of an item
	maxStatementLen = 2000 // bytes
)

// tidy brings a model's statement into our form: within bounds, without repeats in its lists, with a single word as its
// frame.
func (s *Statement) tidy() {
	s.NormalizedText = clip.Bytes(strings.Join(strings.Fields(printable(s.NormalizedText)), " "), maxStatementLen)
	if s.Frame = strings.ToUpper(strings.TrimSpace(s.Frame)); !isFrame(s.Frame) {
		s.Frame = defaultFrame
	}
	for _, list := range []*[]string{&s.Domains, &s.Entities, &s.Problems, &s.Resolutions, &s.Contexts} {
		var kept itemList
		for _, item := range *list {
			kept.add(item)
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

// itemList gathers the items of a list: tidy, each once in any case, at most maxItems.
type itemList struct {
	list []string
	seen map[string]bool
}

func (l *itemList) add(item string) {
	item = strings.Join(strings.Fields(printable(item)), " ")
	fold := strings.ToLower(item)
	if item == "" || len(item) > maxItemBytes || len(l.list) == maxItems || l.seen[fold] {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[fold] = true
	l.list = append(l.list, item)
}

// items returns the list, never nil.
func (l *itemList) items() []string { return append([]string{}, l.list...) }

// printable returns text without what nobody can see: control characters, and those that hide or turn text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
}

// subjects returns what a passage is about: the domains and entities of its statements (rule D7).
func subjects(statements []Statement) []string {
	var all []string
	seen := map[string]bool{}
	for i := range statements {
		for _, list := range [][]string{statements[i].Domains, statements[i].Entities} {
			for _, item := range list {
				if fold := foldSubject(item); fold != "" && !seen[fold] {
					seen[fold] = true
					all = append(all, item)
				}
			}
		}
	}
	return all
}

// foldSubject returns a subject as it stands in keys: two that differ in case or white space are one.
func foldSubject(subject string) string {
	return clip.Bytes(strings.ToLower(strings.Join(strings.Fields(printable(subject)), " ")), maxItemBytes)
}
