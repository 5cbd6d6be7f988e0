package index

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/breath"
)

// lengths are how many words the fields of a passage have, and what kind of passage it is.
type lengths struct {
	text        uint16
	title, path uint8
	kind        passageKind
}

// maxTextLen is the largest length of a text, in words; a longer one counts as this.
const maxTextLen = 4095

// field is a part of a passage that words stand in.
type field int

const (
	fieldText field = iota
	fieldTitle
	fieldPath
)

// passageKind says what sets a passage apart from others: a sum of bits.
type passageKind uint8

const (
	leadPassage passageKind = 1 << iota // it begins the document that it was indexed for
	linkPassage                         // it is hardly more than a list of links
	barePassage                         // it was indexed without the fields of a document, see passageFor
	nameplate                           // it has no text, see change.nameplate
)

// A passage is a list of links if it has so many at least, and at most so many words for each.
const (
	fewLinks     = 5
	wordsPerLink = 5
)

// kindOf returns the kind of a passage of so many words.
func kindOf(text string, words int, lead bool) (kind passageKind) {
	if lead {
		kind |= leadPassage
	}
	if links := strings.Count(text, "]("); links >= fewLinks && words <= wordsPerLink*links {
		kind |= linkPassage
	}
	return kind
}

// averages are the mean lengths of the passages that have the field at all.
type averages struct{ text, title, path float64 }

// segmentBuilder collects the postings of new passages until they are written as a segment.
type segmentBuilder struct {
	stems map[string]string // of the surface forms met; bounded

	words   map[string]word // by surface form
	terms   map[string]*buildTerm
	lengths []lengths

	ord    uint32 // of the passage being added
	census analysis.Census
}

// word is where the occurrences of a surface form go.
type word struct {
	term      *buildTerm
	form      uint8 // bit
	languages uint8 // of which it is a function word
}

type buildTerm struct {
	forms    []string
	others   bool
	postings []buildPosting
	places   []byte
	prev     int // position before, in the field being read
}

type buildPosting struct {
	posting
	from int // its positions begin here in places
}

// maxStems bounds what is remembered of stems across segments.
const maxStems = 1 << 16

func newSegmentBuilder() *segmentBuilder {
	b := &segmentBuilder{stems: map[string]string{}}
	b.reset()
	return b
}

func (b *segmentBuilder) reset() {
	b.words, b.terms, b.lengths, b.ord = map[string]word{}, map[string]*buildTerm{}, nil, 0
	if len(b.stems) > maxStems {
		b.stems = map[string]string{}
	}
}

func (b *segmentBuilder) len() int { return len(b.lengths) }

// saidGap is how many words what is said of a passage stands behind its text: no phrase goes across.
const saidGap = 100

// add analyses a passage, what is said of it as a part of its text, and the words of its document's address, which
// count like words of the text but make it no longer; its ordinal is how many were added before.
func (b *segmentBuilder) add(text, said, title, path, address string, lead bool) {
	b.ord = uint32(len(b.lengths))
	var l lengths
	n, _ := b.field(title, fieldTitle, 0)
	l.title = uint8(min(n, 255))
	n, _ = b.field(path, fieldPath, 0)
	l.path = uint8(min(n, 255))
	b.census = analysis.Census{}
	n, end := b.field(text, fieldText, 0)
	if language := b.census.Language(leastTold); language > analysis.English {
		b.inflected(language, text)
	}
	l.kind = kindOf(text, n, lead)
	if said != "" {
		more, last := b.field(said, fieldText, end+saidGap)
		n, end = n+more, last
	}
	b.field(address, fieldText, end+saidGap)
	l.text = uint16(min(n, maxTextLen))
	b.lengths = append(b.lengths, l)
}

// mark adds to the kind of the passage that was added last.
func (b *segmentBuilder) mark(kind passageKind) { b.lengths[len(b.lengths)-1].kind |= kind }

// field analyses a field whose first word has the position from, and returns its length in words and its last position.
func (b *segmentBuilder) field(s string, f field, from int) (n, last int) {
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

func (b *segmentBuilder) occurrence(t analysis.Token, f field) {
	w, ok := b.words[string(t.Surface)]
	if !ok {
		w = b.word(string(t.Surface))
	}
	b.census.Count(w.languages)
	b.note(w, t, f)
}

// note notes an occurrence of a word.
func (b *segmentBuilder) note(w word, t analysis.Token, f field) {
	e := w.term
	var p *buildPosting
	if n := len(e.postings); n > 0 && e.postings[n-1].ord == b.ord {
		p = &e.postings[n-1]
	} else {
		e.postings = append(e.postings, buildPosting{posting: posting{ord: b.ord}, from: len(e.places)})
		p = &e.postings[n]
		e.prev = 0
	}
	p.forms |= w.form
	switch f {
	case fieldTitle:
		if p.title == maxFieldCount {
			return
		}
		p.title++
	case fieldPath:
		if p.path < maxFieldCount {
			p.path++
		}
		return
	default:
		if p.text == 0 {
			e.prev = 0 // positions start at 0 in each field
		}
		if p.text == maxTextLen {
			return
		}
		p.text++
	}
	e.places = binary.AppendUvarint(e.places, uint64(t.Pos-e.prev))
	e.prev = t.Pos
}

// word makes a place for a surface form.
func (b *segmentBuilder) word(surface string) word {
	stem, ok := b.stems[surface]
	if !ok {
		stem = strings.Clone(analysis.Stem(surface))
		b.stems[surface] = stem
	}
	w := b.formOf(stem, surface)
	w.languages = analysis.Languages(surface)
	b.words[surface] = w
	return w
}

// formOf makes a place for a form of a term.
func (b *segmentBuilder) formOf(stem, surface string) word {
	e := b.terms[stem]
	if e == nil {
		e = &buildTerm{}
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
func (b *segmentBuilder) inflected(l analysis.Language, text string) {
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

// finish writes the terms of the passages and completes their segment, whose table is made: out gets the blocks one
// after the other, and bound says what a posting is worth at most.
func (b *segmentBuilder) finish(s *segment, bound bounds, out func(block []byte) error) error {
	s.ready()
	w := s.writer(bound, out)
	if err := b.write(w); err != nil {
		return err
	}
	s.refs, s.bytes = w.refs, w.bytes
	return nil
}

// write hands the terms to a segment's writer, in order.
func (b *segmentBuilder) write(w *segmentWriter) error {
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
			to := len(e.places)
			if i+1 < len(e.postings) {
				to = e.postings[i+1].from
			}
			p.places = e.places[p.from:to]
			w.add(p.posting)
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	return w.flush()
}
