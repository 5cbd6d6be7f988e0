package store

import (
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// Rendition is markdown made from the content of a stored response or page, with what readers would otherwise count and
// hash again. Renditions returned are shared: never change them.
type Rendition struct {
	Source Sum    // the body it was made from; zero for one kept by page
	Recipe string // converter version + options, short
	// what a site recipe did for it, in words; empty without one
	SiteRecipe string
	Next       string // the URL of the next page of the same content, as a site recipe finds it
	// without front matter; for From == Negotiated or Alternate the bytes as received
	Markdown                                   []byte `json:"-"`
	From                                       page.Source
	Title, Description, CanonicalURL, PageType string
	Meta                                       page.Meta
	Tokens, HTMLTokens, HTMLChars              int
	Warnings                                   []string
	// only for renditions kept by page: when it is removed. Zero: with the page
	Expires  time.Time
	FinalURL string // what relative links were resolved against
	Rendered bool   // made of what a browser saw

	Fresh     time.Time // for renditions kept by page: when it must be validated. Zero: with its response
	Validator string    // entity tag of the source, if the source is not stored
	Bytes     int64     // length of the source, if the source is not stored
	Readme    Span      // of a repository: its README in Markdown
	SymbolMap Span      // of a repository: its symbol map in Markdown

	FetchedAt     time.Time // when the content was first fetched
	ContentHash   string    // hex SHA-256 of the markdown without front matter
	MarkdownChars int       // Unicode code points, of the same
	Excerpt       string    // of the same, at most 300 characters

	// Links are those of the document that a browser made, which is not stored. If nil, they are unknown.
	Links *Links `json:",omitempty"`
}

// Links are the links of a document.
type Links struct {
	URLs []string // absolute, each once, in the document's order
	Cut  bool     // there are more
}

// Span is a range of bytes in a text. The zero value is empty.
type Span struct{ From, To int }

// Of returns the range of text, which is the rendition's.
func (s Span) Of(text []byte) string {
	if s.From < 0 || s.To > len(text) || s.From >= s.To {
		return ""
	}
	return string(text[s.From:s.To])
}

// renditionRecord is what r/ and rp/ hold: the markdown lies apart.
type renditionRecord struct {
	Rendition
	Body Sum
}

// Rendition finds one by its source and recipe. Because relative links are resolved against the page's URL, the recipe
// of a caller contains it. The error is ErrNotFound.
func (s *Store) Rendition(source Sum, recipe string) (*Rendition, error) {
	r, err := s.rendition(keys.Rendition(source, recipe), recipe)
	if err == nil && r.Source != source {
		return nil, ErrNotFound
	}
	return r, err
}

// PutRendition keeps r as long as its source's body is stored (and for an hour when it is not). The store keeps
// r.Markdown: never change it afterwards. The error is ErrFull.
func (s *Store) PutRendition(r *Rendition) error {
	return s.putRendition(keys.Rendition(r.Source, r.Recipe), r, func(b *kv.Batch, now time.Time) {
		if m, found := body.ManifestOf(s.kv, b, r.Source); !found || m.Refs == 0 {
			b.Set(keys.Watch(keys.Hour(now), r.Source), nil)
		}
	})
}

// PageRendition returns a rendition kept by page: one not made from the origin's bytes alone (browser, markdown.new,
// model). The error is ErrNotFound, also after it has expired.
func (s *Store) PageRendition(k page.Key, recipe string) (*Rendition, error) {
	r, err := s.rendition(keys.PageRendition(k, recipe), recipe)
	if err == nil && !r.Expires.IsZero() && !time.Now().Before(r.Expires) {
		return nil, ErrNotFound
	}
	return r, err
}

// PutPageRendition keeps r until r.Expires, or as long as the page. The store keeps r.Markdown: never change it
// afterwards. The error is ErrFull.
func (s *Store) PutPageRendition(k page.Key, r *Rendition) error {
	key := keys.PageRendition(k, r.Recipe)
	return s.putRendition(key, r, func(b *kv.Batch, _ time.Time) {
		if !r.Expires.IsZero() {
			b.Set(keys.PageRenditionExpiry(expiryHour(r.Expires), key), nil)
		}
	})
}

// rendition reads a rendition with its markdown, from memory or from the disk. The recipe is compared, because keys
// hold only a hash of it. The error is ErrNotFound.
func (s *Store) rendition(key, recipe string) (*Rendition, error) {
	if r, ok := s.renditions.Get(key); ok {
		if r.Recipe != recipe {
			return nil, ErrNotFound
		}
		return r, nil
	}
	seq := s.kv.Changes()
	record, err := kv.Decode[renditionRecord](s.kv, key)
	if err != nil {
		return nil, err
	}
	if record.Recipe != recipe {
		return nil, ErrNotFound
	}
	markdown, err := s.readShort(record.Body)
	if err != nil {
		return nil, err
	}
	whole := record.Rendition
	whole.Markdown = markdown
	s.kv.IfUnchanged(seq, func() { s.keepHot(key, &whole) }) // else it may have been replaced or deleted
	return &whole, nil
}

// keepHot keeps a rendition in memory when its markdown is small: at most 64 KiB.
func (s *Store) keepHot(key string, r *Rendition) {
	if len(r.Markdown) <= maxHotBody {
		size := len(r.Markdown) + len(key) + len(r.Recipe) + 1024
		if r.Links != nil {
			for _, u := range r.Links.URLs {
				size += len(u) + 16
			}
		}
		s.renditions.Add(key, r, int64(size))
	}
}

// putRendition stores a rendition under a key in the place of an old one. Index adds what makes the rendition end: an
// expiry, or a watch over its source.
func (s *Store) putRendition(key string, r *Rendition, index func(b *kv.Batch, now time.Time)) error {
	c := body.Of(r.Markdown)
	now := time.Now()
	kept := *r
	s.mu.Lock()
	defer s.mu.Unlock()
	drops := s.kv.GivenUp()
	b := &kv.Batch{}
	before := body.Refer(s.kv, b, c, false, now)
	var dead []Sum
	if old, err := s.kv.Get(key); err == nil && s.dropRendition(b, key, old, now) {
		dead = append(dead, renditionBody(old))
	}
	b.Set(key, wire.Pack(&renditionRecord{kept, c.Sum}))
	index(b, now)
	if err := s.kv.Apply(append(before, b)...); err != nil {
		return err
	}
	s.kv.IfKept(drops, func() { s.keepHot(key, &kept) })
	s.deleteLater(dead)
	return nil
}

// dropRendition deletes a rendition in b, given its record, and reports whether nobody refers to its markdown any more.
func (s *Store) dropRendition(b *kv.Batch, key string, record []byte, now time.Time) (last bool) {
	b.Del(key)
	var r renditionRecord
	if !wire.Unmarshal(record, &r) {
		return false
	}
	if key[:2] == "rp" && !r.Expires.IsZero() {
		b.Del(keys.PageRenditionExpiry(expiryHour(r.Expires), key))
	}
	return body.Unrefer(s.kv, b, r.Body, false, now)
}

// renditionBody returns the hash of the markdown that a rendition's record refers to; zero for a damaged record.
func renditionBody(record []byte) Sum {
	var r renditionRecord
	if !wire.Unmarshal(record, &r) {
		return Sum{} // it has none
	}
	return r.Body
}

// Fields describes the binary form of a rendition's record, as that of a page is described.
func (r *renditionRecord) Fields(f wire.Fields) {
	f.Hash((*[32]byte)(&r.Source))
	f.Hash((*[32]byte)(&r.Body))
	for _, s := range []*string{
		&r.Recipe, &r.Title, &r.Description, &r.CanonicalURL, &r.PageType, &r.FinalURL, &r.Validator, &r.ContentHash,
		&r.Excerpt,
	} {
		f.Text(s)
	}
	wire.Word(f, &r.From)
	f.Meta(&r.Meta)
	for _, n := range []*int{
		&r.Tokens, &r.HTMLTokens, &r.HTMLChars, &r.MarkdownChars, &r.Readme.From, &r.Readme.To, &r.SymbolMap.From,
		&r.SymbolMap.To,
	} {
		wire.Integer(f, n)
	}
	wire.Integer(f, &r.Bytes)
	f.List(&r.Warnings)
	for _, t := range []*time.Time{&r.Expires, &r.Fresh, &r.FetchedAt} {
		f.Time(t)
	}
	f.Bool(&r.Rendered)
	// older programs do not know of what follows, and read what has none
	if f.Ends(r.SiteRecipe == "" && r.Links == nil) {
		return
	}
	f.Text(&r.SiteRecipe)
	f.Text(&r.Next)
	if f.Ends(r.Links == nil) {
		return
	}
	if f.Reading() {
		r.Links = new(Links)
	}
	f.List(&r.Links.URLs)
	f.Bool(&r.Links.Cut)
}
