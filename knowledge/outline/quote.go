package outline

import (
	"bytes"
	"errors"

	"github.com/readthru/readthru/internal/markdown"
)

// Quote is the place of a quote in a text, or the words most like it.
type Quote struct {
	Found    bool     `json:"found"`
	Path     []string `json:"path,omitempty"`    // the headings it stands under
	Start    int      `json:"start"`             // bytes of the markdown
	End      int      `json:"end"`               // likewise
	Line     int      `json:"line,omitempty"`    // from 1
	Count    int      `json:"count,omitempty"`   // how often it is there, at most 1000
	Nearest  string   `json:"nearest,omitempty"` // when it is not there: the text most like it, as plain text
	Likeness float64  `json:"likeness"`          // 1 when found, else the share of the quote's words that are in Nearest
}

const (
	maxQuote       = 10_000 // bytes
	maxOccurrences = 1000

	// minLikeness is the likeness under which nothing is shown: it would be chance.
	minLikeness = 0.3
)

// FindQuote finds a quote in a markdown text without front matter. It ignores white space, markup, the targets of
// links, and the kind of quotation marks, dashes, hyphens and ligatures; it compares everything else, including case.
// The error says that the quote is empty or longer than 10,000 bytes.
func FindQuote(md []byte, quote string) (Quote, error) {
	if len(quote) > maxQuote {
		return Quote{}, errors.New("quote longer than 10,000 bytes")
	}
	wanted := trimQuote(stripMarkup([]byte(quote)).text)
	if len(wanted) == 0 {
		return Quote{}, errors.New("quote has no text")
	}
	text := stripMarkup(md)
	if q, ok := text.find(wanted); ok {
		q.locate(md)
		return q, nil
	}
	q := text.nearest(wanted)
	if q.Nearest != "" {
		q.locate(md)
	}
	return q, nil
}

// locate fills in line and headings of where the quote begins.
func (q *Quote) locate(md []byte) {
	q.Line = 1 + bytes.Count(md[:q.Start], []byte("\n"))
	var stack headingStack
	for b := range markdown.Blocks(md[:q.Start]) {
		if b.Kind == markdown.Heading {
			stack.push(b.Level, TitleText(b.Title(md)))
		}
	}
	q.Path = stack.path()
}
