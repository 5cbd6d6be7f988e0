package outline

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/markdown"
)

// Sizes of passages.
const (
	defaultPassageChars = 4000 // rule D11
	minPassageChars     = 320  // room for what a cut block repeats

	// passageTarget is what blocks are packed towards, in bytes: what the ranking was measured with.
	passageTarget = 1800

	// maxShort is how many passages of a document may be short because a first-level heading ends them, and mostPassages
	// about how many a large one may have at all: it bounds what a document of short sections costs.
	maxShort     = 2000
	mostPassages = 20_000
)

// Passage is a part of a document's markdown: a range, with what to repeat so that it stands alone.
type Passage struct {
	Start, End int      // bytes of the markdown
	Path       []string // headings it stands under, outermost first; plain text
	Before     string   // put before the range: the fence line or table header of a block that was cut
	After      string   // put after it: the closing fence of a block that was cut
	Hash       [16]byte // of its white-space-normalised text
	Said       string   // what a model said that it says: it is searched with the text; Split leaves it empty
}

// Text returns the passage as markdown that stands alone. md is the document's markdown.
func (p *Passage) Text(md []byte) string { return p.Before + string(md[p.Start:p.End]) + p.After }

// SplitOptions says how large passages are.
type SplitOptions struct {
	// MaxChars is the most code points a passage has, with all that it repeats. If zero, 4000; at least 320.
	MaxChars int
}

// Split cuts a markdown text without front matter into passages. They are ranges in the order of the text that leave
// out nothing but white space, except for the closing line of a fence that was cut, which Passage.After stands for, and
// headings over a fence or table that fits a passage only without them: those stand in Passage.Path. Fences (with at
// most 80 characters of marker) and tables are cut only when they are too long for a passage, and then each piece
// stands alone. Paths are shared between passages: never change them.
func Split(md []byte, o SplitOptions) []Passage {
	o.MaxChars = cmp.Or(o.MaxChars, defaultPassageChars)
	p := &packer{md: md, limit: max(o.MaxChars, minPassageChars)}
	p.target = min(passageTarget, p.limit)
	p.small = p.target / 4
	if len(md) > 1<<20 {
		p.small = max(p.small, len(md)/mostPassages)
	}
	for b := range markdown.Blocks(md) {
		p.add(b)
	}
	p.emit()
	return p.passages
}

// packer packs blocks into passages. The one being packed is the range from start to end; there is none while end is 0.
type packer struct {
	md       []byte
	limit    int // code points
	target   int // bytes: pack up to this
	small    int // bytes: under this, a passage takes in more
	passages []Passage
	short    int // passages that a first-level heading ended early
	headings headingStack
	scratch  []byte

	start, end int
	tail       int // where the headings begin that nothing stands under so far, after other text; else 0
	last       int // where that text ends
	chars      int // code points of before and the range
	before     string
	after      string // closes the fence that the range leaves open
	path       []string
	body       bool // it has more than headings
}

// add packs the next block of a document into the present passage, or ends that and begins another one with it. A block
// over the limit is cut.
func (p *packer) add(b markdown.Block) {
	switch {
	case b.Kind == markdown.Heading && isAside(b.Title(p.md)):
		p.endSection(b.Level)
	case b.Kind == markdown.Heading:
		p.endSection(b.Level)
		p.headings.push(b.Level, TitleText(b.Title(p.md)))
	default:
		p.define(&b)
	}
	if p.after != "" {
		p.flush()
	}
	chars, after := utf8.RuneCount(p.md[b.Start:b.End]), unclosed(&b)
	alone := chars+utf8.RuneCountInString(after) <= p.limit
	for p.end > 0 {
		total := p.chars + utf8.RuneCount(p.md[p.end:b.Start]) + chars
		small := p.end-p.start < p.small || !p.body && b.Kind != markdown.Heading
		if total+utf8.RuneCountInString(after) <= p.limit && (small || b.End-p.start <= p.target) {
			p.extend(&b, b.End, total, after)
			return
		}
		if !small || alone && p.body {
			p.flush()
			continue
		}
		if alone && (b.Kind == markdown.Code || b.Kind == markdown.Table) {
			p.drop() // the headings stand in the path
		}
		break
	}
	if p.end == 0 && alone {
		p.start = b.Start
		p.extend(&b, b.End, chars, after)
		return
	}
	p.cut(&b)
}

// define notes the term that a block defines as what the definition stands under, until a block that is indented no
// further ends it.
func (p *packer) define(b *markdown.Block) {
	terms, indent := b.Terms(p.md)
	if terms == nil {
		line, _ := markdown.LineAt(p.md, b.Start)
		indent = markdown.Indentation(line)
	}
	p.headings.pop(termLevel + indent)
	if terms != nil {
		p.headings.push(termLevel+indent, TitleText(terms[0]))
	}
}

// termLevel is the level of a term that is defined without indentation: below all headings.
const termLevel = 7

// endSection ends the passage where a heading begins the next section, unless it is too small to stand alone.
func (p *packer) endSection(level int) {
	if p.end == 0 || !p.body {
		return
	}
	if p.end-p.start >= p.small {
		p.flush()
	} else if level == 1 && p.short < maxShort {
		p.short++
		p.flush()
	}
}

