package knowledge

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"

	"github.com/readthru/readthru/knowledge/note"

	"github.com/readthru/readthru/internal/clip"
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

// Document returns a page that was read, a document of a knowledge base, or a note, with its markdown. The error is
// store.ErrNotFound.
func (k *Knowledge) Document(key page.Key) (*Document, error) {
	if _, ok := note.In(key); ok {
		return k.noteDocument(key)
	}
	if p, err := k.store.PageAt(key); err == nil {
		return k.pageDocument(key, p)
	}
	h, err := k.archive.Head(key)
	if err != nil {
		return nil, err
	}
	md, err := k.archive.Markdown(key)
	if err != nil {
		return nil, err
	}
	d := &Document{
		Key: key, URL: h.URL, Title: h.Title, Host: h.Host, Kind: h.Kind, FetchedAt: h.FetchedAt, Markdown: md,
		Metadata: h.Metadata,
	}
	if library, _ := h.Metadata["library"].(string); library != "" { // as the hook of Context7 says it (rule A19)
		d.Subjects = append(d.Subjects, library)
	} else if u, err := page.Parse(h.URL); err == nil {
		d.Subjects = about(u)
	}
	return d, nil
}

// pageDocument returns a page with its markdown.
func (k *Knowledge) pageDocument(key page.Key, p *page.Page) (*Document, error) {
	md, err := k.store.Markdown(key)
	if err != nil {
		return nil, err
	}
	d := &Document{
		Key: key, URL: p.NormalizedURL, Title: p.Title, TitleElement: p.Meta["title"], Kind: string(p.Type),
		FetchedAt: p.FetchedAt, Markdown: md,
	}
	if u, err := page.Parse(p.NormalizedURL); err == nil {
		d.Host, d.Subjects = page.Authority(u), about(u)
	}
	return d, nil
}

// about returns the subjects that the URL of documents names (rule A16): the library that it is the documentation of.
func about(u *url.URL) []string {
	if library := page.Library(u); library != "" {
		return []string{library}
	}
	return nil
}

// markdown returns the text of a document. The error is store.ErrNotFound when there is no such document.
func (k *Knowledge) markdown(key page.Key) ([]byte, error) {
	if _, ok := note.In(key); ok {
		d, err := k.noteDocument(key)
		if err != nil {
			return nil, err
		}
		return d.Markdown, nil
	}
	md, err := k.store.Markdown(key)
	if err == nil {
		return md, nil
	}
	if _, missing := k.store.Page(key); missing == nil {
		return nil, fmt.Errorf("the text of page %s no longer exists", key.Doc())
	}
	return k.archive.Markdown(key)
}

// normalURL returns the URL of a document in normalised form if it is of http or https, and anything else as it is.
func normalURL(raw string) string {
	if u, err := page.Parse(raw); err == nil {
		return page.Normalize(u)
	}
	return raw
}

// refuse returns a [*RefusedError] for a document that is no page.
func refuse(format string, args ...any) (archive.Head, error) {
	return archive.Head{}, &RefusedError{Reason: fmt.Errorf(format, args...)}
}

// prepare cleans and checks a document that is no page (of files, packs, or ingested), and fills in what it does not
// say. The error is a [*RefusedError].
func (k *Knowledge) prepare(d *Document) (archive.Head, error) {
	d.URL, d.Title = k.cleanLine(d.URL), k.cleanLine(d.Title)
	if d.URL == "" {
		return refuse("it has neither a URL nor an id")
	}
	if len(d.URL) > maxURL {
		return refuse("its URL has %d bytes, %d are the most", len(d.URL), maxURL)
	}
	if len(d.Markdown) > archive.MaxDocument {
		return refuse("%w: %d bytes, at most %d allowed", ErrTooLarge, len(d.Markdown), archive.MaxDocument)
	}
	if u, err := url.Parse(d.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		if page.HasSecret(u) {
			return refuse("its URL carries a credential")
		}
		d.URL, d.Host = page.Normalize(u), page.Authority(u)
	}
	if !utf8.Valid(d.Markdown) {
		d.Markdown = bytes.ToValidUTF8(d.Markdown, []byte("\uFFFD"))
	}
	d.Markdown = k.cleaner.Markdown(d.Markdown)
	d.Kind = cmp.Or(d.Kind, KindText)
	if d.FetchedAt.IsZero() {
		d.FetchedAt = time.Now().UTC().Truncate(time.Second)
	}
	sum := sha256.Sum256(d.Markdown)
	return archive.Head{
		URL: d.URL, Title: clip.Runes(d.Title, maxTitle), Host: d.Host, Kind: d.Kind, FetchedAt: d.FetchedAt,
		Hash: hex.EncodeToString(sum[:]), Length: len(d.Markdown), Edition: k.cleaner.Edition,
	}, nil
}

// documentKey is the key of a document that is no page, made of its base and what identifies it there. No page has such
// a key, because no URL begins with a zero byte.
func documentKey(base baseID, parts ...string) page.Key {
	name := append([]byte("\x00document"), base[:]...)
	for _, part := range parts {
		name = append(binary.AppendUvarint(name, uint64(len(part))), part...)
	}
	return sha256.Sum256(name)
}

// drop deletes a document that is no page, and takes it out of all bases. The caller holds bases.mu.
func (k *Knowledge) drop(key page.Key) error {
	return k.archive.Delete(key, append(k.bases.leave(key), archive.Queued(key))...)
}

// DeleteDocument deletes a document that is not a page from all bases, or a note. It returns store.ErrNotFound if there
// is none.
func (k *Knowledge) DeleteDocument(key page.Key) error {
	if e, ok := note.In(key); ok {
		found, err := k.DeleteNote(e.ID())
		if err == nil && !found {
			err = store.ErrNotFound
		}
		return err
	}
	k.bases.mu.Lock()
	defer k.bases.mu.Unlock()
	if _, err := k.archive.Head(key); err != nil {
		return err
	}
	defer k.notify()
	return k.drop(key)
}
