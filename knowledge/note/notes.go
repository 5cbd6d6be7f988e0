package note

import (
	"crypto/rand"
	"crypto/sha256"
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
	"github.com/readthru/readthru/knowledge/statement"
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

// notedKey begins the keys of the notes about a page.
func notedKey(normalisedURL string) string {
	sum := sha256.Sum256([]byte(normalisedURL))
	return notedPrefix + string(sum[:16])
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