// extend lets the passage go on to end, within b.
func (p *packer) extend(b *markdown.Block, end, chars int, after string) {
	switch {
	case b.Kind != markdown.Heading:
		p.tail = 0
		if !p.body {
			p.body, p.path = true, p.headings.path()
		}
	case p.body && p.tail == 0:
		p.tail, p.last = b.Start, p.end
	}
	p.end, p.chars, p.after = end, chars, after
}

// flush ends the passage, if there is one. Headings at its end begin the next.
func (p *packer) flush() {
	tail, end := p.tail, p.end
	if tail > 0 {
		p.end = p.last
	}
	p.emit()
	p.drop()
	if tail > 0 {
		p.start, p.end, p.chars = tail, end, utf8.RuneCount(p.md[tail:end])
	}
}

// emit adds the passage that was packed to the list, with the hash of its text, unless it is white space.
func (p *packer) emit() {
	if p.end == 0 || len(bytes.TrimSpace(p.md[p.start:p.end])) == 0 {
		return
	}
	if !p.body {
		p.path = p.headings.path()
	}
	out := Passage{Start: p.start, End: p.end, Path: p.path, Before: p.before, After: p.after}
	p.scratch = appendNormal(p.scratch[:0], p.before)
	p.scratch = appendNormal(p.scratch, p.md[p.start:p.end])
	p.scratch = appendNormal(p.scratch, p.after)
	out.Hash = normalHash(p.scratch)
	p.passages = append(p.passages, out)
}

// drop forgets the passage that is being packed.
func (p *packer) drop() {
	p.start, p.end, p.tail, p.last, p.chars, p.before, p.after, p.path, p.body = 0, 0, 0, 0, 0, "", "", nil, false
}

// cut packs a block that is too long, piece by piece: whole lines up to the target, and a line that is longer than a
// passage in its middle. The first piece joins what is being packed, the last stays open for more.
func (p *packer) cut(b *markdown.Block) {
	if b.Kind == markdown.Heading {
		b.Kind = markdown.Text // as long as that, it is more than its path keeps
	}
	c := newBlockCutter(p.md, b, p.limit)
	limit := p.limit - utf8.RuneCountInString(c.closing) - utf8.RuneCountInString(ellipsis)
	for p.end > 0 && p.chars+utf8.RuneCount(p.md[p.end:b.Start]) > p.limit/4 {
		p.flush()
	}
	for at, midline := b.Start, false; ; {
		if p.end == 0 {
			p.before = c.prefix(at, midline)
			p.start, p.end, p.chars = at, at, utf8.RuneCountInString(p.before)
		}
		p.chars += utf8.RuneCount(p.md[p.end:at])
		next := c.pieceEnd(at, p.target-(at-p.start), limit-p.chars)
		if c.looksLikeFence(at, next) {
			if p.start < at {
				p.flush()
				continue
			}
			p.before += ellipsis
		}
		p.extend(b, next, p.chars+utf8.RuneCount(p.md[at:next]), c.closing)
		if at, midline = c.nextPiece(next); at >= c.end {
			break
		}
		p.flush()
	}
	if b.Kind != markdown.Code || b.Close < 0 {
		p.after = unclosed(b)
	} else if more := utf8.RuneCount(p.md[p.end:b.End]); p.chars+more <= p.limit {
		p.end, p.chars, p.after = b.End, p.chars+more, ""
	}
}

// unclosed returns what closes a fence that has no closing line, even if the list item around it ends the fence in the
// text: a passage may begin after the marker of the item. A fence in a quote and one that is indented like code need
// none: no text after them is taken for code.
func unclosed(b *markdown.Block) string {
	if b.Kind != markdown.Code || b.Close >= 0 || b.Fence.Quoted || len(b.Fence.Lead()) > 3 {
		return ""
	}
	return "\n" + b.Fence.Closing()
}

// PassageHash returns the hash that a passage with this text has.
func PassageHash(text string) [16]byte { return normalHash(appendNormal(nil, text)) }

// normalHash hashes the text of a passage that appendNormal made.
func normalHash(text []byte) [16]byte {
	sum := sha256.Sum256(bytes.TrimRight(text, " "))
	return [16]byte(sum[:16])
}

// appendNormal appends the text of a passage, to be hashed, with every run of white space as one space, and none at the
// very beginning.
func appendNormal[T string | []byte](to []byte, text T) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c > ' ' && c < utf8.RuneSelf {
			from := i
			for i++; i < len(text) && text[i] > ' ' && text[i] < utf8.RuneSelf; i++ {
			}
			to = append(to, text[from:i]...)
			continue
		}
		size, space := 1, unicode.IsSpace(rune(c))
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			space = unicode.IsSpace(r)
		}
		if !space {
			to = append(to, text[i:i+size]...)
		} else if len(to) > 0 && to[len(to)-1] != ' ' {
			to = append(to, ' ')
		}
		i += size
	}
	return to
}
