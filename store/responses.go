package store

import (
	"crypto/rand"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"

	"github.com/readthru/readthru/store/wire"
)

// EntryID identifies a stored response.
type EntryID [16]byte

// Response is a stored response without its content, which is stored under Body. Responses returned are shared: never
// change them.
type Response struct {
	ID EntryID // set by PutResponse when zero
	// the cache key URI: scheme, lower-case host, no default port, path, raw query, no fragment
	URL          string
	Vary         []string          // lower-case names of the selecting fields
	Selecting    map[string]string // their normalised values in the request that was answered
	Partition    string            // private mode: credential partition; else empty
	Class        string            // private to cache
	Status       int
	Header       http.Header
	RequestTime  time.Time
	ResponseTime time.Time
	Body         Sum
	Length       int64     // of the stored content
	Offset       int64     // a 206: position of its first byte
	Total        int64     // a 206: length of the complete representation, -1 unknown
	Retain       time.Time // useless afterwards; the sweep deletes it. Zero: kept until evicted
	Tags         []string  // purge tags
}

const (
	// maxVariants bounds the stored responses of one URI: an origin may name a field in Vary that never repeats.
	maxVariants = 64

	// maxTags and maxTag bound the purge tags of a stored response, and the bytes of one. What is over is not indexed.
	maxTags = 64
	maxTag  = 256

	// maxRetain bounds how long a response can claim to be of use, so that a clock that was wrong keeps nothing for
	// ever.
	maxRetain = 366 * 24 * time.Hour
)

// Responses returns the stored responses of a URI, newest first; none is no error. Hot ones come from memory.
func (s *Store) Responses(uri string) ([]*Response, error) {
	if list, ok := s.hot.all.Get(uri); ok {
		return list, nil
	}
	u := keys.URIOf(uri)
	generation := s.hot.generation(u)
	v, list := s.loadResponses(&kv.Batch{}, uri, u)
	if len(list) > 0 || len(v.IDs) == 0 { // that there is none is kept, too: its response may soon be stored
		s.hot.loaded(uri, u, generation, list)
	}
	return list, nil
}

// loadResponses reads the record of a URI and its stored responses, newest first, as b would make them.
func (s *Store) loadResponses(b *kv.Batch, uri string, u keys.URI) (variants, []*Response) {
	value, err := s.kv.GetIn(b, keys.Variants(u))
	if err != nil {
		return variants{URL: uri}, nil
	}
	v, ok := decodeVariants(value)
	if !ok || v.URL != uri {
		return variants{URL: uri}, nil
	}
	var list []*Response
	for _, id := range v.IDs {
		value, err := s.kv.GetIn(b, keys.Entry(id))
		if err != nil {
			continue
		}
		if r, ok := decodeResponse(value); ok && r.ID == id && r.URL == uri {
			list = append(list, r)
		}
	}
	newestFirst(list)
	return v, list
}

// newestFirst sorts stored responses by the time at which they were received; RFC 9111 §4 has the cache take the most
// recent of several that suit.
func newestFirst(list []*Response) {
	slices.SortStableFunc(list, func(a, b *Response) int { return b.ResponseTime.Compare(a.ResponseTime) })
}

// PutResponse stores r with its content; a stored response with the same ID, or the same URL, Selecting, Partition and
// Class (and for a 206 the same offset), is replaced, and gets an ID of its own. So are those of the URI that are
// obsolete, a function that must be quick, because other writes wait; nil: none. If content has a method Whole, what it
// returns is kept, unless that is nil, and content is not read. Body, Length and ID are filled in on r. It does not
// wait for the disk, and what it stored is visible to the next call. The error is that of content, ErrFull, or says
// that the head is too large; nothing is stored then.
func (s *Store) PutResponse(r *Response, content io.Reader, obsolete func(*Response) bool) error {
	c, err := body.Read(s.kv, content)
	if err != nil {
		return err
	}
	stored := r.clone()
	stored.Body, stored.Length = c.Sum, c.Length
	if stored.ID == (EntryID{}) {
		_, _ = rand.Read(stored.ID[:])
	}
	now, drops := time.Now(), s.kv.GivenUp()
	stored.clampRetain(now)
	if err := s.putResponse(stored, c, obsolete, now); err != nil {
		s.kv.Release(c.Reserved)
		return err
	}
	r.ID, r.Body, r.Length = stored.ID, stored.Body, stored.Length
	s.keepBody(c, drops)
	if s.kv.Totals().Bytes > s.maxSize.Load() {
		s.wakeHousekeeper()
	}
	return nil
}

