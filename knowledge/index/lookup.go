package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// find returns the text of a passage of a document, whose text is md. Where the document changed since it was indexed,
// the passage is looked for in what it has become; ok is false when it is no more.
func (x *Index) find(md []byte, p *place, hash [16]byte) (text string, ok bool) {
	if p.isNameplate() {
		return "", false
	}
	if p.isIn(md) {
		if text := p.before + string(md[p.start:p.end]) + p.after; outline.PassageHash(text) == hash {
			return text, true
		}
	}
	for _, p := range outline.Split(md, x.o.Split) {
		if p.Hash == hash {
			return p.Text(md), true
		}
	}
	return "", false
}

// isIn reports whether a text is long enough for a place: it may be another than the one that was indexed.
func (p *place) isIn(md []byte) bool { return p.start >= 0 && p.start <= p.end && p.end <= len(md) }

// Passage is a passage by its number.
type Passage struct {
	Number uint32
	Key    page.Key // a document that has it: the one with the smallest number
	Owners []uint32 // documents that have it, ascending
	Doc    Document // of key, without Markdown
	Path   string
	start  int
	end    int
	Hash   [16]byte
	Bare   bool // see passageFor
	Text   string
	Said   string // of it, as far as whoever asked for it needs that
}

// Passage returns a live passage, or store.ErrNotFound.
func (x *Index) Passage(number uint32) (Passage, error) {
	f := Passage{Number: number}
	x.mu.RLock()
	if s := segment.Of(x.segments, number); s != nil {
		if ord, ok := s.Ordinal(number); ok {
			f.Hash, f.Owners, f.Bare = s.Hashes[ord], x.owners(s, ord), s.Lengths[ord].Kind&segment.BarePassage != 0
		}
	}
	x.mu.RUnlock()
	for _, owner := range f.Owners {
		if key, ok := x.Document(owner); ok && x.locate(&f, key) {
			return f, nil
		}
	}
	return f, store.ErrNotFound
}

// locate fills in where a passage stands in a document, and reports false if it is not to be found there.
func (x *Index) locate(f *Passage, key page.Key) bool {
	a, err := x.Article(key)
	if err != nil {
		return false
	}
	at := slices.IndexFunc(a.passages, func(p place) bool { return p.number == f.Number })
	if at < 0 {
		return false
	}
	md, err := x.o.Text(key)
	if err != nil {
		return false
	}
	p := &a.passages[at]
	f.Key, f.Path, f.start, f.end = key, x.o.Cleaner.Line(p.path), p.start, p.end
	f.Doc = Document{
		Key: key, URL: x.o.Cleaner.Line(a.URL), Title: x.o.Cleaner.Line(a.Title), Host: a.host, Kind: a.kind,
		FetchedAt: a.Fetched,
	}
	var ok bool
	f.Text, ok = x.find(md, p, f.Hash)
	return ok
}

// AboutPassages names the documents of passages for the ledger: a few URLs, masked.
func AboutPassages(list []Passage) string {
	var urls []string
	for i := range list {
		if u := page.MaskString(list[i].Doc.URL); !slices.Contains(urls, u) {
			urls = append(urls, u)
		}
	}
	if len(urls) > 3 {
		return fmt.Sprintf("%s and %d more documents", strings.Join(urls[:3], " "), len(urls)-3)
	}
	return strings.Join(urls, " ")
}
