package summary

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/readthru/readthru/page"
)

// Kind is a kind of summary (rule B20), as named by summary_type.
type Kind string

// The kinds. Auto stands for the one that suits the page.
const (
	Auto         Kind = "auto"
	Brief        Kind = "brief"        // two or three paragraphs
	Usage        Kind = "usage"        // installation, patterns, key imports
	API          Kind = "api"          // classes, functions, signatures
	Architecture Kind = "architecture" // modules, design, data flow
	Evaluation   Kind = "evaluation"   // maturity, dependencies, alternatives
)

// Parse returns the kind with a name. Its error lists the valid names.
func Parse(name string) (Kind, error) {
	switch k := Kind(name); k {
	case Auto, Brief, Usage, API, Architecture, Evaluation:
		return k, nil
	}
	return "", fmt.Errorf("summary %q is not auto, brief, usage, api, architecture or evaluation", name)
}

// hints are words of a hint and the kind they ask for; the first match in this order counts (rule B22).
var hints = []struct {
	words string
	kind  Kind
}{
	{" how to ", Usage},
	{" api ", API},
	{" architecture ", Architecture},
	{" compare ", Evaluation},
	{" evaluate ", Evaluation},
}

// Choose returns the kind of summary for a page: the kind that the words of hint ask for (rule B22: whole words,
// ignoring case), else the kind that suits the page (rule B21).
func Choose(p *page.Page, hint string) Kind {
	said := " " + strings.Join(wordsOf(strings.ToLower(hint)), " ") + " "
	for _, h := range hints {
		if strings.Contains(said, h.words) {
			return h.kind
		}
	}
	switch {
	case p.Type.IsRepository() && p.SymbolMap != "", p.GitHub != nil && p.Type == page.Web && p.SymbolMap != "":
		return Architecture
	case p.Type == page.Documentation:
		return Usage
	}
	return Brief
}

// wordsOf returns the words of a hint, by which a kind is chosen: the runs of letters, digits and underscores in s.
func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)
	})
}