// putResponse commits a stored response whose content was read into c: it replaces those in its place, those that are
// obsolete, and the oldest over maxVariants.
func (s *Store) putResponse(r *Response, c *body.Content, obsolete func(*Response) bool, now time.Time) error {
	u := keys.URIOf(r.URL)
	record := r.encode()
	s.mu.Lock()
	defer s.mu.Unlock()
	drops := s.kv.GivenUp()
	b := &kv.Batch{}
	v, list := variants{URL: r.URL}, []*Response(nil)
	// memory may know that there is none, which saves reads from the disk for most new responses
	if known, ok := s.hot.all.Get(r.URL); !ok || len(known) > 0 {
		v, list = s.loadResponses(b, r.URL, u)
	}
	before := body.Refer(s.kv, b, c, true, now)

	var dead []Sum
	keep := []*Response{r}
	for i, old := range list {
		if old.ID == r.ID || old.sameSlot(r) || i >= maxVariants-1 || obsolete != nil && obsolete(old) {
			dead = append(dead, s.dropEntry(b, u, old, now)...)
		} else {
			keep = append(keep, old)
		}
	}
	b.Set(keys.Entry(r.ID), record)
	b.Delta.Responses++
	if !r.Retain.IsZero() {
		b.Set(keys.Expiry(expiryHour(r.Retain), u, r.ID), nil)
	}
	indexByTag(b, u, keep)
	if host := keys.HostOf(r.URL); host != "" && len(list) == 0 {
		b.Set(keys.OfHost(host, u), []byte(r.URL))
	}
	b.Delta.Responses -= int64(len(v.IDs) - len(list)) // heads that were damaged
	newestFirst(keep)
	s.setVariants(b, u, v, keep, keys.Hour(now))
	if err := s.kv.ApplyReserved(c.Reserved, append(before, b)...); err != nil {
		return err
	}
	s.responsesChanged(r.URL, u, keep, drops)
	s.deleteLater(dead)
	return nil
}

// setVariants writes the record of a URI, which lists its stored responses, and moves its last use to hour in the index
// that eviction walks.
func (s *Store) setVariants(b *kv.Batch, u keys.URI, v variants, list []*Response, hour uint32) {
	if v.Used != hour {
		if v.Used != 0 {
			b.Del(keys.LastUse(v.Used, u))
		}
		b.Set(keys.LastUse(hour, u), nil)
	}
	v.Used = hour
	v.IDs = v.IDs[:0]
	for _, r := range list {
		v.IDs = append(v.IDs, r.ID)
	}
	b.Set(keys.Variants(u), v.encode())
}

// dropEntry deletes a stored response in b, with its keys in the indexes of expiries and tags, but not from its URI's
// record. It returns its body if nobody else refers to it.
func (s *Store) dropEntry(b *kv.Batch, u keys.URI, r *Response, now time.Time) (dead []Sum) {
	b.Del(keys.Entry(r.ID))
	if !r.Retain.IsZero() {
		b.Del(keys.Expiry(expiryHour(r.Retain), u, r.ID))
	}
	for _, tag := range indexTags(r.Tags) {
		b.Del(keys.Tag(tag, u))
	}
	b.Delta.Responses--
	if body.Unrefer(s.kv, b, r.Body, true, now) {
		dead = append(dead, r.Body)
	}
	return dead
}

