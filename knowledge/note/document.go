package note

import (
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/statement"
	"github.com/readthru/readthru/page"
)

// A note is a document, too: it is indexed and searched with the rest, its passages have subjects, and it names the
// pages that it is about. Its key is made of its id, the part that is random first, so that either tells the other.

// Kind is the kind of a document that is a note.
const Kind = "note"

// noteMark ends the keys of notes. No hash that is a page's key ends so.
const noteMark = "\x00readthru's note"

// notedPrefix begins k/nu/<url16><id16>: the note is about the page with this URL.
const notedPrefix = "k/nu/"

// Scheme precedes the id of a note where a page has its URL.
const Scheme = "note:"

const (
	maxNotePages    = 20 // that a note is about
	maxNoteSubjects = statement.MaxItems
)

// KeyOf returns the key of a note as a document.
func KeyOf(e End) (k page.Key) {
	copy(k[:], e[9:])
	copy(k[8:], e[1:9])
	copy(k[16:], noteMark)
	return k
}

// In returns the note whose key as a document this is.
func In(k page.Key) (e End, ok bool) {
	if string(k[16:]) != noteMark {
		return "", false
	}
	return "n" + End(k[8:16]) + End(k[:8]), true
}

// Document returns a note as a document.
func (n *Note) Document(key page.Key) *index.Document {
	return &index.Document{
		Key: key, URL: Scheme + n.ID, Title: n.title(), Kind: Kind, FetchedAt: n.CreatedAt, Subjects: n.Subjects,
		Markdown: []byte(n.Text),
	}
}

// title is what a note goes by: its label, or how it begins.
func (n *Note) title() string {
	if n.Label != "" {
		return n.Label
	}
	for line := range strings.Lines(n.Text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "#>*- \t")); line != "" {
			return clip.Runes(line, 80)
		}
	}
	return ""
}
