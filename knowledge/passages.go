package knowledge

import (
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/statement"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/knowledge/archive"
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

// toldNow returns whether what is said of a passage may be told. What was said of a text that an older edition of the
// cleaner passed, or none, is not, until its document was looked at again: the passage itself may have been hidden.
func (k *Knowledge) toldNow() func(annotation.Passage) bool {
	opened, _ := k.Opened() // until then, or for ever, nobody knows whether the index is made again
	waiting := !opened || k.rebuilding() > 0
	k.records.Keys(annotation.QueuePrefix, "", func(string) bool { waiting = true; return false })
	return func(p annotation.Passage) bool {
		if !waiting || k.cleaner.Edition == 0 {
			return true
		}
		said, err := k.annotator.Of(p)
		return err == nil && !k.cleaner.Behind(said.Edition)
	}
}

// PassageQuery selects passages: at least one of the first five is given, and all that are given hold. Those of a
// subject or a frame are annotated passages.
type PassageQuery struct {
	Subject string // in any case
	Frame   string
	URL     string // of the document
	Doc     string // the document's id
	KB      string // only those of documents of this base
	Cursor  string // as returned by the call before
	Limit   int    // 0: 20 (rule D6); at most 100
}

// Passages returns passages and a cursor for the next call, empty when these were the last: of documents in the order
// of their text, of subjects and frames in the order of their keys. The error wraps ErrInvalid, or is an
// [*UnknownBaseError].
func (k *Knowledge) Passages(q PassageQuery) (list []PassageInfo, next string, err error) {
	from, err := hex.DecodeString(q.Cursor)
	if err != nil || len(from) != 0 && len(from) != 48 {
		return nil, "", fmt.Errorf("cursor %.100q: %w", q.Cursor, ErrInvalid)
	}
	walk, err := k.passagesOf(&q)
	if err != nil {
		return nil, "", err
	}
	limit := min(bounded(q.Limit, 20), 100)
	list = []PassageInfo{}
	walk(string(from), func(p annotation.Passage) bool {
		if len(list) == limit {
			next = hex.EncodeToString([]byte(p.String()))
			return false
		}
		if info, err := k.passageInfo(p); err == nil { // else it is being forgotten
			list = append(list, *info)
		}
		return true
	})
	return list, next, nil
}

// passageWalk calls f for passages in one order, from a passage on (empty: the first), until f returns false.
type passageWalk func(from string, f func(annotation.Passage) bool)

// passagesOf returns the passages that a query selects, by the look-up that has the fewest.
func (k *Knowledge) passagesOf(q *PassageQuery) (passageWalk, error) {
	var documents []page.Key // those of Doc and URL; nil: any
	if q.Doc != "" || q.URL != "" {
		documents = k.documentsNamed(q.Doc, q.URL)
	}
	if q.KB != "" {
		members, err := k.memberKeys(q.KB)
		if err != nil {
			return nil, err
		}
		if documents == nil && q.Subject == "" && q.Frame == "" {
			return k.inOrder(members), nil
		}
	}
	accepts := func(p annotation.Passage) bool {
		return (documents == nil || slices.Contains(documents, p.Page)) &&
			(q.KB == "" || slices.Contains(k.BasesOf(p.Page), q.KB))
	}
	var walk passageWalk
	frame := strings.ToUpper(q.Frame)
	switch {
	case q.Subject != "":
		prefix := annotation.SubjectLookup(q.Subject)
		walk = func(from string, f func(annotation.Passage) bool) {
			annotation.Lookup(k.records, prefix, from, func(p annotation.Passage) bool {
				if frame != "" && !k.hasFrame(p, frame) {
					return true
				}
				return f(p)
			})
		}
	case q.Frame != "":
		walk = func(from string, f func(annotation.Passage) bool) {
			annotation.Lookup(k.records, annotation.FrameLookup(frame), from, f)
		}
	case documents != nil:
		walk = k.inOrder(slices.Values(documents))
	default:
		return nil, fmt.Errorf("passages: name a subject, a frame, a URL, a doc or a kb: %w", ErrInvalid)
	}
	return func(from string, f func(annotation.Passage) bool) {
		walk(from, func(p annotation.Passage) bool { return !accepts(p) || f(p) })
	}, nil
}

// documentsNamed returns, to select their passages, the documents that have both an id and a URL, or the one of them
// that is not empty, sorted; it is never nil.
func (k *Knowledge) documentsNamed(doc, rawURL string) []page.Key {
	found := []page.Key{}
	if rawURL == "" {
		prefix, err := hex.DecodeString(doc)
		if err != nil || len(prefix) < 4 {
			return found
		}
		k.records.Keys(index.ArticlePrefix+string(prefix), "", func(at string) bool {
			if key, ok := archive.KeyIn(at, index.ArticlePrefix); ok {
				found = append(found, key)
			}
			return len(found) < 100
		})
		return found
	}
	normal := normalURL(rawURL)
	for _, key := range append(k.archive.At(normal), page.KeyOf(normal)) {
		if strings.HasPrefix(key.String(), strings.ToLower(doc)) {
			found = append(found, key)
		}
	}
	sortKeys(found)
	return found
}

// inOrder walks the passages of documents, which are sorted by key, each passage once, in the order of the text. From
// is the passage that it begins with, so that a cursor stays right when passages before it go.
func (k *Knowledge) inOrder(documents iter.Seq[page.Key]) passageWalk {
	return func(from string, f func(annotation.Passage) bool) {
		for key := range documents {
			at := ""
			if len(from) == 48 {
				if string(key[:]) < from[:32] {
					continue
				}
				if string(key[:]) == from[:32] {
					at = from[32:]
				}
			}
			seen := map[[16]byte]bool{}
			for _, n := range k.index.PassagesOf(key) {
				hash, ok := k.index.HashOf(n)
				if !ok || seen[hash] {
					continue
				}
				seen[hash] = true
				if at != "" && string(hash[:]) != at {
					continue
				}
				at = ""
				if !f(annotation.Passage{Page: key, Hash: hash}) {
					return
				}
			}
		}
	}
}

// hasFrame reports whether a statement about a passage has a frame.
func (k *Knowledge) hasFrame(p annotation.Passage, frame string) bool {
	_, err := k.records.Get(annotation.FrameLookup(frame) + p.String())
	return err == nil
}

// passagesAbout returns the numbers that the index gives to the passages about a subject, to limit a search to them.
func (k *Knowledge) passagesAbout(subject string) *roaring.Bitmap {
	found := roaring.New()
	annotation.Lookup(k.records, annotation.SubjectLookup(subject), "", func(p annotation.Passage) bool {
		found.AddMany(k.index.PassagesByHash(p.Hash))
		return true
	})
	return found
}

// bounded returns a limit of passages, notes or subjects within 1 … 1000, and otherwise in place of 0.
func bounded(limit, otherwise int) int {
	if limit <= 0 {
		return otherwise
	}
	return min(limit, 1000)
}