// UpdateResponse replaces the head of the stored response with r.ID (freshening by 304 or HEAD): content is not
// touched. The error is ErrNotFound when it is no longer there, or ErrFull.
func (s *Store) UpdateResponse(r *Response) error {
	r = r.clone()
	r.clampRetain(time.Now())
	record := r.encode()
	u := keys.URIOf(r.URL)
	s.mu.Lock()
	defer s.mu.Unlock()
	drops := s.kv.GivenUp()
	b := &kv.Batch{}
	_, list := s.loadResponses(b, r.URL, u)
	i := slices.IndexFunc(list, func(o *Response) bool { return o.ID == r.ID })
	if i < 0 || list[i].Body != r.Body || list[i].Length != r.Length {
		return ErrNotFound
	}
	old := list[i]
	if !old.Retain.IsZero() {
		b.Del(keys.Expiry(expiryHour(old.Retain), u, old.ID))
	}
	if !r.Retain.IsZero() {
		b.Set(keys.Expiry(expiryHour(r.Retain), u, r.ID), nil)
	}
	for _, tag := range indexTags(old.Tags) {
		b.Del(keys.Tag(tag, u))
	}
	list = slices.Clone(list)
	list[i] = r
	indexByTag(b, u, list)
	b.Set(keys.Entry(r.ID), record)
	if err := s.kv.Apply(b); err != nil {
		return err
	}
	newestFirst(list)
	s.responsesChanged(r.URL, u, list, drops)
	return nil
}

// sameSlot reports whether r and o answer the same requests, so that one replaces the other.
func (r *Response) sameSlot(o *Response) bool {
	partial := r.Status == http.StatusPartialContent
	return r.URL == o.URL && r.Partition == o.Partition && r.Class == o.Class && maps.Equal(r.Selecting, o.Selecting) &&
		partial == (o.Status == http.StatusPartialContent) && (!partial || r.Offset == o.Offset)
}

// clone returns a copy of the response that the caller of the store cannot change afterwards.
func (r *Response) clone() *Response {
	c := *r
	c.Header = r.Header.Clone()
	c.Vary = slices.Clone(r.Vary)
	c.Selecting = maps.Clone(r.Selecting)
	c.Tags = slices.Clone(r.Tags)
	return &c
}

// clampRetain bounds until when the response claims to be of use.
func (r *Response) clampRetain(now time.Time) {
	if limit := now.Add(maxRetain); r.Retain.After(limit) {
		r.Retain = limit
	}
}

// expiryHour is the first hour in which what must be kept until t is useless: the index of expiries has whole hours.
func expiryHour(t time.Time) uint32 { return keys.Hour(t) + 1 }

// indexByTag puts a URI in b under the tags of all its stored responses: one that went may have shared a tag with
// others.
func indexByTag(b *kv.Batch, u keys.URI, list []*Response) {
	for _, r := range list {
		for _, tag := range indexTags(r.Tags) {
			b.Set(keys.Tag(tag, u), []byte(r.URL))
		}
	}
}

// indexTags returns the purge tags of a response that can stand in a key, at most maxTags.
func indexTags(tags []string) []string {
	var list []string
	for _, tag := range tags {
		if tag != "" && len(tag) <= maxTag && !slices.Contains([]byte(tag), 0) && len(list) < maxTags {
			list = append(list, tag)
		}
	}
	return list
}

// Use opens the content of a stored response that answers a request, and notes the use. The error is that of Body.
func (s *Store) Use(r *Response) (*Body, error) {
	opened, err := s.Body(r.Body)
	if err == nil {
		s.Touch(r.URL)
	}
	return opened, err
}

// UseLater is Use for content that may not be read at all; see [Store.Later].
func (s *Store) UseLater(r *Response) *Body {
	s.Touch(r.URL)
	return s.Later(r)
}

