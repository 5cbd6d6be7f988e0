package archive

import (
	"strings"

	"golang.org/x/net/html"
)

// The limits of what is kept of texts that a file hides. They reach no reader: they are counted, and some are shown in
// the report.
const (
	maxUnseen     = 200
	maxUnseenText = 4 << 10 // bytes
)

// Unseen is a text that a file hides, in the making: a sheet, a slide, rows that stand together.
type Unseen struct{ text strings.Builder }

// Add appends HTML, as a text that stands apart from what is there.
func (u *Unseen) Add(fragment string) {
	tokens := html.NewTokenizer(strings.NewReader(fragment))
	for u.text.Len() < maxUnseenText {
		switch tokens.Next() {
		case html.ErrorToken:
			u.text.WriteByte(' ')
			return
		case html.TextToken:
			text := string(tokens.Text())
			u.text.WriteString(text[:min(len(text), maxUnseenText)])
		default:
			u.text.WriteByte(' ')
		}
	}
}

// Hide notes a text that the file hides, unless it is blank, and makes u empty.
func (d *Document) Hide(u *Unseen) {
	text := strings.ToValidUTF8(strings.TrimSpace(u.text.String()), "")
	if u.text.Reset(); text != "" && len(d.Unseen) < maxUnseen {
		d.Unseen = append(d.Unseen, text)
	}
}
