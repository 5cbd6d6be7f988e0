package index

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/knowledge/excerpt"
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// ranked is a document that a search has found, with its score.
type ranked struct {
	doc   uint32
	score float64
	best  *match // its best passage
	shown *match // the one that tells most
	count int

	reranked float64     // what a reranker added to score
	defines  float64     // what it gained because it defines what the query names
	text     *landmarked // if it was read
}

// What the second and third passage of a document add to its score, as shares of theirs. See the ranking of package
// rank.
const secondPassage, thirdPassage = .3, .1

// groupByDocument makes hits: it ranks documents by their passages, which are in order: the score of the best, and
// decreasing shares of the second and third.
func groupByDocument(found []match) []ranked {
	at := map[uint32]int{}
	var docs []ranked
	for n := range found {
		m := &found[n]
		for _, owner := range m.owners {
			i, ok := at[owner]
			if !ok {
				i = len(docs)
				at[owner] = i
				docs = append(docs, ranked{doc: owner, best: m, shown: m})
			}
			d := &docs[i]
			if m.told() > d.shown.told() {
				d.shown = m
			}
			switch d.count {
			case 0:
				d.score = m.score
			case 1:
				d.score += secondPassage * m.score
			case 2:
				d.score += thirdPassage * m.score
			}
			d.count++
		}
	}
	sortRanked(docs)
	return docs
}

// sortRanked sorts hits, documents by their scores, the best first.
func sortRanked(docs []ranked) {
	slices.SortFunc(docs, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
	})
}

// shown is a hit that a search shows, with its texts, which those of later documents are compared with: the beginnings
// of their hashes.
type shown struct {
	best  uint64
	texts []uint64 // ascending

	key   page.Key
	title string

	// Hashes of the words of its first lines and of all, without where its links lead; zero until they are asked for.
	first, words [sha256.Size]byte
}

