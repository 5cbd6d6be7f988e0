package knowledge

import (
	"slices"

	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// find returns the text of a passage of a document, whose text is md. Where the document changed since it was indexed,
// the passage is looked for in what it has become; ok is false when it is no more.
func (x *searchIndex) find(md []byte, p *place, hash [16]byte) (text string, ok bool) {
	if p.isNameplate() {
		return "", false
	}
	if p.isIn(md) {
		if text := p.before + string(md[p.start:p.end]) + p.after; outline.PassageHash(text) == hash {
			return text, true
		}
	}
	for _, p := range outline.Split(md, x.o.split) {
		if p.Hash == hash {
			return p.Text(md), true
		}
	}
	return "", false
}

// isIn reports whether a text is long enough for a place: it may be another than the one that was indexed.
func (p *place) isIn(md []byte) bool { return p.start >= 0 && p.start <= p.end && p.end <= len(md) }

// foundPassage is a passage by its number.
type foundPassage struct {
	number uint32
	key    page.Key // a document that has it: the one with the smallest number
	owners []uint32 // documents that have it, ascending
	doc    Document // of key, without Markdown
	path   string
	start  int
	end    int
	hash   [16]byte
	bare   bool // see passageFor
	text   string
	said   string // of it, as far as whoever asked for it needs that
}

// passage returns a live passage, or store.ErrNotFound.
func (x *searchIndex) passage(number uint32) (foundPassage, error) {
	f := foundPassage{number: number}
	x.mu.RLock()
	if s := segmentOf(x.segments, number); s != nil {
		if ord, ok := s.ordinal(number); ok {
			f.hash, f.owners, f.bare = s.hashes[ord], x.owners(s, ord), s.lengths[ord].kind&barePassage != 0
		}
	}
	x.mu.RUnlock()
	for _, owner := range f.owners {
		if key, ok := x.document(owner); ok && x.locate(&f, key) {
			return f, nil
		}
	}
	return f, store.ErrNotFound
}

// locate fills in where a passage stands in a document, and reports false if it is not to be found there.
func (x *searchIndex) locate(f *foundPassage, key page.Key) bool {
	a, err := x.article(key)
	if err != nil {
		return false
	}
	at := slices.IndexFunc(a.passages, func(p place) bool { return p.number == f.number })
	if at < 0 {
		return false
	}
	md, err := x.o.text(key)
	if err != nil {
		return false
	}
	p := &a.passages[at]
	f.key, f.path, f.start, f.end = key, x.o.cleaner.Line(p.path), p.start, p.end
	f.doc = Document{
		Key: key, URL: x.o.cleaner.Line(a.url), Title: x.o.cleaner.Line(a.title), Host: a.host, Kind: a.kind,
		FetchedAt: a.fetched,
	}
	var ok bool
	f.text, ok = x.find(md, p, f.hash)
	return ok
}