// Touch notes a use of a URI's stored responses, for eviction. Batched, at most once an hour reaches the disk.
func (s *Store) Touch(uri string) {
	if s.uses.note(keys.URIOf(uri), keys.Hour(time.Now())) {
		s.wakeHousekeeper()
	}
}

// encode returns the record of a stored response, without its content. Maps are written in the order of their keys, so
// that equal responses have equal records.
func (r *Response) encode() []byte {
	var e wire.Encoder
	e.Raw(r.ID[:])
	e.Raw(r.Body[:])
	e.Text(r.URL)
	e.List(r.Vary)
	e.Int(int64(len(r.Selecting)))
	for _, name := range slices.Sorted(maps.Keys(r.Selecting)) {
		e.Text(name)
		e.Text(r.Selecting[name])
	}
	e.Text(r.Partition)
	e.Text(r.Class)
	e.Int(int64(r.Status))
	e.Int(int64(len(r.Header)))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		e.Text(name)
		e.List(r.Header[name])
	}
	e.Time(r.RequestTime)
	e.Time(r.ResponseTime)
	e.Int(r.Length)
	e.Int(r.Offset)
	e.Int(r.Total)
	e.Time(r.Retain)
	e.List(r.Tags)
	return e
}

// ResponseForm is the form that Encode writes and DecodeResponse reads.
const ResponseForm = 1

// Encode returns r, without its content, in a form for other stores.
func (r *Response) Encode() []byte { return r.encode() }

// DecodeResponse reads what Encode wrote, and reports whether it did. The response has no ID.
func DecodeResponse(b []byte) (*Response, bool) {
	r, ok := decodeResponse(b)
	r.ID = EntryID{}
	return r, ok
}

// decodeResponse reads what encode wrote, and reports whether it did.
func decodeResponse(b []byte) (*Response, bool) {
	d := wire.NewDecoder(b)
	r := &Response{}
	copy(r.ID[:], d.Raw(len(r.ID)))
	copy(r.Body[:], d.Raw(len(r.Body)))
	r.URL = d.Text()
	r.Vary = d.List()
	if n := d.Count(); n > 0 {
		r.Selecting = make(map[string]string, min(n, 64))
		for range n {
			if d.Bad() {
				return r, false
			}
			name := d.Text()
			r.Selecting[name] = d.Text()
		}
	}
	r.Partition = d.Text()
	r.Class = d.Text()
	r.Status = int(d.Int())
	n := d.Count()
	r.Header = make(http.Header, min(n, 64))
	for range n {
		if d.Bad() {
			return r, false
		}
		name := d.Text()
		r.Header[name] = d.List()
	}
	r.RequestTime = d.Time()
	r.ResponseTime = d.Time()
	r.Length = d.Int()
	r.Offset = d.Int()
	r.Total = d.Int()
	r.Retain = d.Time()
	r.Tags = d.List()
	return r, d.OK()
}

// variants is the record of a URI: which responses are stored for it, and when it was last used.
type variants struct {
	URL  string
	Used uint32 // hour of its last use
	IDs  []EntryID
}

// encode returns the record that decodeVariants reads.
func (v *variants) encode() []byte {
	var e wire.Encoder
	e.Text(v.URL)
	e.Int(int64(v.Used))
	e.Int(int64(len(v.IDs)))
	for _, id := range v.IDs {
		e.Raw(id[:])
	}
	return e
}

// decodeVariants reads the record of a URI, the list of its stored responses, and reports whether it is whole.
func decodeVariants(b []byte) (v variants, ok bool) {
	d := wire.NewDecoder(b)
	v.URL = d.Text()
	v.Used = uint32(d.Int())
	for range d.Count() {
		var id EntryID
		copy(id[:], d.Raw(len(id)))
		v.IDs = append(v.IDs, id)
	}
	return v, d.OK()
}
