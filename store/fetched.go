package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// The limits of the sets of pages that sessions have fetched. What exceeds them is removed, the oldest first.
const (
	maxSessions     = 128
	maxFetched      = 500      // pages of a session
	maxFetchedBytes = 16 << 20 // of their content together
	maxSessionName  = 200      // bytes
)

// fetchedAgain is how long a page fetched again with the same content is not written again, in milliseconds.
const fetchedAgain = 60_000

// FetchedSet is what a session has fetched (rule B37). The set keeps the content of its pages, even when the store
// drops that version of a page or the cache its response.
type FetchedSet struct {
	Pages   []*page.Page // without content; the one fetched longest ago first
	Bytes   int64        // of their content
	Dropped int64        // pages removed from the set so far to make room for newer ones
}

// fetchedList is the record of a session's set under fs/: which pages, in which order, but not what they say.
type fetchedList struct {
	dropped int64
	members []fetched // oldest first
}

// fetched is a page in a session's set. The page's record lies apart, under f/, and its content is a body.
type fetched struct {
	key  page.Key
	body Sum
	ms   int64 // when it was obtained last
	size int64 // of the content, in bytes
}

// PutFetched adds a page with its content (markdown or text) to a session's set. It returns how many pages were
// removed to make room; the page itself is one of them when its content is too large. The store keeps the content:
// never change it afterwards. The error wraps ErrNoSession or ErrFull.
func (s *Store) PutFetched(name string, p *page.Page, content []byte) (gone int, err error) {
	if err := CheckSession(name); err != nil {
		return 0, err
	}
	if len(content) > maxFetchedBytes {
		return 1, nil
	}
	c := body.Of(content)
	m := fetched{key: page.KeyOf(p.NormalizedURL), body: c.Sum, ms: keys.Millis(time.Now()), size: c.Length}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{}
	list := s.fetchedList(b, name)
	at := list.find(m.key)
	// An agent that asks for the same page again and again costs no write.
	if at >= 0 && list.members[at].body == m.body && m.ms-list.members[at].ms < fetchedAgain {
		return 0, nil
	}
	before := body.Refer(s.kv, b, c, false, time.Now())
	var dead []Sum
	if at >= 0 {
		dead = s.dropMember(b, name, list, at)
	}
	b.Set(keys.Fetched(name, m.key), encodeFetched(p, s.cleaner.Edition))
	list.members = append(list.members, m)
	for list.bytes() > maxFetchedBytes || len(list.members) > maxFetched {
		dead = append(dead, s.dropMember(b, name, list, 0)...)
		list.dropped++
		gone++
	}
	b.Set(keys.FetchedList(name), list.encode())
	dead = append(dead, s.useSession(b, name, m.ms)...)
	if err := s.kv.Apply(append(before, b)...); err != nil {
		return 0, fmt.Errorf("store fetched page: %w", err)
	}
	s.deleteLater(dead)
	return gone, nil
}

// fetchedRecord is what f/ holds of a page.
type fetchedRecord struct {
	page.Record
	page.Visits // as the page was put into the set

	Edition int `json:"edition,omitempty"` // of the Cleaner that its texts passed
}

// encodeFetched encodes what a session's set keeps of a page. The measurements of the fetch are not kept, and a very
// large Meta is not: it is written in one transaction with up to a megabyte of content.
func encodeFetched(p *page.Page, edition int) []byte {
	r := fetchedRecord{p.Record, p.Visits, edition}
	r.Info = page.Info{}
	r.ContentFormat = cmp.Or(r.ContentFormat, "markdown")
	r.FetchedAt = cmp.Or(r.FetchedAt, time.Now().UTC().Truncate(time.Second))
	value := wire.JSON(&r)
	if len(value) > kv.MaxBatchBytes/8 {
		r.Meta = nil
		value = wire.JSON(&r)
	}
	return value
}

// dropMember removes a fetched page from a session's list, deletes its record in b, and returns its body if that has no
// other reference. The caller holds s.mu.
func (s *Store) dropMember(b *kv.Batch, name string, list *fetchedList, at int) (dead []Sum) {
	m := list.members[at]
	list.members = slices.Delete(list.members, at, at+1)
	b.Del(keys.Fetched(name, m.key))
	if body.Unrefer(s.kv, b, m.body, false, time.Now()) {
		dead = []Sum{m.body}
	}
	return dead
}

// Fetched returns what a session has fetched; an empty set for an unknown session.
func (s *Store) Fetched(name string) FetchedSet {
	list := s.fetchedList(&kv.Batch{}, name)
	set := FetchedSet{Bytes: list.bytes(), Dropped: list.dropped}
	for _, m := range list.members {
		if p, _, err := s.fetchedPage(name, &m); err == nil {
			p.LastVisitedAt = time.UnixMilli(m.ms).UTC()
			set.Pages = append(set.Pages, p)
		}
	}
	return set
}

// FetchedPage returns a page of a session's set with its content. The error is ErrNotFound.
func (s *Store) FetchedPage(name string, k page.Key) (*page.Page, error) {
	list := s.fetchedList(&kv.Batch{}, name)
	at := list.find(k)
	if at < 0 {
		return nil, ErrNotFound
	}
	p, read, err := s.fetchedPage(name, &list.members[at])
	if err != nil {
		return nil, err
	}
	content, err := read()
	if err != nil {
		return nil, err
	}
	p.LastVisitedAt = time.UnixMilli(list.members[at].ms).UTC()
	p.Content = string(content)
	return p, nil
}

// DropFetched removes a page from a session's set, and reports whether it was in it.
func (s *Store) DropFetched(name string, k page.Key) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{Must: true}
	dead, was := s.dropFetched(b, name, k)
	return was, s.applyDrop(b, dead)
}

