package knowledge

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/archive"
)

// AddNote stores a note, has it indexed, and sets its ID, Doc and CreatedAt. The error wraps ErrInvalid or
// store.ErrFull.
func (k *Knowledge) AddNote(n Note) (Note, error) {
	n.Text, n.Label, n.Metadata = k.Clean(n.Text), k.cleanLine(n.Label), archive.CleanMetadata(n.Metadata, k.cleaner)
	if err := k.notes.add(&n, time.Now()); err != nil {
		return Note{}, fmt.Errorf("add note: %w", err)
	}
	k.notify()
	return n, nil
}

// Note returns a note. The error wraps store.ErrNotFound, or ErrInvalid for a malformed id.
func (k *Knowledge) Note(id string) (Note, error) {
	e, err := noteEnd(id)
	if err != nil {
		return Note{}, err
	}
	n, err := k.notes.note(e)
	if err != nil {
		return Note{}, fmt.Errorf("note %s: %w", id, err)
	}
	k.withSubjects(n, e)
	return *n, nil
}

// Notes returns the notes that a query selects, oldest first, and a cursor for the next call, empty after the last
// note. The error wraps ErrInvalid.
func (k *Knowledge) Notes(q NoteQuery) (list []Note, next string, err error) {
	var from end
	if q.Cursor != "" {
		if from, err = noteEnd(q.Cursor); err != nil {
			return nil, "", err
		}
		from = from[1:]
	}
	list, limit := []Note{}, bounded(q.Limit, 50)
	take := func(e end) bool {
		if len(list) == limit {
			next = e.id()
			return false
		}
		if n, err := k.notes.note(e); err == nil {
			k.withSubjects(n, e)
			list = append(list, *n)
		}
		return true
	}
	switch {
	case q.Subject != "":
		for _, e := range k.notesOn(q.Subject) {
			if e[1:] < from || q.URL != "" && !k.notes.isAbout(e, normalURL(q.URL)) {
				continue
			}
			if !take(e) {
				break
			}
		}
	case q.URL != "":
		k.notes.about(normalURL(q.URL), string(from), take)
	default:
		k.notes.all(string(from), take)
	}
	return list, next, nil
}

// notesOn returns the notes that have a passage about a subject, oldest first.
func (k *Knowledge) notesOn(subject string) (list []end) {
	annotation.Lookup(k.records, annotation.SubjectLookup(subject), "", func(p annotation.Passage) bool {
		if e, ok := noteIn(p.Page); ok {
			list = append(list, e)
		}
		return true
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// DeleteNote deletes a note and its relations. It reports whether the note existed.
func (k *Knowledge) DeleteNote(id string) (bool, error) {
	e, err := noteEnd(id)
	if err != nil {
		return false, err
	}
	defer k.notify()
	return k.notes.delete(e)
}

// Relate relates a passage to a note or to another passage: exactly one of r.Note and r.Other must be set. It replaces
// a relation of the same type between the two. A weight of 0 means 1. The error wraps store.ErrNotFound if one of them
// does not exist, or ErrInvalid.
func (k *Knowledge) Relate(r Relation) (Relation, error) {
	switch {
	case (r.Note == "") == (r.Other == ""):
		return r, fmt.Errorf("relate: name either a note or another passage: %w", ErrInvalid)
	case !isRelationType(r.Type):
		return r, fmt.Errorf("relate: type %.80q: use lower-case letters, digits, _ and -: %w", r.Type, ErrInvalid)
	case math.IsNaN(r.Weight) || math.IsInf(r.Weight, 0):
		return r, fmt.Errorf("relate: weight %v: %w", r.Weight, ErrInvalid)
	case r.Weight == 0:
		r.Weight = 1
	}
	r.CreatedAt = time.Now().UTC()
	k.notes.mu.Lock()
	defer k.notes.mu.Unlock()
	t := tie{kind: r.Type}
	var err error
	if t.from, err = k.passageEnd(r.Passage); err != nil {
		return r, fmt.Errorf("relate: %w", err)
	}
	if r.Note != "" {
		if t.to, err = noteEnd(r.Note); err == nil {
			_, err = k.notes.note(t.to)
		}
	} else {
		t.to, err = k.passageEnd(r.Other)
	}
	if err != nil {
		return r, fmt.Errorf("relate to %.40s%.40s: %w", r.Note, r.Other, err)
	}
	if t.from[0] == 'n' { // a passage of a note stands for the note
		t.from, t.to = t.to, t.from
	}
	switch {
	case t.from == t.to:
		return r, fmt.Errorf("relate a passage to itself: %w", ErrInvalid)
	case t.from[0] == 'n':
		return r, fmt.Errorf("relate a note to a note: %w", ErrInvalid)
	}
	r.Passage, r.Note, r.Other = t.from.id(), "", ""
	r.name(t.to)
	return r, k.notes.relate(t, tieRecord{Weight: r.Weight, Time: r.CreatedAt})
}

// Relations returns the relations that match a query. The error wraps ErrInvalid, or store.ErrNotFound if the passage
// does not exist.
func (k *Knowledge) Relations(q RelationQuery) ([]Relation, error) {
	if q.Passage == "" && q.Note == "" && q.Type == "" {
		return nil, fmt.Errorf("relations: name a passage, a note or a type: %w", ErrInvalid)
	}
	var passage, note end
	var err error
	if q.Passage != "" {
		if passage, err = k.passageEnd(q.Passage); err != nil {
			return nil, fmt.Errorf("relations: %w", err)
		}
	}
	if q.Note != "" {
		if note, err = noteEnd(q.Note); err != nil {
			return nil, fmt.Errorf("relations: %w", err)
		}
	}
	from := note // a note has fewer as a rule
	if from == "" {
		from = passage
	}
	list := []Relation{}
	k.notes.relations(from, q.Type, func(t tie, r tieRecord) bool {
		if passage != "" && t.from != passage && t.to != passage {
			return true
		}
		found := Relation{Passage: t.from.id(), Type: t.kind, Weight: r.Weight, CreatedAt: r.Time}
		found.name(t.to)
		list = append(list, found)
		return len(list) < bounded(q.Limit, 50)
	})
	return list, nil
}

// name sets the end that is not r.Passage.
func (r *Relation) name(e end) {
	if e[0] == 'n' {
		r.Note = e.id()
	} else {
		r.Other = e.id()
	}
}

// passageEnd returns the end that a passage's id names: of a passage of a note that is the note.
func (k *Knowledge) passageEnd(id string) (end, error) {
	key, hash, err := k.resolve(id)
	if err != nil {
		return "", fmt.Errorf("passage %.40s: %w", id, err)
	}
	if e, ok := noteIn(key); ok {
		return e, nil
	}
	return passageEnd(key, [4]byte(hash[:4])), nil
}
