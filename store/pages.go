package store

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// maxVersions is how many versions of a page are kept.
const maxVersions = 50

// Version describes one content that a page had.
type Version struct {
	Time        time.Time   `json:"time"` // when the page was read
	ContentHash string      `json:"content_hash"`
	Title       string      `json:"title,omitempty"`
	Tokens      int         `json:"tokens"`
	SizeBytes   int         `json:"size_bytes"`
	Source      page.Source `json:"source"`
}

// pageRecord is what p/ holds: the record of a page. Its versions are listed under pv/, and their contents are bodies.
type pageRecord struct {
	Page   page.Record
	Source Sum    // the origin's bytes
	Job    uint64 // the page's newest record in the change log

	Edition int `json:",omitempty"` // of the Cleaner that the texts passed
}

// versionRecord is an element of what pv/ holds, oldest first.
type versionRecord struct {
	Version
	Body    Sum
	Edition int `json:",omitempty"` // of the Cleaner that it passed
}

// PutPage creates or updates the record of a page, adds a version when ContentHash changed, and writes the change-log
// job in the same transaction. Markdown is the content without front matter; the store keeps it: never change it
// afterwards. PutPage sets Doc, CreatedAt, UpdatedAt and Stored of p and reports whether the content was new. The page
// was read at p.ReadAt, or now if that is zero; what replaces another reading, or comes after a deletion that the store
// knows of, counts as read after it. The error is ErrFull, or says that p has no normalised URL.
func (s *Store) PutPage(p *page.Record, markdown []byte, source Sum) (changed bool, err error) {
	if p.NormalizedURL == "" {
		return false, errNoURL
	}
	c := body.Of(markdown)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.putPage(p, c, source, s.cleaner.Edition, true)
}

var errNoURL = errors.New("store page: it has no normalised URL")

// Known is what a store knows of a page when another node of the fleet has a reading or deletion of it.
type Known struct {
	Record  page.Record // zero if there is no page; its texts are as they were stored
	Deleted time.Time   // when the page was deleted last, here or elsewhere; zero if that is not known
}

// Known returns what is known of a page under its own key: another name of a page has no record.
func (s *Store) Known(k page.Key) Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known(k)
}

// known is [Store.Known] for a caller that holds s.mu.
func (s *Store) known(k page.Key) (known Known) {
	var record pageRecord
	if s.Named(k) == (page.Key{}) && s.kv.GetJSON(&kv.Batch{}, keys.Page(k), &record) == nil {
		known.Record = record.Page
	}
	known.Deleted, _ = s.deletions.Get(k)
	return known
}

// ImportPage is PutPage for a page that another store read, with the edition of the Cleaner that its texts passed there
// ([Store.PageEdition]). It asks wanted whether the page is to replace what is known here, which stays so meanwhile,
// and reports whether it did. Wanted must not call the store.
func (s *Store) ImportPage(p *page.Record, markdown []byte, edition int, wanted func(Known) bool) (bool, error) {
	if p.NormalizedURL == "" {
		return false, errNoURL
	}
	c := body.Of(markdown)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !wanted(s.known(page.KeyOf(p.NormalizedURL))) {
		return false, nil
	}
	_, err := s.putPage(p, c, Sum{}, min(edition, s.cleaner.Edition), false)
	return err == nil, err
}

