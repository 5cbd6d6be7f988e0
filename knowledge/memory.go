package knowledge

import (
	"encoding/hex"
	"strings"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/note"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// noteDocument returns a note of an agent as a document that can be indexed and read. The error is store.ErrNotFound.
func (k *Knowledge) noteDocument(key page.Key) (*Document, error) {
	e, ok := note.In(key)
	if !ok {
		return nil, store.ErrNotFound
	}
	n, err := k.notes.Get(e)
	if err != nil {
		return nil, err
	}
	return n.Document(key), nil
}

// noteNamed finds a note by its id, its URL or its doc id. The error is store.ErrNotFound.
func (k *Knowledge) noteNamed(ref string) (*Document, error) {
	if e, err := note.EndOf(strings.TrimPrefix(ref, note.Scheme)); err == nil {
		return k.noteDocument(note.KeyOf(e))
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

// connect adds to the hits of a search what is known about them: of pages, which notes are about them; of notes, which
// pages they are about; and of hits whose words are in no text that is shown, which statement about the passage has
// them.
func (k *Knowledge) connect(hits []Hit, text string) {
	parsed := query.Parse(text)
	for i := range hits {
		h := &hits[i]
		if len(h.Highlights) == 0 {
			h.Statement = k.statementWith(h.Passage, &parsed)
		}
		if h.Kind == KindNote {
			if e, err := note.EndOf(strings.TrimPrefix(h.URL, note.Scheme)); err == nil {
				if n, err := k.notes.Get(e); err == nil {
					h.Pages = n.Pages
				}
			}
			continue
		}
		k.notes.About(h.URL, "", func(e note.End) bool {
			h.Notes = append(h.Notes, e.ID())
			return len(h.Notes) < maxHitNotes
		})
	}
}
