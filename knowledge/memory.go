package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/statement"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A note is a document, too: it is indexed and searched with the rest, its passages have subjects, and it names the
// pages that it is about. Its key is made of its id, the part that is random first, so that either tells the other.

// KindNote is the kind of a document that is a note.
const KindNote = "note"

// noteMark ends the keys of notes. No hash that is a page's key ends so.
const noteMark = "\x00readthru's note"

// notedPrefix begins k/nu/<url16><id16>: the note is about the page with this URL.
const notedPrefix = "k/nu/"

const (
	maxNotePages    = 20 // that a note is about
	maxNoteSubjects = statement.MaxItems
	noteURL         = "note:" // before an id, where a page has its URL
)

// noteKey returns the key of a note as a document.
func noteKey(e end) (k page.Key) {
	copy(k[:], e[9:])
	copy(k[8:], e[1:9])
	copy(k[16:], noteMark)
	return k
}

// noteIn returns the note whose key as a document this is.
func noteIn(k page.Key) (e end, ok bool) {
	if string(k[16:]) != noteMark {
		return "", false
	}
	return "n" + end(k[8:16]) + end(k[:8]), true
}

func notedKey(normalisedURL string) string {
	sum := sha256.Sum256([]byte(normalisedURL))
	return notedPrefix + string(sum[:16])
}

// document returns a note as a document.
func (n *Note) document(key page.Key) *Document {
	return &Document{
		Key: key, URL: noteURL + n.ID, Title: n.title(), Kind: KindNote, FetchedAt: n.CreatedAt, Subjects: n.Subjects,
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
			return fmt.Errorf("page of a note: %w: %w", err, ErrInvalid)
		}
		if page.HasSecret(u) {
			return fmt.Errorf("page of a note: its URL carries a credential: %w", ErrInvalid)
		}
		if normal := page.Normalize(u); !slices.Contains(pages, normal) {
			pages = append(pages, normal)
		}
	}
	if len(pages) > maxNotePages {
		return fmt.Errorf("note about %d pages, at most %d allowed: %w", len(pages), maxNotePages, ErrInvalid)
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
		return fmt.Errorf("note with %d subjects, at most %d allowed: %w", len(n.Subjects), maxNoteSubjects, ErrInvalid)
	}
	var subjects statement.List
	for _, s := range n.Subjects {
		subjects.Add(s)
	}
	n.Subjects = subjects.Items
	return nil
}

// about calls f for the notes about a page, oldest first, from an id on, until f returns false.
func (s *notes) about(normalisedURL, from string, f func(e end) bool) {
	prefix := notedKey(normalisedURL)
	s.records.Keys(prefix, prefix+from, func(key string) bool { return f("n" + end(key[len(prefix):])) })
}

// isAbout reports whether a note is about a page.
func (s *notes) isAbout(e end, normalisedURL string) bool {
	_, err := s.records.Get(notedKey(normalisedURL) + string(e[1:]))
	return err == nil
}

// noteDocument returns a note as a document. The error is store.ErrNotFound.
func (k *Knowledge) noteDocument(key page.Key) (*Document, error) {
	e, ok := noteIn(key)
	if !ok {
		return nil, store.ErrNotFound
	}
	n, err := k.notes.note(e)
	if err != nil {
		return nil, err
	}
	return n.document(key), nil
}

// noteNamed finds a note by its id, its URL or its doc id. The error is store.ErrNotFound.
func (k *Knowledge) noteNamed(ref string) (*Document, error) {
	if e, err := noteEnd(strings.TrimPrefix(ref, noteURL)); err == nil {
		return k.noteDocument(noteKey(e))
	}
	doc, err := hex.DecodeString(strings.ToLower(ref))
	if err != nil || len(doc) != 8 {
		return nil, store.ErrNotFound
	}
	var found *Document
	k.records.Keys(index.ArticlePrefix+string(doc), "", func(at string) bool {
		if key, ok := archive.KeyIn(at, index.ArticlePrefix); ok {
			found, _ = k.noteDocument(key)
		}
		return found == nil
	})
	if found == nil {
		return nil, store.ErrNotFound
	}
	return found, nil
}

// maxHitNotes is how many notes a hit names.
const maxHitNotes = 10

// connect says of hits which notes are about them, of notes which pages they are about, and of hits that have the words
// of the query in no other place which statement has them.
func (k *Knowledge) connect(hits []Hit, text string) {
	parsed := query.Parse(text)
	for i := range hits {
		h := &hits[i]
		if len(h.Highlights) == 0 {
			h.Statement = k.statementWith(h.Passage, &parsed)
		}
		if h.Kind == KindNote {
			if e, err := noteEnd(strings.TrimPrefix(h.URL, noteURL)); err == nil {
				if n, err := k.notes.note(e); err == nil {
					h.Pages = n.Pages
				}
			}
			continue
		}
		k.notes.about(h.URL, "", func(e end) bool {
			h.Notes = append(h.Notes, e.id())
			return len(h.Notes) < maxHitNotes
		})
	}
}