// ImportDeletion notes that another store deleted a page at a time. If the page is here, it asks wanted whether that
// is to be deleted, does so, and reports it. Wanted must not call the store.
func (s *Store) ImportDeletion(k page.Key, at time.Time, wanted func(Known) bool) (bool, error) {
	if s.noteDeletionOf(k, at) {
		return false, nil
	}
	s.flushCounts()
	s.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !wanted(s.known(k)) {
		return false, nil
	}
	err := s.deletePage(k, at)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// PageEdition returns the edition of the Cleaner that the texts of a page pass when they are read.
func (s *Store) PageEdition() int { return s.cleaner.Edition }

// putPage is PutPage for a caller that holds s.mu. Own says that this node has read the page; an imported one keeps the
// time of its reading, by which nodes agree on the newest. Edition is that of the cleaner that the texts have passed.
func (s *Store) putPage(p *page.Record, c *body.Content, source Sum, edition int, own bool) (changed bool, err error) {
	k := page.KeyOf(p.NormalizedURL)
	now, drops := time.Now().UTC().Truncate(time.Millisecond), s.kv.GivenUp()
	b := &kv.Batch{}
	record := pageRecord{Page: *p, Source: source, Edition: edition}
	record.Page.Doc, record.Page.Stored = k.Doc(), true
	read := now
	if p.ReadAt.Before(now) && !p.ReadAt.IsZero() { // as that of a cache's response that was stored before
		read = p.ReadAt.UTC().Truncate(time.Millisecond)
	}
	record.Page.CreatedAt, record.Page.UpdatedAt = read, read

	var old pageRecord
	// the URL is compared, too: a record that another URL left under this key is not the page's
	known := s.kv.GetJSON(b, keys.Page(k), &old) == nil && old.Page.NormalizedURL == p.NormalizedURL
	if known {
		record.Page.CreatedAt, record.Page.UpdatedAt, record.Job = old.Page.CreatedAt, old.Page.UpdatedAt, old.Job
	} else {
		b.Delta.Pages++
		if s.Named(k) != (page.Key{}) {
			b.Del(keys.Name(k)) // it is a page of its own now
		}
		if host := pageHost(p.NormalizedURL); host != "" {
			b.Set(keys.PageOfHost(host, k), nil)
		}
	}
	changed = !known || old.Page.ContentHash != p.ContentHash
	var before []*kv.Batch
	var dead []Sum
	if changed {
		before, dead, record.Page.UpdatedAt = s.addVersion(b, k, versionRecord{
			Version{read, p.ContentHash, p.Title, p.Tokens, int(c.Length), p.Source}, c.Sum, edition,
		}, c, now)
	} else {
		before = s.repair(b, k, c, now)
	}
	if changed || old.Page.Findable() != p.Findable() || retitled(&old.Page, p) { // the index must know
		kind := JobStored
		if known {
			kind = JobChanged
		}
		record.Job = s.addJob(b, Job{Kind: kind, Page: k, URL: p.NormalizedURL}, old.Job)
		if own {
			record.Page.ReadAt = s.readAfter(k, cmp.Or(p.ReadAt, now), &old.Page)
		}
	} else if own {
		record.Page.ReadAt = old.Page.ReadAt
	}
	b.Set(keys.Page(k), wire.Pack(&record))
	if err := s.tallies.ListPage(k, now, b, before); err != nil {
		return false, err
	}
	s.keepBody(c, drops) // the index reads it soon
	if s.seq = max(s.seq, record.Job); record.Job != old.Job {
		wake(s.added)
	}
	s.deleteLater(dead)
	p.Doc, p.Stored, p.CreatedAt, p.UpdatedAt = record.Page.Doc, true, record.Page.CreatedAt, record.Page.UpdatedAt
	return changed, nil
}

// readAfter returns at, when a page was read, or the first millisecond after what it replaces: the record old, which
// may be empty, or a deletion. A clock may be set back, and that of another store be ahead; a cache may have answered
// from before the deletion. The caller holds s.mu.
func (s *Store) readAfter(k page.Key, at time.Time, old *page.Record) time.Time {
	at, last := at.UTC().Truncate(time.Millisecond), old.ReadAt
	if gone, ok := s.deletions.Get(k); ok && last.IsZero() && !at.After(gone) {
		at, last = time.Now().UTC().Truncate(time.Millisecond), gone
	}
	if !at.After(last) {
		at = last.UTC().Truncate(time.Millisecond).Add(time.Millisecond)
	}
	return at
}

// noteDeletionOf notes a deletion of a page that is not here, and reports whether it is not.
func (s *Store) noteDeletionOf(k page.Key, at time.Time) (absent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	absent = s.known(k).Record.NormalizedURL == ""
	if absent {
		s.noteDeletion(k, at)
	}
	return absent
}

// noteDeletion remembers when a page was deleted, so that a reading from before does not bring it back. The caller
// holds s.mu.
func (s *Store) noteDeletion(k page.Key, at time.Time) {
	if last, ok := s.deletions.Get(k); !ok || at.After(last) {
		s.deletions.Add(k, at)
	}
}

// retitled reports whether a page with the same text has another title, which is searched, too.
func retitled(old, p *page.Record) bool {
	return old.Title != p.Title || old.Meta["title"] != p.Meta["title"]
}

// addVersion appends a version of a page in b, and drops the oldest over maxVersions, with the summaries that only they
// had. It returns batches to apply before b (the parts of a long content), bodies without references, and the version's
// time: no two versions have the same.
func (s *Store) addVersion(b *kv.Batch, k page.Key, v versionRecord, c *body.Content, now time.Time) (
	before []*kv.Batch, dead []Sum, at time.Time,
) {
	var list []versionRecord
	_ = s.kv.GetJSON(b, keys.Versions(k), &list) // none yet
	if n := len(list); n > 0 && !v.Time.After(list[n-1].Time) {
		// the same response converted otherwise, or a clock set back: the order stays
		v.Time = list[n-1].Time.Add(time.Millisecond)
	}
	before = body.Refer(s.kv, b, c, false, now)
	list = append(list, v)
	b.Delta.Versions++
	for len(list) > maxVersions {
		if body.Unrefer(s.kv, b, list[0].Body, false, now) {
			dead = append(dead, list[0].Body)
		}
		list = list[1:]
		b.Delta.Versions--
		s.dropSummaries(b, k, list)
	}
	b.Set(keys.Versions(k), wire.JSON(list))
	return before, dead, v.Time
}

// repair writes in b the content of a page's newest version again, if that was lost to damage and c is the same.
func (s *Store) repair(b *kv.Batch, k page.Key, c *body.Content, now time.Time) (before []*kv.Batch) {
	if m, found := body.ManifestOf(s.kv, b, c.Sum); found && !m.Gone {
		return nil
	}
	var list []versionRecord
	if s.kv.GetJSON(b, keys.Versions(k), &list) != nil || len(list) == 0 || list[len(list)-1].Body != c.Sum {
		return nil
	}
	before = body.Refer(s.kv, b, c, false, now)
	if m, _ := body.ManifestOf(s.kv, b, c.Sum); m.Refs > 1 { // the version's own reference is among those counted
		m.Refs--
		b.Set(keys.Manifest(c.Sum), m.Encode())
	}
	return before
}

// pageHost returns the host of a normalised URL for the index of pages by host.
func pageHost(normalized string) string {
	u, err := url.Parse(normalized)
	if err != nil {
		return ""
	}
	return keys.Host(u.Host)
}

// PageFailed sets the error on the record of a known page (rule X6). If the page is gone by it, or is no longer, that
// is a change in the change log. The error is ErrNotFound or ErrFull.
func (s *Store) PageFailed(k page.Key, e page.Error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{}
	var record pageRecord
	if err := s.kv.GetJSON(b, keys.Page(k), &record); err != nil {
		return err
	}
	before := record.Job
	if record.Page.Error != nil && reflect.DeepEqual(*record.Page.Error, e) {
		return nil
	}
	if record.Page.Error.Gone() != e.Gone() {
		record.Job = s.addJob(b, Job{Kind: JobChanged, Page: k, URL: record.Page.NormalizedURL}, before)
		record.Page.ReadAt = s.readAfter(k, time.Now(), &record.Page)
	}
	record.Page.Error = &e
	b.Set(keys.Page(k), wire.Pack(&record))
	if err := s.kv.Apply(b); err != nil {
		return err
	}
	if s.seq = max(s.seq, record.Job); record.Job != before {
		wake(s.added)
	}
	return nil
}

// Page returns a page's record and visits; for another name of a page ([Store.NamePage]) those of that page. Meta,
// Warnings and Error are shared: never change them. The error is ErrNotFound.
func (s *Store) Page(k page.Key) (*page.Page, error) {
	record, err := kv.Decode[pageRecord](s.kv, keys.Page(k))
	if errors.Is(err, ErrNotFound) {
		if k = s.Named(k); k != (page.Key{}) {
			record, err = kv.Decode[pageRecord](s.kv, keys.Page(k))
		}
	}
	if err != nil {
		return nil, err
	}
	return s.withVisits(k, s.told(k, record)), nil
}

// PageAt returns the page that is kept under a key itself, as Page does. The error is ErrNotFound, also for another
// name of a page.
func (s *Store) PageAt(k page.Key) (*page.Page, error) {
	p, err := s.Page(k)
	if err == nil && s.Named(k) != (page.Key{}) {
		return nil, ErrNotFound
	}
	return p, err
}

// told returns the record of a stored page as callers may read it: cleaned, if an older edition of the cleaner let it
// pass.
func (s *Store) told(k page.Key, r *pageRecord) page.Record {
	return s.cleaner.record(r.Page, r.Edition, func() ([]byte, error) { return s.Markdown(k) })
}

// withVisits returns a page of its record and of the counter of its visits, those that wait in memory included.
func (s *Store) withVisits(k page.Key, r page.Record) *page.Page {
	s.countRepeated()
	p := &page.Page{Record: r}
	if t := s.tallies.Read(keys.PageTally(k)); t.N > 0 {
		p.Visits = page.Visits{
			VisitCount: t.N, FirstVisitedAt: time.UnixMilli(t.First).UTC(), LastVisitedAt: time.UnixMilli(t.Last).UTC(),
		}
	}
	return p
}

// FindPage finds a page by its doc id or a prefix of its key of at least 8 hex digits. The error is ErrNotFound, or
// says that doc is malformed or matches several pages.
func (s *Store) FindPage(doc string) (page.Key, *page.Page, error) {
	doc = strings.ToLower(doc)
	// an odd last digit is compared below, with the key in hex
	prefix, err := hex.DecodeString(doc[:len(doc)&^1])
	if err != nil || len(doc) < 8 || len(doc) > 2*len(page.Key{}) {
		return page.Key{}, nil, fmt.Errorf("find page: %q is not a doc id (8 to 64 hex digits)", doc)
	}
	s.settle()
	var found []page.Key
	s.kv.Walk(kv.Scan{Prefix: "p/" + string(prefix), Keys: true}, func(key string, _ []byte) bool {
		if k := page.Key([]byte(key[len("p/"):])); strings.HasPrefix(k.String(), doc) {
			found = append(found, k)
		}
		return len(found) < 2
	})
	switch len(found) {
	case 0:
		return page.Key{}, nil, ErrNotFound
	case 1:
		p, err := s.Page(found[0])
		return found[0], p, err
	}
	return page.Key{}, nil, fmt.Errorf("find page: %q matches several pages: give more digits", doc)
}

// Markdown returns the current content of a page. It is shared: never change it. The error is ErrNotFound.
func (s *Store) Markdown(k page.Key) ([]byte, error) {
	var list []versionRecord
	if err := s.kv.GetJSON(&kv.Batch{}, keys.Versions(k), &list); err != nil || len(list) == 0 {
		return nil, ErrNotFound
	}
	return s.readVersion(list[len(list)-1])
}

// readVersion returns the markdown of a version of a page, cleaned if an older edition of the cleaner let it pass.
func (s *Store) readVersion(v versionRecord) ([]byte, error) {
	md, err := s.readWhole(v.Body)
	if err == nil && s.cleaner.Behind(v.Edition) {
		md = s.cleaner.Markdown(md)
	}
	return md, err
}

// Versions returns the versions of a page, newest first; at most 50 are kept. The error is ErrNotFound.
func (s *Store) Versions(k page.Key) ([]Version, error) {
	var list []versionRecord
	if err := s.kv.GetJSON(&kv.Batch{}, keys.Versions(k), &list); err != nil {
		return nil, err
	}
	versions := make([]Version, 0, len(list))
	for _, v := range slices.Backward(list) {
		if s.cleaner.Behind(v.Edition) {
			v.Title = s.cleaner.Line(v.Title)
		}
		versions = append(versions, v.Version)
	}
	return versions, nil
}

// VersionMarkdown returns the content of a version of a page. It is shared: never change it. The error is ErrNotFound.
func (s *Store) VersionMarkdown(k page.Key, v Version) ([]byte, error) {
	var list []versionRecord
	if err := s.kv.GetJSON(&kv.Batch{}, keys.Versions(k), &list); err != nil {
		return nil, err
	}
	for _, each := range list {
		if each.Time.Equal(v.Time) && each.ContentHash == v.ContentHash {
			return s.readVersion(each)
		}
	}
	return nil, ErrNotFound
}

// Named returns the key of the page that k is another name of; zero if k is none. That page may be gone.
func (s *Store) Named(k page.Key) (of page.Key) {
	if named, err := kv.Decode[page.Key](s.kv, keys.Name(k)); err == nil {
		of = *named
	}
	return of
}

// Resolve returns the key of the page that k is another name of, and otherwise k itself.
func (s *Store) Resolve(k page.Key) page.Key {
	if of := s.Named(k); of != (page.Key{}) {
		return of
	}
	return k
}

// NamePage makes k another name of a page. The error is ErrFull, or says that k has a page of its own.
func (s *Store) NamePage(k, of page.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{}
	var own pageRecord
	if s.kv.GetJSON(b, keys.Page(k), &own) == nil {
		return fmt.Errorf("name page %s: %s is a page of its own", of.Doc(), k.Doc())
	}
	b.Set(keys.Name(k), of[:])
	return s.kv.Apply(b)
}

// DeletePage removes a page with its versions, summaries, renditions and visits, removes it from the sets of all
// sessions, and writes a deleted job. Running totals of visits stay. The error is ErrNotFound.
func (s *Store) DeletePage(k page.Key) error {
	s.flushCounts()
	s.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deletePage(k, time.Time{})
}

// deletePage deletes a page at a time, which is now if it is zero. The caller holds s.mu and has flushed the counts.
func (s *Store) deletePage(k page.Key, at time.Time) error {
	b := &kv.Batch{Must: true}
	var record pageRecord
	if err := s.kv.GetJSON(b, keys.Page(k), &record); err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	var dead []Sum
	var list []versionRecord
	_ = s.kv.GetJSON(b, keys.Versions(k), &list) // none left
	for _, v := range list {
		if body.Unrefer(s.kv, b, v.Body, false, now) {
			dead = append(dead, v.Body)
		}
		b.Delta.Versions--
	}
	// renditions are kept by the page without the route in its fragment: several pages of one application share them
	root := page.KeyOf(page.WithoutRoute(record.Page.NormalizedURL))
	s.kv.Walk(kv.Scan{Prefix: keys.PageRenditions(root)}, func(key string, value []byte) bool {
		if s.dropRendition(b, key, value, now) {
			dead = append(dead, renditionBody(value))
		}
		return true
	})
	more, _ := s.forgetFetched(b, k)
	dead = append(dead, more...)
	b.Del(keys.Page(k))
	b.Del(keys.Versions(k))
	b.Del(keys.Summaries(k))
	if host := pageHost(record.Page.NormalizedURL); host != "" {
		b.Del(keys.PageOfHost(host, k))
	}
	b.Delta.Pages--
	if at.IsZero() {
		at = now
		if last := record.Page.ReadAt; !at.After(last) {
			at = last.Add(time.Millisecond) // the clock of the store that read it may be ahead
		}
	}
	masked := page.MaskString(record.Page.NormalizedURL) // it outlives the page
	job := s.addJob(b, Job{Kind: JobDeleted, Page: k, URL: masked, Time: at}, record.Job)
	s.noteDeletion(k, at)
	if err := s.tallies.DeletePage(k, b); err != nil {
		return fmt.Errorf("delete page %s: %w", k.Doc(), err)
	}
	s.seq = max(s.seq, job)
	wake(s.added)
	s.deleteLater(dead)
	s.deleteVisits(k)
	return nil
}

// Fields describes the binary form of a page's record to package wire, which writes and reads it. The order is the
// form: what is new comes last, behind f.Ends.
func (r *pageRecord) Fields(f wire.Fields) {
	p := &r.Page
	for _, s := range []*string{
		&p.Doc, &p.URL, &p.FinalURL, &p.CanonicalURL, &p.NormalizedURL, &p.Display, &p.Title, &p.Description,
		&p.ContentFormat, &p.Excerpt, &p.ContentHash, &p.ContentType,
	} {
		f.Text(s)
	}
	wire.Word(f, &p.Type)
	wire.Word(f, &p.Source)
	f.Meta(&p.Meta)
	wire.Rare(f, &p.GitHub)
	wire.Rare(f, &p.Error)
	for _, n := range []*int{&p.Tokens, &p.SizeBytes, &p.StatusCode} {
		wire.Integer(f, n)
	}
	wire.Integer(f, &p.Bytes)
	for _, t := range []*time.Time{&p.CreatedAt, &p.UpdatedAt, &p.FetchedAt} {
		f.Time(t)
	}
	f.Bool(&p.Stored)
	f.List(&p.Warnings)
	i := &p.Info
	for _, n := range []*int64{&i.FetchMS, &i.ConvertMS, &i.RenderMS, &i.LLMMS} {
		wire.Integer(f, n)
	}
	for _, n := range []*int{
		&i.LLMPromptTokens, &i.LLMCompletionTokens, &i.LLMTotalTokens, &i.HTMLChars, &i.MarkdownChars, &i.HTMLTokens,
	} {
		wire.Integer(f, n)
	}
	f.Text(&i.RenderEnd)
	f.Text(&i.LLMModel)
	f.Hash((*[32]byte)(&r.Source))
	wire.Integer(f, &r.Job)
	wire.Integer(f, &r.Edition)
	// older programs do not know of what follows, and read what has none
	if f.Ends(len(p.Preferences) == 0 && p.ReadAt.IsZero() && p.Unknown == "") {
		return
	}
	stated := &p.Preferences
	if f.Reading() {
		stated = nil
	}
	if wire.Rare(f, &stated); stated != nil {
		p.Preferences = *stated
	}
	if f.Ends(p.ReadAt.IsZero() && p.Unknown == "") {
		return
	}
	f.Time(&p.ReadAt)
	if f.Ends(p.Unknown == "") {
		return
	}
	wire.Word(f, &p.Unknown)
}
