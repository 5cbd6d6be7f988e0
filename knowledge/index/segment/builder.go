package segment

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/breath"
)

// Lengths are how many words the fields of a passage have, and what kind of passage it is.
type Lengths struct {
	Text        uint16
	Title, Path uint8
	Kind        Kind
}

// MaxTextLen is the largest length of a text, in words; a longer one counts as this.
const MaxTextLen = 4095

// field is a part of a passage that words stand in.
type field int

const (
	fieldText field = iota
	fieldTitle
	fieldPath
)

// Kind says what sets a passage apart from others: a sum of bits.
type Kind uint8

// What sets a passage apart.
const (
	LeadPassage Kind = 1 << iota // it begins the document that it was indexed for
	LinkPassage                  // it is hardly more than a list of links
	BarePassage                  // it was indexed without the fields of a document
	Nameplate                    // it has no text: it stands for its document
)

// String names the kind of a passage for people.
func (k Kind) String() string {
	switch {
	case k&LinkPassage != 0:
		return "list of links"
	case k&LeadPassage != 0:
		return "page's beginning"
	}
	return "text"
}

// A passage is a list of links if it has so many at least, and at most so many words for each.
const (
	fewLinks     = 5
	wordsPerLink = 5
)

// kindOf returns the kind of a passage of so many words.
func kindOf(text string, words int, lead bool) (kind Kind) {
	if lead {
		kind |= LeadPassage
	}
	if links := strings.Count(text, "]("); links >= fewLinks && words <= wordsPerLink*links {
		kind |= LinkPassage
	}
	return kind
}

// Averages are the mean lengths of the passages that have the field at all.
type Averages struct{ Text, Title, Path float64 }

// Builder collects the postings of new passages until they are written as a segment.
type Builder struct {
	stems map[string]stemmed // of the surface forms met; bounded

	words   map[string]word // by surface form
	terms   map[string]*buildTerm
	spare   []buildTerm // terms of the next new words
	Lengths []Lengths

	ord    uint32 // of the passage being added
	census analysis.Census
}

// stemmed is a surface form, and the term that it stands for.
type stemmed struct{ surface, stem string }

// word is where the occurrences of a surface form go.
type word struct {
	term      *buildTerm
	form      uint8 // bit
	languages uint8 // of which it is a function word
}

// buildTerm is a term of the passages being added: its forms, its postings, and the encoded places of all of them. Most
// terms are rare, and the slices of those lie in the term itself.
type buildTerm struct {
	forms    []string
	others   bool
	postings []buildPosting
	places   []byte
	prev     int // position before, in the field being read

	firstForm     [1]string
	firstPostings [2]buildPosting
	firstPlaces   [8]byte
}

// buildPosting is a [Posting] whose positions begin at from in the places of its term.
type buildPosting struct {
	ord, from          uint32
	text               uint16
	title, path, forms uint8
}

const (
	// maxStems bounds what is remembered of stems across segments.
	maxStems = 1 << 16

	// maxWords is how many words the passages had at most whose room the next use.
	maxWords = 1 << 14

	// termsAtOnce is how many terms are allocated together.
	termsAtOnce = 64
)

// NewBuilder returns a builder without passages.
func NewBuilder() *Builder {
	b := &Builder{stems: map[string]stemmed{}, words: map[string]word{}, terms: map[string]*buildTerm{}}
	b.Reset()
	return b
}

// Reset forgets the passages that were added.
func (b *Builder) Reset() {
	if len(b.words) > maxWords {
		b.words, b.terms = map[string]word{}, map[string]*buildTerm{}
	}
	clear(b.words)
	clear(b.terms)
	b.Lengths, b.ord = nil, 0
	if len(b.stems) > maxStems {
		b.stems = map[string]stemmed{}
	}
}

// Len returns how many passages were added.
func (b *Builder) Len() int { return len(b.Lengths) }

// saidGap is how many words what is said of a passage stands behind its text: no phrase goes across.
const saidGap = 100

// Add analyses a passage, what is said of it as a part of its text, and the words of its document's address, which
// count like words of the text but make it no longer; its ordinal is how many were added before.
func (b *Builder) Add(text, said, title, path, address string, lead bool) {
	b.ord = uint32(len(b.Lengths))
	var l Lengths
	n, _ := b.field(title, fieldTitle, 0)
	l.Title = uint8(min(n, 255))
	n, _ = b.field(path, fieldPath, 0)
	l.Path = uint8(min(n, 255))
	b.census = analysis.Census{}
	n, end := b.field(text, fieldText, 0)
	if language := b.census.Language(leastTold); language > analysis.English {
		b.inflected(language, text)
	}
	l.Kind = kindOf(text, n, lead)
	if said != "" {
		more, last := b.field(said, fieldText, end+saidGap)
		n, end = n+more, last
	}
	b.field(address, fieldText, end+saidGap)
	l.Text = uint16(min(n, MaxTextLen))
	b.Lengths = append(b.Lengths, l)
}

