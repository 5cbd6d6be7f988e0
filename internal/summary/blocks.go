package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/markdown"
)

// blockKind is a kind of block of markdown.
type blockKind int

const (
	paragraph blockKind = iota
	heading
	code
	item  // of a list
	table // a row of a table
)

// block is a block of a page's markdown.
type block struct {
	kind    blockKind
	level   int    // of a heading
	text    string // plain, on one line; code is unchanged
	lang    string // of code
	raw     string // markdown on one line
	section string // text of the nearest heading above, in lower case
}

var (
	bullet  = lazy.Pattern(`^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?`)
	ruleRow = lazy.Pattern(`^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$`)
	spent   = lazy.Pattern(`^\s*(?:=+|-{2,}|\*{3,}|_{3,})\s*$`)
)

// blocksOf splits the markdown of a page into blocks for the extractive summary, in one pass.
func blocksOf(text string) []block {
	l := blockList{md: []byte(text)}
	for b := range markdown.Blocks(l.md) {
		switch b.Kind {
		case markdown.Heading:
			title, _ := markdown.OwnID(b.Title(l.md))
			if text := plain(string(title)); text != "" {
				l.section = strings.ToLower(text)
				l.add(block{kind: heading, level: b.Level, text: text})
			}
		case markdown.Code:
			l.code(&b)
		default:
			for line := range strings.Lines(text[b.Start:b.End]) {
				l.line(strings.TrimRight(line, " \t\r\n"))
			}
			l.end()
		}
	}
	return l.blocks
}

// blockList collects blocks.
type blockList struct {
	md      []byte
	blocks  []block
	open    []string // lines of the current block
	kind    blockKind
	section string
}

func (l *blockList) add(b block) {
	b.section = l.section
	l.blocks = append(l.blocks, b)
}

// end ends the paragraph, item or row that is being gathered.
func (l *blockList) end() {
	if len(l.open) > 0 {
		raw := strings.Join(l.open, " ")
		if text := plain(raw); text != "" {
			l.add(block{kind: l.kind, text: text, raw: raw})
		}
	}
	l.open, l.kind = nil, paragraph
}

// code adds a block of code with its language, without its fences.
func (l *blockList) code(b *markdown.Block) {
	_, from := markdown.LineAt(l.md, b.Start)
	to := b.End
	if b.Close >= 0 {
		to = b.Close
	}
	var lines []string
	for line := range strings.Lines(string(l.md[min(from, to):to])) {
		lines = append(lines, strings.TrimRight(line, " \t\r\n"))
	}
	if len(lines) > 0 || b.Close >= 0 {
		lang, _, _ := strings.Cut(strings.ToLower(b.Fence.Info), " ")
		l.add(block{kind: code, text: strings.Join(lines, "\n"), lang: lang})
	}
}

// line reads a line of a text or a table.
func (l *blockList) line(line string) {
	bare := strings.TrimLeft(line, " \t>")
	switch {
	case bare == "", spent().MatchString(line), ruleRow().MatchString(line), linkDef().MatchString(line):
		l.end()
	case strings.HasPrefix(bare, "|"):
		l.end()
		l.kind, l.open = table, []string{strings.Trim(bare, "| ")}
		l.end()
	case bullet().MatchString(line):
		l.end()
		l.kind, l.open = item, []string{bullet().ReplaceAllString(line, "")}
	default:
		l.open = append(l.open, bare)
	}
}

var (
	shortRef = lazy.Pattern(`\[([^\[\]]{1,80})\]`)
	footnote = lazy.Pattern(`\[\^?\d{1,3}\]`)
)

// plain returns one line of a block of markdown as text for a summary, without images, tags, and marks of footnotes.
func plain(line string) string {
	var b strings.Builder
	markdown.Pieces([]byte(line), func(kind markdown.PieceKind, text []byte) {
		switch kind {
		case markdown.AltText:
		case markdown.Tag:
			b.WriteByte(' ')
		case markdown.Words:
			words := footnote().ReplaceAllString(kind.Decode(text), "")
			b.WriteString(shortRef().ReplaceAllString(words, "$1"))
		default:
			b.Write(text)
		}
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// abbreviations end with a full stop that does not end a sentence.
var abbreviations = map[string]bool{
	"e.g": true, "i.e": true, "etc": true, "vs": true, "cf": true, "dr": true, "mr": true, "mrs": true, "ms": true,
	"st": true, "no": true, "fig": true, "approx": true,
	"z.b": true, "bzw": true, "d.h": true, "ca": true, "u.a": true, "inc": true, "ltd": true, "co": true, "jr": true,
	"al": true,
}

// sentences splits the text of a block, of one line, after the marks that end sentences. Before a lower-case letter
// none ends, nor with the full stop of an abbreviation or an initial.
func sentences(text string) []string {
	var list []string
	from := 0
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
		case '.', '!', '?':
			next, _ := utf8.DecodeRuneInString(text[end:])
			after, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:], ` "'”’)»]`))
			if end < len(text) && !strings.ContainsRune(` "'”’)»`, next) || unicode.IsLower(after) {
				continue
			}
			word := text[from:i]
			word = strings.ToLower(strings.TrimLeft(word[strings.LastIndexByte(word, ' ')+1:], `("'`))
			if r == '.' && end < len(text) && (abbreviations[word] || utf8.RuneCountInString(word) == 1 && word != "i") {
				continue
			}
			for rest := text[end:]; rest != ""; rest = text[end:] {
				r, size := utf8.DecodeRuneInString(rest)
				if !strings.ContainsRune(`"'”’)»`, r) {
					break
				}
				end += size
			}
		default:
			continue
		}
		if s := strings.TrimSpace(text[from:end]); s != "" {
			list = append(list, s)
		}
		from = end
	}
	if s := strings.TrimSpace(text[from:]); s != "" {
		list = append(list, s)
	}
	return list
}

// short cuts the text of a block to at most limit characters, between words if one ends in its second half, and marks
// the cut.
func short(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	kept := clip.Runes(text, limit-1)
	if i := strings.LastIndexByte(kept, ' '); i > len(kept)/2 {
		kept = kept[:i]
	}
	return strings.TrimRight(kept, " ,;:") + "…"
}