// present makes hits of the best documents, at most limit, and returns which those are. One whose best passage was
// shown already, that has nearly the same passages as one shown, or the same words, is named there. First is how many
// characters of the first hit's passage are shown; 0: as many as of others.
func (x *Index) present(ctx context.Context, results *Results, docs []ranked, parsed *query.Parsed,
	limit, first int,
) (hits []ranked, err error) {
	var before []*shown
	for _, d := range docs {
		if len(hits) == limit {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		key, ok := x.Document(d.doc)
		if !ok {
			continue // deleted since
		}
		a, err := x.Article(key)
		if err != nil || a.number != d.doc {
			continue
		}
		at, showing := a.placeOf(d.best.number), a.placeOf(d.shown.number)
		if at < 0 || showing < 0 {
			continue // indexed again since
		}
		now := x.shown(key, a, at)
		if i := slices.IndexFunc(before, now.repeats); i >= 0 {
			results.Hits[i].also(a.URL)
			continue
		}
		w := d.text
		if w == nil {
			md, err := x.o.Text(key)
			if errors.Is(err, store.ErrNotFound) {
				continue // deleted, and about to leave the index
			}
			w = newLandmarked(md)
		}
		saysTheSame := func(s *shown) bool { return x.sayTheSame(now, s, w.md) }
		if i := slices.IndexFunc(before, saysTheSame); i >= 0 {
			results.Hits[i].also(a.URL)
			continue
		}
		if len(hits) < landmarkedHits {
			w.readLandmarks(parsed.Names)
		}
		chars := excerpt.Chars
		if len(hits) == 0 {
			chars = cmp.Or(first, chars)
		}
		h := x.hit(key, a, &a.passages[showing], w, parsed, chars)
		h.Score = d.score
		before, hits, results.Hits = append(before, now), append(hits, d), append(results.Hits, h)
	}
	return hits, nil
}

// shown returns what a hit shows: the texts of a document, and that of its passage best: its nameplate only where it
// has nothing else.
func (x *Index) shown(key page.Key, a *Article, best int) *shown {
	if a.passages[best].isNameplate() {
		best = 0
	}
	s := &shown{key: key, title: a.Title, texts: make([]uint64, 0, len(a.passages))}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i := range a.passages {
		if i > 0 && a.passages[i].isNameplate() {
			continue
		}
		if hash, ok := x.hashIn(a.passages[i].number); ok {
			text := binary.BigEndian.Uint64(hash[:])
			s.texts = append(s.texts, text)
			if i == best {
				s.best = text
			}
		}
	}
	slices.Sort(s.texts)
	s.texts = slices.Compact(s.texts)
	return s
}

// repeats reports whether a hit says what one before says: its best passage has the same text, or four fifths of all
// have.
func (s *shown) repeats(before *shown) bool {
	if s.best == before.best {
		return true
	}
	both := 0
	for i, j := 0, 0; i < len(s.texts) && j < len(before.texts); {
		switch cmp.Compare(s.texts[i], before.texts[j]) {
		case -1:
			i++
		case 1:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return 5*both >= 4*(len(s.texts)+len(before.texts)-both)
}

// sayTheSame reports whether the document of a hit, whose text is md, has the same title and words as one shown before.
// Pages of two trees of a manual, one of which is not translated yet, differ in where their links lead.
func (x *Index) sayTheSame(now, before *shown, md []byte) bool {
	if now.title != before.title || len(now.texts) != len(before.texts) || len(md) == 0 { // it cannot be read
		return false
	}
	if now.first == [sha256.Size]byte{} {
		now.first = wordsOf(md, firstLines)
	}
	if before.first == [sha256.Size]byte{} { // it is read again, since few are: not all that are shown are kept
		text, err := x.o.Text(before.key)
		if err != nil {
			return false
		}
		before.first = wordsOf(text, firstLines)
	}
	if now.first != before.first {
		return false
	}
	if before.words == [sha256.Size]byte{} {
		text, err := x.o.Text(before.key)
		if err != nil {
			return false
		}
		before.words = wordsOf(text, len(text))
	}
	now.words = wordsOf(md, len(md))
	return now.words == before.words
}

// firstLines is how many lines of two documents are compared before all are: most that differ do so there, as pages of
// two editions of a manual.
const firstLines = 32

// wordsOf returns a hash of the words of a hit's text, of at most so many lines: hits with the same words say the same.
func wordsOf(md []byte, lines int) (sum [sha256.Size]byte) {
	words := sha256.New()
	for line := range bytes.Lines(md) {
		if lines--; lines < 0 {
			break
		}
		_, _ = io.WriteString(words, markdown.Plain(line)) // a hash takes all
	}
	words.Sum(sum[:0])
	return sum
}

// also names another document that says what the hit says.
func (h *Hit) also(url string) {
	if len(h.Also) < maxAlso && url != h.URL {
		h.Also = append(h.Also, url)
	}
}

// landmarkedHits is how many hits of a search have the landmarks of their documents read, which takes a millisecond.
const landmarkedHits = 50

// hit makes a hit of a document and of its passage p: of the one that defines what the query names, if one does. W.md
// is nil if the text cannot be read: then there is no snippet. That has at most chars code points.
func (x *Index) hit(key page.Key, a *Article, p *place, w *landmarked, parsed *query.Parsed, chars int) Hit {
	if w.defined.Landmark >= 0 {
		if i := a.passageAt(w.list[w.defined.Landmark].Start); i >= 0 {
			p = &a.passages[i]
		}
	}
	if p.isNameplate() && len(a.passages) > 1 {
		p = &a.passages[0]
	}
	h := Hit{
		Doc: key.Doc(), URL: x.o.Cleaner.Line(a.URL), Title: x.o.Cleaner.Line(a.Title), Kind: a.kind,
		Heading: x.o.Cleaner.Line(p.path), FetchedAt: a.Fetched,
	}
	if a.Fetched.Year() <= 1 {
		h.FetchedAt = a.Fetched.UTC()
	}
	if x.o.Metadata != nil {
		h.Metadata = x.o.Metadata(key)
	}
	if hash, ok := x.HashOf(p.number); ok {
		h.Passage = PassageID(key, hash)
		if text, ok := x.find(w.md, p, hash); ok {
			x.show(&h, key, text, w, p, parsed, chars)
		} else if w.md != nil {
			h.Heading = "" // nothing below it is there any more
		}
	}
	return h
}

// show sets the snippet of a hit and, where the landmarks are known, the one that it stands under with the link to
// that. Text is the passage.
func (x *Index) show(h *Hit, key page.Key, text string, w *landmarked, p *place, parsed *query.Parsed,
	chars int,
) {
	list, defined := w.list, w.defined
	if !p.isIn(w.md) || p.before+string(w.md[p.start:p.end])+p.after != text {
		list, defined.Landmark = nil, -1 // the text has changed since
	}
	parts, first := []string{text}, 0
	for first < len(list) && list[first].Start <= p.start {
		first++
	}
	if list != nil {
		parts = divide(w.md, p, list[first:])
	}
	// What is defined may be a heading over the one that the passage stands under: then the passage begins with it.
	if n := max(defined.Landmark-first+1, 0); defined.Landmark >= 0 && n < len(parts) {
		parts = parts[n : n+1]
	}
	s, marks, part := excerpt.Snippet(parsed.Spots, chars, parts...)
	if defined.Landmark >= 0 && parsed.OnlyNames {
		s, marks = excerpt.Opening(parsed.Spots, chars, parts[0]) // the rest has the name again, in examples
	}
	h.Snippet, h.Highlights = s, marks
	at := first + part - 1
	switch {
	case list == nil:
		return
	case defined.Landmark >= 0:
		at = defined.Landmark
	case part == 0:
		at = outline.LandmarkAt(list, p.start)
	}
	if at < 0 {
		return
	}
	h.Heading = x.o.Cleaner.Line(outline.PathOf(list, at))
	var anchors []page.Anchor
	if x.o.Anchors != nil {
		anchors = x.o.Anchors(key)
	}
	if fragment := outline.AnchorOf(list, at, defined.Term, anchors); fragment != "" {
		h.Link = page.WithFragment(h.URL, fragment)
	}
}
