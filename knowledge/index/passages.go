package index

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// passageFor returns the passage that stands for a text in a document that is being indexed, if there is one. If not,
// it is to be indexed: bare says without the fields.
//
// A text has at most two passages. The first is indexed with the fields of its document, and stands for the text in
// every document that has the same ones. The second is bare, and stands for it in all others. So no word leads to a
// document that does not have it, also when the one that had it is deleted or renamed; and a section that ten thousand
// pages share is indexed twice, not ten thousand times. A document whose first passage is bare has a nameplate.
//
// Old is the document as it was before, nil if it was not indexed. Now holds its passages so far: where a text stands
// twice in a document, the fields of its first place count.
func (c *change) passageFor(a, old *Article, hash [16]byte, f fields, now map[uint32]bool) (
	number uint32, bare, ok bool,
) {
	if number, ok = c.find(c.bare, &c.x.bare, hash); ok && now[number] {
		return number, true, true
	}
	number, ok = c.find(c.own, &c.x.byHash, hash)
	if !ok {
		return 0, false, false
	}
	owners := c.ownersOf(number)
	switch {
	case now[number]:
		return number, false, true
	case len(owners) == 0: // it is dying in this change
		return 0, false, false
	case c.fieldsOf(number, owners[0], a, old) == f:
		return number, false, true
	case len(owners) == 1 && owners[0] == a.number:
		return 0, false, false
	}
	number, ok = c.find(c.bare, &c.x.bare, hash)
	return number, true, ok
}

// find returns the passage with a text among those of this change and of the index.
func (c *change) find(fresh map[[16]byte]uint32, indexed *hashTable, hash [16]byte) (uint32, bool) {
	if number, ok := fresh[hash]; ok {
		return number, true
	}
	return indexed.get(hash)
}

// fieldsOf returns the fields that a passage was indexed with, which are those of all its owners: owner is one of them.
// They are the zero value if they cannot be read.
func (c *change) fieldsOf(number, owner uint32, a, old *Article) fields {
	of := c.articles[owner]
	switch {
	case owner == a.number:
		of = old
	case of == nil:
		key, ok := c.x.Document(owner)
		if !ok {
			return fields{}
		}
		of, _ = c.x.Article(key)
	}
	if of == nil {
		return fields{}
	}
	for i := range of.passages {
		if p := &of.passages[i]; p.number == number {
			return fields{of.Title, p.path, of.address(i == 0), p.said, i == 0}
		}
	}
	return fields{}
}

// add gives a number to a new passage in the transaction. The caller adds its text to the segment.
func (c *change) add(hash [16]byte, bare bool) uint32 {
	number := c.base + uint32(len(c.hashes))
	c.hashes = append(c.hashes, hash)
	if bare {
		c.bare[hash] = number
	} else {
		c.own[hash] = number
	}
	c.owners[number] = nil
	return number
}

// nameplate returns the passage of a document that stands for its title and address alone: it has no text.
func (c *change) nameplate(key page.Key, a *Article) uint32 {
	h := sha256.New()
	for _, s := range []string{"nameplate", string(key[:]), a.Title, a.address(true)} {
		h.Write([]byte(s + "\x00"))
	}
	hash := [16]byte(h.Sum(nil))
	if number, ok := c.find(c.own, &c.x.byHash, hash); ok && len(c.ownersOf(number)) > 0 {
		return number
	}
	number := c.add(hash, false)
	c.x.build.Add("", "", a.Title, "", a.address(true), true)
	c.x.build.Mark(segment.Nameplate)
	return number
}

// isNameplate reports whether a place is that of a document's nameplate.
func (p *place) isNameplate() bool { return p.start == p.end && p.before == "" }

// furtherWords returns, for the fields of a passage, the words of a text that another one lacks, each once.
func furtherWords(text, other string) string {
	known := map[string]bool{}
	note := func(s string, f func(word string)) {
		for _, word := range strings.FieldsFunc(clip.Bytes(s, outline.MaxPath), isSeparator) {
			if lower := strings.ToLower(word); !known[lower] {
				known[lower] = true
				f(word)
			}
		}
	}
	note(other, func(string) {})
	var further []string
	note(text, func(word string) { further = append(further, word) })
	return strings.Join(further, " ")
}

// VectorHash returns the hash under which the vector of a passage is kept: that of its text, and another one for a bare
// passage, whose vector is made without title and headings.
func VectorHash(hash [16]byte, bare bool) [16]byte {
	if bare {
		hash[0] ^= 1
	}
	return hash
}

// HasVectorHash reports whether a live passage has its vector under a hash.
func (x *Index) HasVectorHash(hash [16]byte) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if _, ok := x.byHash.get(hash); ok {
		return true
	}
	_, ok := x.bare.get(VectorHash(hash, true))
	return ok
}

