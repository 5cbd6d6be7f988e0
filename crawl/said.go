package crawl

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/readthru/readthru/internal/markdown"
)

// What counts as saying something, and how much is remembered.
const (
	sentence     = 8       // different words, from which on a line says something of its own
	linesJudged  = 48      // of a page, those at its beginning
	factsOfPage  = 96      // that are remembered of one page
	mostFacts    = 1 << 20 // that are remembered of a crawl
	newOfHundred = 10      // words of a page in a hundred that must be in new facts, so that the page says something new
)

// said holds what the pages of a crawl have said, as hashes: each line that has enough words to say something of its
// own, as the set of its words, and else each word. Numbers count for nothing: a calendar says them anew on each page.
// The zero value is ready to use.
type said struct{ facts map[uint32]struct{} }

// judge reports whether a page of the crawl says nothing, or next to nothing, that others have not said, and returns
// the facts that are new, for add. It looks at the beginning of the page: what is endless repeats that as well.
func (s *said) judge(md string) (repeats bool, fresh []uint32) {
	all, inNew := 0, 0
	fact := func(words []string) {
		h := fnv.New32a()
		for _, word := range words {
			_, _ = h.Write(append([]byte(word), 0)) // never an error
		}
		sum := h.Sum32()
		all += len(words)
		if _, known := s.facts[sum]; known || slices.Contains(fresh, sum) {
			return
		}
		inNew += len(words)
		if len(fresh) < factsOfPage {
			fresh = append(fresh, sum)
		}
	}
	lines := 0
	for at := 0; at < len(md) && lines < linesJudged; {
		end := len(md)
		if n := strings.IndexByte(md[at:], '\n'); n >= 0 {
			end = at + n
		}
		words := wordsOf(markdown.Plain([]byte(md[at:end])))
		at = end + 1
		if len(words) > 0 {
			lines++
		}
		if len(words) >= sentence {
			fact(words)
			continue
		}
		for i := range words {
			fact(words[i : i+1])
		}
	}
	return inNew*100 < all*newOfHundred || all == 0, fresh
}

// add remembers facts that a page of the crawl has said, mostFacts at most.
func (s *said) add(facts []uint32) {
	if s.facts == nil {
		s.facts = map[uint32]struct{}{}
	}
	for _, fact := range facts {
		if len(s.facts) < mostFacts {
			s.facts[fact] = struct{}{}
		}
	}
}

// wordsOf returns the different words of a line, in lower case and sorted, without those that have digits in them: the
// set of a line's words is one fact, in whatever order they stand.
func wordsOf(line string) []string {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	words = slices.DeleteFunc(words, func(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) })
	slices.Sort(words)
	return slices.Compact(words)
}

// packFacts returns facts that pages have said as text, for the saved state of a crawl, and unpackFacts reads them.
// JSON would take three times as much for the numbers.
func packFacts(facts []uint32) string {
	raw := make([]byte, 0, 4*len(facts))
	for _, fact := range facts {
		raw = binary.LittleEndian.AppendUint32(raw, fact)
	}
	return base64.RawStdEncoding.EncodeToString(raw)
}

// unpackFacts reads facts that pages have said from the saved state of a crawl.
func unpackFacts(text string) (facts []uint32) {
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil { // damaged: the pages after it say these facts anew
		return nil
	}
	for ; len(raw) >= 4; raw = raw[4:] {
		facts = append(facts, binary.LittleEndian.Uint32(raw))
	}
	return facts
}
