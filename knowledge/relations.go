package knowledge

import (
	"fmt"
	"strings"

	"github.com/readthru/readthru/knowledge/note"

	"github.com/readthru/readthru/knowledge/index/query"
)

// Relate relates a passage to a note or to another passage: exactly one of r.Note and r.Other must be set. It replaces
// a relation of the same type between the two. A weight of 0 means 1. The error wraps store.ErrNotFound if one of them
// does not exist, or ErrInvalid.
func (k *Knowledge) Relate(r Relation) (Relation, error) { return k.notes.Relate(r, k.passageEnd) }

// Relations returns the relations that match a query. The error wraps ErrInvalid, or store.ErrNotFound if the passage
// does not exist.
func (k *Knowledge) Relations(q RelationQuery) ([]Relation, error) {
	q.Limit = bounded(q.Limit, 50)
	return k.notes.Relations(q, k.passageEnd)
}

// passageEnd returns the end of a relation that a passage's id names: of a passage of a note that is the note.
func (k *Knowledge) passageEnd(id string) (note.End, error) {
	key, hash, err := k.resolve(id)
	if err != nil {
		return "", fmt.Errorf("passage %.40s: %w", id, err)
	}
	if e, ok := note.In(key); ok {
		return e, nil
	}
	return note.PassageEnd(key, [4]byte(hash[:4])), nil
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
