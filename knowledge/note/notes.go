package note

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Note is something an agent found out and keeps (an insight, in the words of rule D8).
type Note struct {
	ID       string        `json:"id"`            // 32 hex digits; later notes have larger ones
	Doc      string        `json:"doc,omitempty"` // its id as a document, as in Hit.Doc
	Text     string        `json:"text"`
	Label    string        `json:"label,omitempty"`
	Metadata page.Metadata `json:"metadata,omitempty"`

	// Subjects are what it is about: those that its author names, then those that its text names.
	Subjects []string `json:"subjects,omitempty"`

	// Pages are the URLs of the pages it is about: those that its author names, then those in its text.
	Pages []string `json:"pages,omitempty"`

	CreatedAt time.Time `json:"created_at"`
}

// Query selects notes. The zero value selects all.
type Query struct {
	Subject string // in any case
	URL     string // of a page that they are about
	Cursor  string // as returned by the call before
	Limit   int    // 0: 50; at most 1000
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

// What a note may hold.
const (
	maxNoteText     = 64 << 10 // bytes
	maxNoteLabel    = 200      // bytes
	maxNoteMetadata = 16 << 10 // bytes in all
)

// Keys of notes and relations. An end is n<id16> for a note and p<key32><hash4> for a passage.
//
//	k/note/<id16>                 a note; see document.go for k/nu/
//	k/l/<end><type>\0<end>        a relation, from a passage to the other end
//	k/ln/<end><type>\0<end>       the reverse
//	k/lt/<type>\0<end><end>       by type, first end first
const (
	Prefix         = "k/note/"
	relationPrefix = "k/l/"
	reversePrefix  = "k/ln/"
	byTypePrefix   = "k/lt/"
)

// Store keeps notes and relations.
type Store struct {
	records *store.Records
	cleaner store.Cleaner
	mu      sync.Mutex // over a look whether both ends are there and the write that builds on it
}

// New returns the notes in the records of a store.
func New(records *store.Records, cleaner store.Cleaner) *Store {
	return &Store{records: records, cleaner: cleaner}
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

// PassageEnd returns the end that a passage is: of its hash the beginning is enough.
func PassageEnd(k page.Key, hash [4]byte) End { return "p" + End(k[:]) + End(hash[:]) }

// cutEnd takes an end from the beginning of a key's rest.
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

// readTie reads a key under one of the three prefixes.
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

// Add keeps a note. Its ID and CreatedAt are filled in.
func (s *Store) Add(n *Note, now time.Time) error {
	n.Text = strings.ToValidUTF8(n.Text, "")
	size := archive.MetadataSize(n.Metadata)
	switch {
	case strings.TrimSpace(n.Text) == "":
		return fmt.Errorf("note without text: %w", archive.ErrInvalid)
	case len(n.Text) > maxNoteText:
		return fmt.Errorf("note of %d bytes, at most %d allowed: %w", len(n.Text), maxNoteText, archive.ErrInvalid)
	case len(n.Label) > maxNoteLabel:
		return fmt.Errorf("label of %d bytes, at most %d allowed: %w", len(n.Label), maxNoteLabel, archive.ErrInvalid)
	case size > maxNoteMetadata:
		return fmt.Errorf("metadata of %d bytes, at most %d allowed: %w", size, maxNoteMetadata, archive.ErrInvalid)
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	binary.BigEndian.PutUint64(id[:8], uint64(max(now.UnixMicro(), 0)))
	n.ID, n.Doc, n.CreatedAt, n.Metadata = hex.EncodeToString(id[:]), "", now.UTC(), maps.Clone(n.Metadata)
	if err := n.link(); err != nil {
		return err
	}
	value, err := json.Marshal(n)
	if err != nil {
		return err
	}
	key := KeyOf("n" + End(id[:]))
	n.Doc = key.Doc()
	changes := []store.Change{{Key: Prefix + string(id[:]), Value: value}, archive.Queued(key), annotation.Job(key)}
	for _, u := range n.Pages {
		changes = append(changes, store.Change{Key: notedKey(u) + string(id[:])})
	}
	return s.records.Apply(changes...)
}

// Get returns a note, or store.ErrNotFound.
func (s *Store) Get(e End) (*Note, error) {
	value, err := s.records.Get(Prefix + string(e[1:]))
	if err != nil {
		return nil, err
	}
	var n Note
	if json.Unmarshal(value, &n) != nil {
		return nil, store.ErrNotFound
	}
	n.Doc = KeyOf(e).Doc()
	n.Text, n.Label = string(s.cleaner.Markdown([]byte(n.Text))), s.cleaner.Line(n.Label) // an older program's
	n.Metadata = archive.CleanMetadata(n.Metadata, s.cleaner)
	return &n, nil
}

// All calls f for the notes, oldest first, from an id on, until f returns false.
func (s *Store) All(from string, f func(e End) bool) {
	s.records.Keys(Prefix, Prefix+from, func(key string) bool { return f("n" + End(key[len(Prefix):])) })
}

// Delete drops a note with its relations, and reports whether it was there.
func (s *Store) Delete(e End) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.Get(e)
	if err != nil {
		return false, nil
	}
	if err := s.drop(reversePrefix + string(e)); err != nil {
		return false, err
	}
	changes := []store.Change{{Key: Prefix + string(e[1:]), Gone: true}, archive.Queued(KeyOf(e))}
	for _, u := range n.Pages {
		changes = append(changes, store.Change{Key: notedKey(u) + string(e[1:]), Gone: true})
	}
	return true, s.records.Apply(changes...)
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
