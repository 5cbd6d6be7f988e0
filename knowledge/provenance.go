package knowledge

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/statement"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// PassageInfo is a passage with where it comes from and what it says.
type PassageInfo struct {
	ID      string          `json:"id"` // as in Hit.Passage
	Text    string          `json:"text"`
	Heading string          `json:"heading,omitempty"` // its path, joined by " › "
	Hash    string          `json:"hash"`              // of its white-space-normalised text, hex
	Sources []PassageSource `json:"sources"`           // documents that have it, the one of the id first; at most 100
	Owners  int             `json:"owners"`            // how many documents have it in all

	// What it is about and what is said of it, if it is of a knowledge base, an ingested text or a note, and was
	// annotated by now; never nil.
	Subjects    []string    `json:"subjects"`
	Statements  []Statement `json:"statements"`
	AnnotatedBy string      `json:"annotated_by,omitempty"` // the model; empty: none was asked
}

// PassageSource is a document that a passage stands in.
type PassageSource struct {
	Doc       string    `json:"doc"`
	URL       string    `json:"url"`
	Title     string    `json:"title,omitempty"`
	Bases     []string  `json:"bases"` // knowledge bases that it is of; never nil
	FetchedAt time.Time `json:"fetched_at,omitzero"`
}

const maxSources = 100

// Passage returns a passage by its id. The error wraps store.ErrNotFound, also if the document has changed and no
// longer has the passage, or ErrInvalid for a malformed id.
func (k *Knowledge) Passage(id string) (*PassageInfo, error) {
	key, hash, err := k.resolve(id)
	if err != nil {
		return nil, fmt.Errorf("passage %.40s: %w", id, err)
	}
	p, err := k.passageInfo(annotation.Passage{Page: key, Hash: hash})
	if err != nil {
		return nil, fmt.Errorf("passage %.40s: %w", id, err)
	}
	return p, nil
}

// resolve finds the passage that an id names.
func (k *Knowledge) resolve(id string) (key page.Key, hash [16]byte, err error) {
	doc, part, _ := strings.Cut(id, "-")
	d, err1 := hex.DecodeString(doc)
	h, err2 := hex.DecodeString(part)
	if err1 != nil || err2 != nil || len(d) != 8 || len(h) != 4 {
		return key, hash, fmt.Errorf("want 16 hex digits, a hyphen and 8 hex digits: %w", ErrInvalid)
	}
	err = store.ErrNotFound
	prefix := index.ArticlePrefix + string(d)
	k.records.Keys(prefix, "", func(at string) bool {
		if copy(key[:], at[len(index.ArticlePrefix):]) != len(key) {
			return true
		}
		for _, n := range k.index.PassagesOf(key) {
			if full, ok := k.index.HashOf(n); ok && string(full[:4]) == string(h) {
				hash, err = full, nil
				return false
			}
		}
		return true
	})
	return key, hash, err
}

// passageInfo returns a passage as it stands in a document.
func (k *Knowledge) passageInfo(p annotation.Passage) (*PassageInfo, error) {
	var f index.Passage
	var owners []uint32
	err := store.ErrNotFound
	for _, n := range k.index.PassagesByHash(p.Hash) {
		if f, err = k.index.Passage(n); err != nil {
			return nil, err
		}
		owners = append(owners, f.Owners...)
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(owners)
	info := &PassageInfo{
		ID: index.PassageID(p.Page, p.Hash), Text: f.Text, Heading: f.Path, Hash: hex.EncodeToString(p.Hash[:]),
		Owners:  len(owners),
		Sources: []PassageSource{}, Subjects: []string{}, Statements: []Statement{},
	}
	keys := []page.Key{p.Page}
	for _, owner := range owners {
		if key, ok := k.index.Document(owner); ok && key != p.Page {
			keys = append(keys, key)
		}
	}
	for _, key := range keys[:min(len(keys), maxSources)] {
		a, err := k.index.Article(key)
		if err != nil {
			if key == p.Page {
				return nil, err
			}
			continue
		}
		info.Sources = append(info.Sources, PassageSource{
			Doc: key.Doc(), URL: k.cleaner.Line(a.URL), Title: k.cleaner.Line(a.Title), FetchedAt: a.Fetched,
			Bases: append([]string{}, k.BasesOf(key)...),
		})
		if len(info.Statements) > 0 {
			continue
		}
		if said, err := k.annotator.Of(annotation.Passage{Page: key, Hash: p.Hash}); err == nil {
			info.Statements, info.AnnotatedBy = said.Statements, said.By
			info.Subjects = append(info.Subjects, statement.Subjects(said.Statements)...)
		}
	}
	return info, nil
}
