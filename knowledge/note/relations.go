package note

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/readthru/readthru/knowledge/archive"
)

// passageNamed returns the end that a passage's id names: of a passage of a note that is the note.
type passageNamed func(id string) (End, error)

// Relate relates a passage to a note or to another passage: exactly one of r.Note and r.Other must be set. It replaces
// a relation of the same type between the two. A weight of 0 means 1. The error wraps store.ErrNotFound if one of them
// does not exist, or ErrInvalid.
func (s *Store) Relate(r Relation, named passageNamed) (Relation, error) {
	switch {
	case (r.Note == "") == (r.Other == ""):
		return r, fmt.Errorf("relate: name either a note or another passage: %w", archive.ErrInvalid)
	case !isRelationType(r.Type):
		return r, fmt.Errorf("relate: type %.80q: use lower-case letters, digits, _ and -: %w", r.Type, archive.ErrInvalid)
	case math.IsNaN(r.Weight) || math.IsInf(r.Weight, 0):
		return r, fmt.Errorf("relate: weight %v: %w", r.Weight, archive.ErrInvalid)
	case r.Weight == 0:
		r.Weight = 1
	}
	r.CreatedAt = time.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	t := tie{kind: r.Type}
	var err error
	if t.from, err = named(r.Passage); err != nil {
		return r, fmt.Errorf("relate: %w", err)
	}
	if r.Note != "" {
		if t.to, err = EndOf(r.Note); err == nil {
			_, err = s.Get(t.to)
		}
	} else {
		t.to, err = named(r.Other)
	}
	if err != nil {
		return r, fmt.Errorf("relate to %.40s%.40s: %w", r.Note, r.Other, err)
	}
	if t.from[0] == 'n' { // a passage of a note stands for the note
		t.from, t.to = t.to, t.from
	}
	switch {
	case t.from == t.to:
		return r, fmt.Errorf("relate a passage to itself: %w", archive.ErrInvalid)
	case t.from[0] == 'n':
		return r, fmt.Errorf("relate a note to a note: %w", archive.ErrInvalid)
	}
	r.Passage, r.Note, r.Other = t.from.ID(), "", ""
	r.name(t.to)
	return r, s.put(t, tieRecord{Weight: r.Weight, Time: r.CreatedAt})
}

// Relations returns the relations that match a query, at most as many as its limit. The error wraps ErrInvalid, or
// store.ErrNotFound if the passage does not exist.
func (s *Store) Relations(q RelationQuery, named passageNamed) ([]Relation, error) {
	if q.Passage == "" && q.Note == "" && q.Type == "" {
		return nil, fmt.Errorf("relations: name a passage, a note or a type: %w", archive.ErrInvalid)
	}
	var passage, note End
	var err error
	if q.Passage != "" {
		if passage, err = named(q.Passage); err != nil {
			return nil, fmt.Errorf("relations: %w", err)
		}
	}
	if q.Note != "" {
		if note, err = EndOf(q.Note); err != nil {
			return nil, fmt.Errorf("relations: %w", err)
		}
	}
	from := note // a note has fewer as a rule
	from = cmp.Or(from, passage)
	list := []Relation{}
	s.walk(from, q.Type, func(t tie, r tieRecord) bool {
		if passage != "" && t.from != passage && t.to != passage {
			return true
		}
		found := Relation{Passage: t.from.ID(), Type: t.kind, Weight: r.Weight, CreatedAt: r.Time}
		found.name(t.to)
		list = append(list, found)
		return len(list) < q.Limit
	})
	return list, nil
}

// name sets the end that is not r.Passage.
func (r *Relation) name(e End) {
	if e[0] == 'n' {
		r.Note = e.ID()
	} else {
		r.Other = e.ID()
	}
}
