package note

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/statement"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
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

// notedKey begins the keys of the notes about a page.
func notedKey(normalisedURL string) string {
	sum := sha256.Sum256([]byte(normalisedURL))
	return notedPrefix + string(sum[:16])
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

// link brings the pages and subjects that a note names into order, and adds the pages that its text names.
func (n *Note) link() error {
	var pages []string
	for _, raw := range n.Pages {
		u, err := page.Parse(raw)
		if err != nil {
			return fmt.Errorf("page of a note: %w: %w", err, archive.ErrInvalid)
		}
		if page.HasSecret(u) {
			return fmt.Errorf("page of a note: its URL carries a credential: %w", archive.ErrInvalid)
		}
		if normal := page.Normalize(u); !slices.Contains(pages, normal) {
			pages = append(pages, normal)
		}
	}
	if len(pages) > maxNotePages {
		return fmt.Errorf("note about %d pages, at most %d allowed: %w", len(pages), maxNotePages, archive.ErrInvalid)
	}
	for _, d := range page.Detect(n.Text) {
		u, err := page.Parse(d.URL)
		if err != nil || page.HasSecret(u) || len(pages) == maxNotePages {
			continue
		}
		if normal := page.Normalize(u); !slices.Contains(pages, normal) {
			pages = append(pages, normal)
		}
	}
	n.Pages = pages
	if len(n.Subjects) > maxNoteSubjects {
		return fmt.Errorf("note with %d subjects, at most %d allowed: %w", len(n.Subjects), maxNoteSubjects,
			archive.ErrInvalid)
	}
	var subjects statement.List
	for _, s := range n.Subjects {
		subjects.Add(s)
	}
	n.Subjects = subjects.Items
	return nil
}

// About calls f for the notes about a page, oldest first, from an id on, until f returns false.
func (s *Store) About(normalisedURL, from string, f func(e End) bool) {
	prefix := notedKey(normalisedURL)
	s.records.Keys(prefix, prefix+from, func(key string) bool { return f("n" + End(key[len(prefix):])) })
}

// IsAbout reports whether a note is about a page.
func (s *Store) IsAbout(e End, normalisedURL string) bool {
	_, err := s.records.Get(notedKey(normalisedURL) + string(e[1:]))
	return err == nil
}

// RemoveSecrets takes secret URLs off the pages that notes are about. What a note itself says stays.
func (s *Store) RemoveSecrets() (err error) {
	s.records.Walk(Prefix, "", func(key string, value []byte) bool {
		var n Note
		if json.Unmarshal(value, &n) != nil || !slices.ContainsFunc(n.Pages, page.HasSecretString) {
			return true
		}
		var changes []store.Change
		for _, u := range n.Pages {
			if page.HasSecretString(u) {
				changes = append(changes, store.Change{Key: notedKey(u) + key[len(Prefix):], Gone: true})
			}
		}
		n.Pages = slices.DeleteFunc(n.Pages, page.HasSecretString)
		if value, err = json.Marshal(n); err == nil {
			err = s.records.Apply(append(changes, store.Change{Key: key, Value: value})...)
		}
		return err == nil
	})
	return err
}