// fields are what is indexed with the text of a passage: what its document and its place say of it.
type fields struct {
	title, path, address string
	said                 uint64 // the sum of what was said of it, see SumOf
	lead                 bool   // it begins the document
}

// isSeparator reports whether a character parts the words of a passage's fields.
func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// PassagesIn returns how many live passages some documents have; one that several have counts once, and
// nameplates do not.
func (x *Index) PassagesIn(docs *roaring.Bitmap) (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.segments {
		for i, number := range s.Numbers {
			switch i := uint32(i); {
			case s.Dead.Has(i), s.Lengths[i].Kind&segment.Nameplate != 0:
			case !s.Orphans.Has(i) && docs.Contains(s.Owners[i]), slices.ContainsFunc(x.shared[number], docs.Contains):
				n++
			}
		}
	}
	return n
}

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

// isIn reports whether a text is long enough for the place of a passage: it may be another than the one that was
// indexed.
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

// PassageID returns the id of a passage of a document, as it is shown: the doc and the first 8 hex digits of the hash.
func PassageID(doc page.Key, hash [16]byte) string {
	return doc.Doc() + "-" + hex.EncodeToString(hash[:4])
}

// placeOf returns which of the passages has a number, -1 if none.
func (a *Article) placeOf(number uint32) int {
	return slices.IndexFunc(a.passages, func(p place) bool { return p.number == number })
}

// passageAt returns the passage that holds a place of the text, or else the first behind it: headings over a block that
// just fits a passage are in none. It is -1 if there is none.
func (a *Article) passageAt(at int) int {
	return slices.IndexFunc(a.passages, func(p place) bool { return at < p.end })
}

// divide cuts a passage where landmarks (headings, definitions) begin in it, so that a snippet is of one place.
func divide(md []byte, p *place, inside []outline.Landmark) (parts []string) {
	at := p.start
	for _, l := range inside {
		if l.Start >= p.end {
			break
		}
		parts = append(parts, string(md[at:l.Start]))
		at = l.Start
	}
	parts = append(parts, string(md[at:p.end])+p.after)
	parts[0] = p.before + parts[0]
	return parts
}

// HashOf returns the hash of a live passage; ok is false if there is none of this number.
func (x *Index) HashOf(number uint32) (hash [16]byte, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.hashIn(number)
}

// hashIn is HashOf, the hash of a passage, for a caller who holds mu.
func (x *Index) hashIn(number uint32) (hash [16]byte, ok bool) {
	s := segment.Of(x.segments, number)
	if s == nil {
		return hash, false
	}
	ord, ok := s.Ordinal(number)
	if ok {
		hash = s.Hashes[ord]
	}
	return hash, ok
}

// Passages returns the numbers of all live passages, segment by segment, with the hashes that their vectors are kept
// under. Passages that change during the walk may be among them or not.
func (x *Index) Passages() iter.Seq2[uint32, [16]byte] {
	return func(yield func(uint32, [16]byte) bool) {
		x.mu.RLock()
		segments := slices.Clone(x.segments)
		x.mu.RUnlock()
		for _, s := range segments {
			x.mu.RLock()
			dead := slices.Clone(s.Dead)
			x.mu.RUnlock()
			for i, number := range s.Numbers {
				if !dead.Has(uint32(i)) && !yield(number, VectorHash(s.Hashes[i], s.Lengths[i].Kind&segment.BarePassage != 0)) {
					return
				}
			}
		}
	}
}

// PassagesByHash returns the live passages with a text hash: at most two, see passageFor.
func (x *Index) PassagesByHash(hash [16]byte) (numbers []uint32) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, t := range []*hashTable{&x.byHash, &x.bare} {
		if n, ok := t.get(hash); ok {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// PassagesOf returns the passages of a document in its order; a passage that stands in it twice is there twice.
func (x *Index) PassagesOf(key page.Key) []uint32 {
	a, err := x.Article(key)
	if err != nil {
		return nil
	}
	numbers := make([]uint32, len(a.passages))
	for i := range a.passages {
		numbers[i] = a.passages[i].number
	}
	return numbers
}

// owners returns the documents that have a passage, its owners, ascending. The caller holds mu.
func (x *Index) owners(s *segment.Segment, ord uint32) []uint32 {
	shared := x.shared[s.Numbers[ord]]
	if s.Dead.Has(ord) {
		return nil
	}
	owners := make([]uint32, 0, len(shared)+1)
	if !s.Orphans.Has(ord) {
		owners = append(owners, s.Owners[ord])
	}
	owners = append(owners, shared...)
	slices.Sort(owners)
	return owners
}
