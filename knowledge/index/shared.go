package index

import (
	"crypto/sha256"
	"strings"
	"unicode"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
)

// fields are what is indexed with the text of a passage: what its document and its place say of it.
type fields struct {
	title, path, address string
	said                 uint64 // the sum of what was said of it, see SumOf
	lead                 bool   // it begins the document
}

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

// address returns what is indexed with the passages of a document beside title and path: the words of its address, and
// with lead those of its title element that its title lacks.
func (a *Article) address(lead bool) string {
	words := addressWords(a.URL)
	if lead && a.also != "" {
		words += " " + a.also
	}
	return words
}

// furtherWords returns the words of a text that another one lacks, each once.
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

func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

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