// ForgetFetched removes a page from the sets of all sessions, and returns from how many.
func (s *Store) ForgetFetched(k page.Key) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{Must: true}
	dead, n := s.forgetFetched(b, k)
	return n, s.applyDrop(b, dead)
}

// ClearFetched empties a session's set, and returns the number of its pages.
func (s *Store) ClearFetched(name string) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{Must: true}
	dead, n := s.clearFetched(b, name)
	if n > 0 {
		all := slices.DeleteFunc(s.sessions(b), func(o session) bool { return o.name == name })
		b.Set(keys.Sessions, encodeSessions(all))
	}
	return n, s.applyDrop(b, dead)
}

// ClearAllFetched empties the sets of all sessions, and returns the number of their pages.
func (s *Store) ClearAllFetched() (total int, err error) {
	s.mu.Lock()
	names := s.sessions(&kv.Batch{})
	s.mu.Unlock()
	for _, o := range names {
		n, err := s.ClearFetched(o.name)
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// applyDrop commits deletions from sets of fetched pages, and has the bodies deleted that only these sets referred to.
// The caller holds s.mu.
func (s *Store) applyDrop(b *kv.Batch, dead []Sum) error {
	if b.Len() == 0 {
		return nil
	}
	if err := s.kv.Apply(b); err != nil {
		return fmt.Errorf("drop fetched pages: %w", err)
	}
	s.deleteLater(dead)
	return nil
}

// dropFetched is [Store.DropFetched] as a part of b: it takes a page out of a session's set. It returns the page's body
// if nothing else refers to it. The caller holds s.mu.
func (s *Store) dropFetched(b *kv.Batch, name string, k page.Key) (dead []Sum, was bool) {
	list := s.fetchedList(b, name)
	at := list.find(k)
	if at < 0 {
		return nil, false
	}
	dead = s.dropMember(b, name, list, at)
	b.Set(keys.FetchedList(name), list.encode())
	return dead, true
}

// forgetFetched is [Store.ForgetFetched] as a part of b: it takes a page out of the sets of all sessions, also when the
// page is deleted. The caller holds s.mu.
func (s *Store) forgetFetched(b *kv.Batch, k page.Key) (dead []Sum, n int) {
	for _, o := range s.sessions(b) {
		more, was := s.dropFetched(b, o.name, k)
		if was {
			n++
		}
		dead = append(dead, more...)
	}
	return dead, n
}

// clearFetched deletes a session's set of fetched pages in b, and returns the bodies to delete and the number of pages.
// The caller holds s.mu.
func (s *Store) clearFetched(b *kv.Batch, name string) (dead []Sum, n int) {
	list := s.fetchedList(b, name)
	for n = 0; len(list.members) > 0; n++ {
		dead = append(dead, s.dropMember(b, name, list, len(list.members)-1)...)
	}
	b.Del(keys.FetchedList(name))
	return dead, n
}

// sweepFetched drops the sets of fetched pages of sessions that were last used before a time. It is a part of the
// sweep.
func (s *Store) sweepFetched(until time.Time) error {
	s.mu.Lock()
	var old []string
	for _, o := range s.sessions(&kv.Batch{}) {
		if o.ms < keys.Millis(until) {
			old = append(old, o.name)
		}
	}
	s.mu.Unlock()
	for _, name := range old {
		if _, err := s.ClearFetched(name); err != nil {
			return err
		}
	}
	return nil
}

// fetchedPage returns the record of a page in a session's set, cleaned if an older cleaner let it pass, and a function
// that reads its content. Listings do not call that, because content is up to 16 MiB.
func (s *Store) fetchedPage(name string, m *fetched) (p *page.Page, content func() ([]byte, error), err error) {
	value, err := s.kv.Get(keys.Fetched(name, m.key))
	if err != nil {
		return nil, nil, err
	}
	var r fetchedRecord
	if json.Unmarshal(value, &r) != nil {
		return nil, nil, ErrNotFound
	}
	content = func() ([]byte, error) {
		md, err := s.readWhole(m.body)
		if err == nil && s.cleaner.Behind(r.Edition) {
			md = s.cleaner.Markdown(md)
		}
		return md, err
	}
	return &page.Page{Record: s.cleaner.record(r.Record, r.Edition, content), Visits: r.Visits}, content, nil
}

// fetchedList returns a session's list with the changes of b. It is empty if there is no list or it is damaged.
func (s *Store) fetchedList(b *kv.Batch, name string) *fetchedList {
	list := &fetchedList{}
	value, err := s.kv.GetIn(b, keys.FetchedList(name))
	if err != nil {
		return list
	}
	d := wire.NewDecoder(value)
	list.dropped = d.Int()
	for n := d.Int(); n > 0 && !d.Bad(); n-- {
		var m fetched
		copy(m.key[:], d.Raw(len(m.key)))
		copy(m.body[:], d.Raw(len(m.body)))
		m.ms, m.size = d.Int(), d.Int()
		list.members = append(list.members, m)
	}
	if d.Bad() {
		return &fetchedList{}
	}
	return list
}

// encode returns the record of the list, which [Store.fetchedList] reads.
func (l *fetchedList) encode() []byte {
	var e wire.Encoder
	e.Int(l.dropped)
	e.Int(int64(len(l.members)))
	for _, m := range l.members {
		e.Raw(m.key[:])
		e.Raw(m.body[:])
		e.Int(m.ms)
		e.Int(m.size)
	}
	return e
}

// find returns where a page stands in the list, or -1.
func (l *fetchedList) find(k page.Key) int {
	return slices.IndexFunc(l.members, func(m fetched) bool { return m.key == k })
}

// bytes returns the length of the content of all pages in the list.
func (l *fetchedList) bytes() (n int64) {
	for _, m := range l.members {
		n += m.size
	}
	return n
}