// Mark adds to the kind of the passage that was added last.
func (b *Builder) Mark(kind Kind) { b.Lengths[len(b.Lengths)-1].Kind |= kind }

// field analyses a field whose first word has the position from, and returns its length in words and its last position.
func (b *Builder) field(s string, f field, from int) (n, last int) {
	analysis.Tokenise(s, func(t analysis.Token) {
		if !t.Part {
			n++
		}
		t.Pos += from
		last = t.Pos
		b.occurrence(t, f)
	})
	return n, last
}

// occurrence notes a word of a field, and counts the languages of which it is a function word, by which the language of
// the passage is found.
func (b *Builder) occurrence(t analysis.Token, f field) {
	w, ok := b.words[string(t.Surface)]
	if !ok {
		w = b.word(string(t.Surface))
	}
	b.census.Count(w.languages)
	b.note(w, t, f)
}

// note notes an occurrence of a word.
func (b *Builder) note(w word, t analysis.Token, f field) {
	e := w.term
	var p *buildPosting
	if n := len(e.postings); n > 0 && e.postings[n-1].ord == b.ord {
		p = &e.postings[n-1]
	} else {
		e.postings = append(e.postings, buildPosting{ord: b.ord, from: uint32(len(e.places))})
		p = &e.postings[n]
		e.prev = 0
	}
	p.forms |= w.form
	switch f {
	case fieldTitle:
		if p.title == MaxFieldCount {
			return
		}
		p.title++
	case fieldPath:
		if p.path < MaxFieldCount {
			p.path++
		}
		return
	default:
		if p.text == 0 {
			e.prev = 0 // positions start at 0 in each field
		}
		if p.text == MaxTextLen {
			return
		}
		p.text++
	}
	e.places = binary.AppendUvarint(e.places, uint64(t.Pos-e.prev))
	e.prev = t.Pos
}

// word makes a place for a surface form.
func (b *Builder) word(surface string) word {
	known, ok := b.stems[surface]
	if !ok {
		known = stemmed{surface, strings.Clone(analysis.Stem(surface))}
		b.stems[surface] = known
	}
	w := b.formOf(known.stem, known.surface)
	w.languages = analysis.Languages(known.surface)
	b.words[known.surface] = w
	return w
}

// formOf makes a place for a form of a term. Forms beyond maxForms share one bit.
func (b *Builder) formOf(stem, surface string) word {
	e := b.terms[stem]
	if e == nil {
		if len(b.spare) == 0 {
			b.spare = make([]buildTerm, termsAtOnce)
		}
		e, b.spare = &b.spare[0], b.spare[1:]
		e.forms, e.postings, e.places = e.firstForm[:0], e.firstPostings[:0], e.firstPlaces[:0]
		b.terms[stem] = e
	}
	w := word{term: e, form: otherFormBit}
	if n := len(e.forms); n < maxForms {
		e.forms = append(e.forms, surface)
		w.form = 1 << n
	} else {
		e.others = true
	}
	return w
}

// leastTold is how many function words of a language a passage has at least that is one in that language.
const leastTold = 4

// inflected adds the words of a passage in another language than English once more, as that language has them.
func (b *Builder) inflected(l analysis.Language, text string) {
	analysis.Tokenise(text, func(t analysis.Token) {
		if t.Part {
			return
		}
		surface := string(t.Surface)
		key := string(rune('0'+l)) + ":" + surface // no surface form has a colon
		w, ok := b.words[key]
		if !ok {
			if stem := l.Stem(surface); stem != "" {
				w = b.formOf(stem, surface)
			}
			b.words[key] = w
		}
		if w.term != nil {
			b.note(w, t, fieldText)
		}
	})
}

// Finish writes the terms of the passages and completes their segment, whose table is made: out gets the blocks one
// after the other, and bound says what a posting is worth at most.
func (b *Builder) Finish(s *Segment, bound Bounds, out func(block []byte) error) error {
	s.ready()
	w := s.writer(bound, out)
	if err := b.write(w); err != nil {
		return err
	}
	s.refs, s.Bytes = w.refs, w.bytes
	return nil
}

// write hands the terms to a segment's writer, in order.
func (b *Builder) write(w *writer) error {
	names := make([]string, 0, len(b.terms))
	for name := range b.terms {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		breath.Take()
		e := b.terms[name]
		w.begin(name, e.forms, e.others)
		for i := range e.postings {
			p := &e.postings[i]
			to := uint32(len(e.places))
			if i+1 < len(e.postings) {
				to = e.postings[i+1].from
			}
			w.add(Posting{
				ord: p.ord, Text: p.text, Title: p.title, Path: p.path, Forms: p.forms, Places: e.places[p.from:to],
			})
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	return w.flush()
}
