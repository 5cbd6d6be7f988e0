package index

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/index/rank"
	"github.com/readthru/readthru/page"
)

// Hit is a document with its best passage.
type Hit struct {
	Doc   string `json:"doc"`
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	Kind  string `json:"kind"` // of the document: a page.Type, or file, text or note
	// Heading is what the snippet stands under: headings, and the term that is defined, joined by " › ".
	Heading string `json:"heading,omitempty"`
	Link    string `json:"link,omitempty"` // the URL with the fragment that leads there; empty if none is known
	Passage string `json:"passage"`        // the doc and the first 8 hex digits of the passage's hash
	Snippet string `json:"snippet"`
	// Highlights are the words of the query in the snippet: where each begins and ends, in code points.
	Highlights [][2]int `json:"highlights,omitempty"`
	// Statement is what a model said of the passage, if words of the query stand there and not in the passage.
	Statement string        `json:"statement,omitempty"`
	Score     float64       `json:"score"`
	FetchedAt time.Time     `json:"fetched_at,omitzero"`
	Also      []string      `json:"also,omitempty"`     // other URLs with the same passage, or nearly the same page
	Notes     []string      `json:"notes,omitempty"`    // ids of notes about the page, at most 10
	Pages     []string      `json:"pages,omitempty"`    // of a note: the pages it is about
	Metadata  page.Metadata `json:"metadata,omitempty"` // of an ingested text
	Explain   []Term        `json:"explain,omitempty"`
}

// Term is a part of a hit's score.
type Term = rank.Term

// Results are the hits of a query, best first.
type Results struct {
	Hits      []Hit              `json:"results"`
	Corrected []query.Correction `json:"corrected,omitempty"` // words of the query that were looked for in another form
	Unknown   []string           `json:"unknown,omitempty"`   // words of the query that no page has
	Degraded  bool               `json:"degraded,omitempty"`  // a model was wanted and was of no use: ranked without it
	Reason    string             `json:"degraded_reason,omitempty"`
}

// Notes returns what to say about a query and its documents beside its hits: which words were looked for in another
// form and how to prevent that, and which no page has. Each is a sentence that begins with a small letter, without a
// full stop.
func (r *Results) Notes() (notes []string) {
	for _, c := range r.Corrected {
		notes = append(notes, c.String())
	}
	if len(notes) > 0 {
		notes = append(notes, "words in quotation marks are searched for as they are")
	}
	if last := len(r.Unknown) - 1; last >= 0 {
		words := fmt.Sprintf("%q", r.Unknown[last])
		if last > 0 {
			words = `"` + strings.Join(r.Unknown[:last], `", "`) + `" or ` + words
		}
		notes = append(notes, "no page has "+words)
	}
	return notes
}

// AsTyped returns the text of a query with the words that were looked for in another form in quotation marks, so that
// they are looked for as they are.
func (r *Results) AsTyped(text string) string {
	type word struct {
		said       string
		start, end int // of the word, or of the identifier that it is a part of
	}
	var words []word
	analysis.Tokenise(text, func(t analysis.Token) {
		w := word{string(t.Surface), t.Start, t.End}
		if n := len(words); t.Part && n > 0 {
			w.start, w.end = words[n-1].start, words[n-1].end
		}
		words = append(words, w)
	})
	var typed strings.Builder
	at := 0
	for i, w := range words {
		next := words[min(i+1, len(words)-1)]
		switch {
		case w.start < at:
			continue // it is quoted already
		case r.corrected(w.said + " " + next.said):
			w.end = next.end
		case !r.corrected(w.said):
			continue
		}
		typed.WriteString(text[at:w.start] + `"` + text[w.start:w.end] + `"`)
		at = w.end
	}
	return typed.String() + text[at:]
}

// corrected reports whether words of the query were looked for, in the documents, in another form.
func (r *Results) corrected(words string) bool {
	return slices.ContainsFunc(r.Corrected, func(c query.Correction) bool { return c.From == words })
}

// degrade notes that something took no part in the search, and why.
func (r *Results) degrade(how string, why error) {
	if r.Degraded {
		r.Reason += "; "
	}
	r.Degraded = true
	r.Reason += how + ": " + why.Error()
}
