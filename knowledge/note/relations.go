package note

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
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

// Relation says how a passage is related to a note, or to another passage. There is one of a type between two.
type Relation struct {
	Passage   string    `json:"passage"`         // its id, as in Hit.Passage
	Note      string    `json:"note,omitempty"`  // the id of the note it is related to
	Other     string    `json:"other,omitempty"` // or of the passage
	Type      string    `json:"type"`            // lower-case letters, digits and _-, at most 64
	Weight    float64   `json:"weight"`          // 1 unless said otherwise
	CreatedAt time.Time `json:"created_at"`
}

// RelationQuery selects relations: at least one of the first three is given, and all that are given hold.
type RelationQuery struct {
	Passage string // either end
	Note    string
	Type    string
	Limit   int // 0: 50; at most 1000
}

// End is one end of a relation.
type End string

// EndOf returns the end that a note's id names. The error wraps ErrInvalid.
func EndOf(id string) (End, error) {
	b, err := hex.DecodeString(id)
	if err != nil || len(b) != 16 {
		return "", fmt.Errorf("note id %.40q: want 32 hex digits: %w", id, archive.ErrInvalid)
	}
	return "n" + End(b), nil
}

// PassageEnd returns the end of a relation that a passage is: of its hash the beginning is enough.
func PassageEnd(k page.Key, hash [4]byte) End { return "p" + End(k[:]) + End(hash[:]) }

// cutEnd takes an end of a relation from the beginning of a key's rest.
func cutEnd(s string) (e End, rest string, ok bool) {
	n := 0
	switch {
	case strings.HasPrefix(s, "n"):
		n = 17
	case strings.HasPrefix(s, "p"):
		n = 37
	}
	if n == 0 || len(s) < n {
		return "", "", false
	}
	return End(s[:n]), s[n:], true
}

// ID returns the end as people see it.
func (e End) ID() string {
	if e[0] == 'n' {
		return hex.EncodeToString([]byte(e[1:]))
	}
	return hex.EncodeToString([]byte(e[1:9])) + "-" + hex.EncodeToString([]byte(e[33:]))
}

// tie is a relation by its ends.
type tie struct {
	from, to End
	kind     string
}

// keys returns the keys of a relation: by each of its ends, and by its type.
func (l tie) keys() []string {
	return []string{
		relationPrefix + string(l.from) + l.kind + "\x00" + string(l.to),
		reversePrefix + string(l.to) + l.kind + "\x00" + string(l.from),
		byTypePrefix + l.kind + "\x00" + string(l.from) + string(l.to),
	}
}

// tieRecord is what each of a tie's keys holds.
type tieRecord struct {
	Weight float64   `json:"w"`
	Time   time.Time `json:"t"`
}

// readTie reads the key of a relation under one of the three prefixes.
func readTie(prefix, key string) (l tie, ok bool) {
	rest := key[len(prefix):]
	if prefix == byTypePrefix {
		if l.kind, rest, ok = strings.Cut(rest, "\x00"); !ok {
			return l, false
		}
		if l.from, rest, ok = cutEnd(rest); ok {
			l.to, rest, ok = cutEnd(rest)
		}
		return l, ok && rest == ""
	}
	var tail string
	if l.from, tail, ok = cutEnd(rest); !ok {
		return l, false
	}
	if l.kind, tail, ok = strings.Cut(tail, "\x00"); !ok {
		return l, false
	}
	if l.to, tail, ok = cutEnd(tail); !ok || tail != "" {
		return l, false
	}
	if prefix == reversePrefix {
		l.from, l.to = l.to, l.from
	}
	return l, true
}

// Forget drops the relations of a document's passages, or of those of them whose hash begins so. Notes stay.
func (s *Store) Forget(k page.Key, hash []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := "p" + string(k[:]) + string(hash)
	if err := s.drop(relationPrefix + ends); err != nil {
		return err
	}
	return s.drop(reversePrefix + ends)
}

// drop deletes the relations found under a key's beginning.
func (s *Store) drop(beginning string) error {
	prefix := relationPrefix
	if strings.HasPrefix(beginning, reversePrefix) {
		prefix = reversePrefix
	}
	var changes []store.Change
	s.records.Keys(beginning, "", func(key string) bool {
		if l, ok := readTie(prefix, key); ok {
			for _, key := range l.keys() {
				changes = append(changes, store.Change{Key: key, Gone: true})
			}
		}
		return true
	})
	for chunk := range slices.Chunk(changes, 3*500) {
		if err := s.records.Apply(chunk...); err != nil {
			return fmt.Errorf("delete relations: %w", err)
		}
	}
	return nil
}

// put puts a relation in the place of the one between the same two of the same type.
func (s *Store) put(l tie, r tieRecord) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var changes []store.Change
	for _, key := range l.keys() {
		changes = append(changes, store.Change{Key: key, Value: value})
	}
	return s.records.Apply(changes...)
}

// walk calls f for the relations of an end (either one), or of a type when e is empty, until f returns false.
func (s *Store) walk(e End, kind string, f func(tie, tieRecord) bool) {
	more := true
	walk := func(prefix, beginning string) {
		s.records.Walk(beginning, "", func(key string, value []byte) bool {
			l, ok := readTie(prefix, key)
			var r tieRecord
			if !ok || kind != "" && l.kind != kind || json.Unmarshal(value, &r) != nil {
				return true
			}
			more = f(l, r)
			return more
		})
	}
	if e == "" {
		walk(byTypePrefix, byTypePrefix+kind+"\x00")
		return
	}
	walk(relationPrefix, relationPrefix+string(e))
	if more {
		walk(reversePrefix, reversePrefix+string(e))
	}
}

// isRelationType reports whether a relation may be of a type.
func isRelationType(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}
