package knowledge

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/note"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"

	"github.com/readthru/readthru/knowledge/annotation"
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

// AddNote stores a note, has it indexed, and sets its ID, Doc and CreatedAt. The error wraps ErrInvalid or
// store.ErrFull.
func (k *Knowledge) AddNote(n Note) (Note, error) {
	n.Text, n.Label, n.Metadata = k.Clean(n.Text), k.cleanLine(n.Label), archive.CleanMetadata(n.Metadata, k.cleaner)
	if err := k.notes.Add(&n, time.Now()); err != nil {
		return Note{}, fmt.Errorf("add note: %w", err)
	}
	k.notify()
	return n, nil
}

// Note returns a note. The error wraps store.ErrNotFound, or ErrInvalid for a malformed id.
func (k *Knowledge) Note(id string) (Note, error) {
	e, err := note.EndOf(id)
	if err != nil {
		return Note{}, err
	}
	n, err := k.notes.Get(e)
	if err != nil {
		return Note{}, fmt.Errorf("note %s: %w", id, err)
	}
	k.withSubjects(n, e)
	return *n, nil
}

// Notes returns the notes that a query selects, oldest first, and a cursor for the next call, empty after the last
// note. The error wraps ErrInvalid.
func (k *Knowledge) Notes(q NoteQuery) (list []Note, next string, err error) {
	var from note.End
	if q.Cursor != "" {
		if from, err = note.EndOf(q.Cursor); err != nil {
			return nil, "", err
		}
		from = from[1:]
	}
	list, limit := []Note{}, bounded(q.Limit, 50)
	take := func(e note.End) bool {
		if len(list) == limit {
			next = e.ID()
			return false
		}
		if n, err := k.notes.Get(e); err == nil {
			k.withSubjects(n, e)
			list = append(list, *n)
		}
		return true
	}
	switch {
	case q.Subject != "":
		for _, e := range k.notesOn(q.Subject) {
			if e[1:] < from || q.URL != "" && !k.notes.IsAbout(e, normalURL(q.URL)) {
				continue
			}
			if !take(e) {
				break
			}
		}
	case q.URL != "":
		k.notes.About(normalURL(q.URL), string(from), take)
	default:
		k.notes.All(string(from), take)
	}
	return list, next, nil
}

// notesOn returns the notes that have a passage about a subject, oldest first.
func (k *Knowledge) notesOn(subject string) (list []note.End) {
	annotation.Lookup(k.records, annotation.SubjectLookup(subject), "", func(p annotation.Passage) bool {
		if e, ok := note.In(p.Page); ok {
			list = append(list, e)
		}
		return true
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// DeleteNote deletes a note and its relations. It reports whether the note existed.
func (k *Knowledge) DeleteNote(id string) (bool, error) {
	e, err := note.EndOf(id)
	if err != nil {
		return false, err
	}
	defer k.notify()
	return k.notes.Delete(e)
}
