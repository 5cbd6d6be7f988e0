package knowledge

import (
	"fmt"
	"slices"
	"time"

	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/note"
)

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

// passageEnd returns the end that a passage's id names: of a passage of a note that is the note.
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
