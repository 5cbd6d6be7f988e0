package knowledge

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Entry is a document in a list.
type Entry struct {
	Key       page.Key      `json:"-"`
	Doc       string        `json:"doc"`
	URL       string        `json:"url"`
	Title     string        `json:"title,omitempty"`
	Kind      string        `json:"kind"`
	Label     string        `json:"label,omitempty"`
	Metadata  page.Metadata `json:"metadata,omitempty"` // of an ingested text
	FetchedAt time.Time     `json:"fetched_at,omitzero"`
	Passages  int           `json:"passages"`
}

// Documents returns documents of a base in order of their keys, and a cursor for the next call, empty when these were
// the last. A limit of 0 means 50; at most 1000. The error is an [*UnknownBaseError], or says that the cursor is
// invalid.
func (k *Knowledge) Documents(kb, cursor string, limit int) (list []Entry, next string, err error) {
	k.bases.mu.Lock()
	r, err := k.bases.named(kb)
	k.bases.mu.Unlock()
	if err != nil {
		return nil, "", err
	}
	if limit <= 0 {
		limit = 50
	}
	limit = min(limit, 1000)
	from, err := hex.DecodeString(cursor)
	if err != nil || len(from) != 0 && len(from) != len(page.Key{}) {
		return nil, "", fmt.Errorf("list documents: cursor %.20q: %w", cursor, store.ErrCursor)
	}
	prefix := memberPrefix + r.live().key()
	k.records.Keys(prefix, prefix+string(from), func(key string) bool {
		member, ok := archive.KeyIn(key, prefix)
		if !ok {
			return true
		}
		if len(list) == limit {
			next = member.String()
			return false
		}
		if e, err := k.entry(member); err == nil {
			list = append(list, e)
		}
		return true
	})
	return list, next, nil
}

// entry returns what a list says of a document. The error is store.ErrNotFound.
func (k *Knowledge) entry(key page.Key) (Entry, error) {
	e := Entry{Key: key, Doc: key.Doc(), Passages: len(k.index.PassagesOf(key))}
	if p, err := k.store.PageAt(key); err == nil {
		e.URL, e.Title, e.Kind, e.FetchedAt = p.NormalizedURL, p.Title, string(p.Type), p.FetchedAt
		return e, nil
	}
	h, err := k.archive.Head(key)
	if err != nil {
		return e, err
	}
	e.URL, e.Title, e.Kind, e.Label, e.FetchedAt = h.URL, h.Title, h.Kind, h.Label, h.FetchedAt
	e.Metadata = h.Metadata
	return e, nil
}

// FindDocument finds a document that is no page, or a note, by its doc id (or more or fewer digits of its key, at least
// 8), by its URL, or by the id of a record in a file; the newest of several with one URL. The error is
// store.ErrNotFound, or says that the digits fit several documents.
func (k *Knowledge) FindDocument(ref string) (*Document, error) {
	var newest *Document
	for _, raw := range slices.Compact([]string{ref, normalURL(ref)}) {
		for _, key := range k.archive.At(raw) {
			if d, err := k.Document(key); err == nil && (newest == nil || d.FetchedAt.After(newest.FetchedAt)) {
				newest = d
			}
		}
	}
	if newest != nil {
		return newest, nil
	}
	if n, err := k.noteNamed(ref); err == nil {
		return n, nil
	}
	key, err := k.archive.ByDigits(strings.ToLower(ref))
	if err != nil {
		return nil, err
	}
	return k.Document(key)
}
