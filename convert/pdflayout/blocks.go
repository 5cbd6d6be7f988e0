package pdflayout

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/convert/guard"
)

// Block is a paragraph, a heading, an item of a list, code or a table. [Blocks] returns them in reading order, and
// package formats writes them as markdown.
type Block struct {
	Kind   Kind
	Level  int     // of a heading, from 1, or of a list's item, from 0
	Marker string  // of a list's item, as markdown writes it: "-" or "1."
	Pieces []Piece // the text, but of code and tables: those have [Block.Text] and [Block.Rows]
	Page   int     // number of the page that it begins on

	lines []*line    // of code and tables, and the last ones of text
	left  float32    // of its first line
	rows  [][]string // of a table whose cells are known
	entry bool       // of an item: it is one of a table of contents
}

// Kind is the kind of a [Block].
type Kind int

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Heading
	Item // of a list
	Code
	Table
)

// builder turns the lines of all pages of a PDF into blocks. What is measured over all pages says of each line what it
// is.
type builder struct {
	ctx     context.Context
	body    float32         // the size of most text
	sizes   []float32       // of headings, the largest first
	leading float32         // usual distance of lines, as a share of the size
	known   map[string]bool // words with a hyphen inside a line
	list    []*Block
}

// Blocks returns the blocks of all pages. [DropMargins] should have been called. It panics, by guard.Check, when ctx
// ends.
func Blocks(ctx context.Context, pages []*Page) []*Block {
	b := &builder{ctx: ctx, known: map[string]bool{}}
	b.measure(pages)
	for _, p := range pages {
		p.lines = b.notesLast(p.lines)
		for at := 0; at < len(p.lines); {
			guard.Check(ctx)
			if t := p.lines[at].table; t != nil {
				b.list = append(b.list, &Block{Kind: Table, rows: b.cellTexts(t), Page: p.number})
				at++
				continue
			}
			if b.contentsLine(p.lines, at) {
				b.addEntry(p.lines[at])
				at++
				continue
			}
			if n := b.tableAt(p.lines[at:]); n > 0 {
				b.list = append(b.list, &Block{Kind: Table, lines: p.lines[at : at+n], Page: p.number})
				at += n
				continue
			}
			b.add(p.lines[at], p.lines, at)
			at++
		}
	}
	return b.list
}

// measure finds, to know blocks by it, the size of most text, those of headings, and the usual distance of lines. Sizes
// are counted by letters, in half points. It also notes the words with a hyphen inside a line, 50,000 at most, by which
// join knows which hyphens belong to a word.
func (b *builder) measure(pages []*Page) {
	sizes := map[float32]int{}
	gaps := map[int]int{}
	for _, p := range pages {
		for i, l := range p.lines {
			sizes[half(l.size)] += l.letters
			if i > 0 && p.lines[i-1].column == l.column && l.size > 0 {
				if d := (p.lines[i-1].y - l.y) / l.size; d > .8 && d < 3 {
					gaps[int(d*20)] += l.letters
				}
			}
			if t := l.text(); strings.Contains(t, "-") && len(b.known) < 50000 {
				for w := range strings.FieldsSeq(t) {
					if i := strings.IndexByte(w, '-'); i > 0 && i < len(w)-1 {
						b.known[strings.ToLower(strings.Trim(w, ".,;:()"))] = true
					}
				}
			}
		}
	}
	// The size of most letters is that of the text, and sizes well above it are those of headings.
	most := 0
	for _, size := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[size] > most {
			most, b.body = sizes[size], size
		}
	}
	for _, size := range slices.Sorted(maps.Keys(sizes)) {
		if size > b.body*1.08 {
			b.sizes = append(b.sizes, size)
		}
	}
	slices.SortFunc(b.sizes, func(x, y float32) int { return cmp.Compare(y, x) })
	usual := 0
	b.leading = 1.2
	for _, d := range slices.Sorted(maps.Keys(gaps)) {
		if gaps[d] > usual {
			usual, b.leading = gaps[d], float32(d)/20+.05
		}
	}
}

// noteSize is the size, as a share of that of most text, below which a line at the foot of a column is taken for a
// footnote.
const noteSize = .92

// notesLast moves the footnotes of columns, which are blocks, to the end of their page, so that text goes on from
// column to column. A column that is small as a whole keeps its place. Tables are no footnotes.
func (b *builder) notesLast(lines []*line) []*line {
	var kept, notes []*line
	for from := 0; from < len(lines); {
		end := from + 1
		for end < len(lines) && lines[end].column == lines[from].column {
			end++
		}
		foot := end
		for foot > from && lines[foot-1].size < noteSize*b.body && lines[foot-1].table == nil {
			foot--
		}
		if foot == from { // all of it is small
			foot = end
		}
		kept, notes = append(kept, lines[from:foot]...), append(notes, lines[foot:end]...)
		from = end
	}
	return append(kept, notes...)
}

// half rounds the size of a block's letters to half points. Sizes are compared so, since fonts are scaled by fractions.
func half(f float32) float32 { return float32(math.Round(float64(f)*2) / 2) }

// add puts one line of a page into the block that it continues, or begins a block with it: code by its font, a heading
// by its size or weight, an item by its marker, else a paragraph. lines are those of the page, at the place of l in
// them.
func (b *builder) add(l *line, lines []*line, at int) {
	var last *Block
	for i := len(b.list) - 1; i >= max(0, len(b.list)-8); i-- {
		last = b.list[i]
		if last.Page == l.page || l.size < noteSize*b.body || last.Kind != Paragraph ||
			last.lines[0].size >= noteSize*b.body {
			break // else it is a footnote of the page before, over which the text goes on
		}
	}
	var before *line
	if last != nil && len(last.lines) > 0 {
		before = last.lines[len(last.lines)-1]
	}
	text := l.text()
	if l.mono && len(l.cells) > 0 {
		if last != nil && last.Kind == Code &&
			(before.page != l.page || before.column == l.column && before.y-l.y < 3.2*max(b.leading, 1.2)*l.size) {
			last.lines = append(last.lines, l)
			return
		}
		if l.letters > 1 {
			b.list = append(b.list, &Block{Kind: Code, lines: []*line{l}, Page: l.page})
			return
		}
	}
	level := b.headingLevel(l, text, lines, at)
	if level > 0 {
		if last != nil && last.Kind == Heading && last.Level == level && before != nil && before.page == l.page &&
			before.column == l.column && half(before.size) == half(l.size) &&
			before.bold == l.bold && before.y-l.y < 1.6*l.size && before.y > l.y && !numberedHeading(text) &&
			aligned(before, l) {
			last.join(b, l)
			return
		}
		b.list = append(b.list, &Block{
			Kind: Heading, Level: level, Pieces: flat(l), lines: []*line{l},
			Page: l.page, left: l.x0,
		})
		return
	}
	if marker, rest := bullet(l); marker != "" {
		b.list = append(b.list, b.listItem(last, l, marker, rest))
		return
	}
	if before != nil && b.continues(last, before, l, text, lines, at) {
		last.join(b, l)
		return
	}
	b.list = append(b.list, &Block{Kind: Paragraph, Pieces: flat(l), lines: []*line{l}, Page: l.page, left: l.x0})
}

// contentsTitles are the titles of tables of contents. They are in lower case, between spaces.
var contentsTitles = " contents table of contents inhalt inhaltsverzeichnis table des matières sommaire índice " +
	"contenido sumário indice spis treści содержание оглавление 目录 目次 "

// contentsLine reports whether a line is an entry of a table of contents, which is a block of its own. Dots lead to a
// number, or a wide gap does next to such a line, behind another entry or below the title of the table. Such entries
// would else become tables or headings.
func (b *builder) contentsLine(lines []*line, at int) bool {
	l := lines[at]
	if l.mono || l.table != nil || l.letters < 4 {
		return false
	}
	text := l.text()
	if !l.leader && len(l.cells) < 2 && !strings.Contains(text, ". . ") {
		return false
	}
	number := strings.TrimRight(text[strings.LastIndexByte(text, ' ')+1:], ",")
	if len(number) > 6 || strings.Trim(number, "0123456789") != "" && !roman(number) {
		return false
	}
	near := func(i int) bool { return i >= 0 && i < len(lines) && lines[i].leader && lines[i].column == l.column }
	if l.leader || near(at-1) || near(at+1) || near(at+2) {
		return true
	}
	if len(b.list) == 0 {
		return false
	}
	last := b.list[len(b.list)-1]
	if last.entry {
		return last.lines[0].page == l.page && last.lines[0].column == l.column
	}
	return len(last.Pieces) == 1 && strings.Contains(contentsTitles, " "+strings.ToLower(last.Pieces[0].Text)+" ")
}

// addEntry adds the line l, an entry of a table of contents, as a block that is an item of a list. Its title may have
// begun on the line before, which stands further to the left, and was taken for a paragraph.
func (b *builder) addEntry(l *line) {
	var last, begun *Block
	if n := len(b.list); n > 0 {
		last = b.list[n-1]
		if k := last; k.Kind == Paragraph && len(k.lines) == 1 && k.Page == l.page && k.lines[0].column == l.column &&
			k.left < l.x0-.3*l.size && k.lines[0].y-l.y < (b.leading+.35)*l.size && k.lines[0].y > l.y {
			begun, last, b.list = k, nil, b.list[:n-1]
			if n > 1 {
				last = b.list[n-2]
			}
		}
	}
	var item *Block
	if begun == nil {
		item = b.listItem(last, l, "-", flat(l))
	} else {
		item = b.listItem(last, begun.lines[0], "-", begun.Pieces)
		item.join(b, l)
	}
	item.entry = true
	b.list = append(b.list, item)
}

// aligned reports whether two lines of a heading may be one block: they begin at the same place, or have the same
// middle.
func aligned(a, b *line) bool {
	return abs32(a.x0-b.x0) < .5*a.size || abs32(a.x0+a.x1-b.x0-b.x1) < a.size
}

// continues reports whether l goes on with the text of block, whose last line is before. text is that of l. On the next
// column or page it goes by words: the sentence is still open, and l does not begin with a capital, unless behind a
// hyphen. Below the last line it goes by places, too: how far down, how far in, and whether the last line was full.
func (b *builder) continues(block *Block, before, l *line, text string, lines []*line, at int) bool {
	if block.Kind != Paragraph && block.Kind != Item || abs32(before.size-l.size) > .12*before.size ||
		block.entry && (!strings.HasSuffix(before.text(), ",") || strings.Trim(text, "0123456789, ") != "") {
		return false
	}
	left, right := bounds(lines, at)
	open := !ends(before.text())
	first, _ := utf8.DecodeRuneInString(text)
	if before.page != l.page || before.column != l.column || l.y > before.y {
		return open && (unicode.IsLower(first) || strings.HasSuffix(before.text(), "-") ||
			before.x1-before.x0 > .85*(right-left) && !unicode.IsUpper(first)) && l.letters > 3
	}
	if before.y-l.y > (b.leading+.35)*max(l.size, before.size) {
		return false
	}
	if block.Kind == Item {
		return block.entry || l.x0 > block.left+.3*l.size || len(block.lines) > 1 && abs32(l.x0-before.x0) < .5*l.size ||
			open && unicode.IsLower(first)
	}
	if strings.HasSuffix(before.text(), "-") && unicode.IsLower(first) {
		return true
	}
	indent := l.x0 - left
	short := before.x1 < right-.25*(right-left)
	if len(block.lines) == 1 && l.x0 > before.x0+.5*l.size && indent < 4*l.size && (open || !short) {
		return true // a hanging indent, as of references
	}
	if indent > .8*l.size && l.x0 > before.x0+.5*l.size {
		return false
	}
	if l.x0 < before.x0-.5*l.size && len(block.lines) > 1 {
		return false
	}
	if strings.HasSuffix(before.text(), "-") {
		return true
	}
	return !short || open && !unicode.IsUpper(first) && !unicode.IsDigit(first)
}

// bounds returns the left and right edge of the column about a line, by which it is known where blocks end. It looks at
// 12 lines on either side, since a column's width may change on a page.
func bounds(lines []*line, at int) (left, right float32) {
	left, right = lines[at].x0, lines[at].x1
	for i := max(0, at-12); i < min(len(lines), at+12); i++ {
		if l := lines[i]; l.column == lines[at].column && l.letters > 10 {
			left, right = min(left, l.x0), max(right, l.x1)
		}
	}
	return left, right
}

// ends reports whether a sentence, and perhaps a block, ends with s. Quotation marks and brackets behind the stop do
// not count.
func ends(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "\"'”’»)] "))
	return strings.ContainsRune(".!?:;。！？…", r)
}

// flat returns the pieces of a line as a block has them, its cells apart by spaces. The list is new, its pieces may be
// changed.
func flat(l *line) []Piece {
	var list []Piece
	for i, c := range l.cells {
		if i > 0 {
			list = append(list, Piece{Text: " "})
		}
		list = append(list, c.pieces...)
	}
	return list
}

// join adds a line to the text of a block. A hyphen that parts a word at the line's end goes, unless the word has one
// elsewhere or is code. Scripts without spaces get none between lines, and a URL over two lines is put together. Only
// the last four lines are kept of text: later steps ask for no more.
func (k *Block) join(b *builder, l *line) {
	add := flat(l)
	k.lines = append(k.lines[max(0, len(k.lines)-3):], l)
	n := len(k.Pieces)
	if n == 0 || len(add) == 0 {
		k.Pieces = append(k.Pieces, add...)
		return
	}
	end := k.Pieces[n-1].Text
	stem, hyphen := strings.CutSuffix(end, "-")
	before, _ := utf8.DecodeLastRuneInString(stem)
	next, _ := utf8.DecodeRuneInString(add[0].Text)
	switch {
	case hyphen && unicode.IsLetter(before) && unicode.IsLower(next):
		first, _, _ := strings.Cut(add[0].Text, " ")
		whole := strings.ToLower(stem[strings.LastIndexByte(stem, ' ')+1:] + "-" + strings.Trim(first, ".,;:()"))
		if !b.known[whole] && !l.mono {
			k.Pieces[n-1].Text = stem
		}
	case hyphen && unicode.IsLetter(before) && unicode.IsUpper(next), wide(before) && wide(next):
	// a URL over two lines
	case k.Pieces[n-1].URL != "" && k.Pieces[n-1].URL == add[0].URL && strings.ContainsAny(end, "/") &&
		!strings.Contains(end, " "):
	default:
		if k.Pieces[n-1].URL == "" {
			k.Pieces[n-1].Text += " "
		} else {
			k.Pieces = append(k.Pieces, Piece{Text: " "})
		}
	}
	for _, p := range add {
		if last := &k.Pieces[len(k.Pieces)-1]; last.URL == p.URL {
			last.Text += p.Text
		} else {
			k.Pieces = append(k.Pieces, p)
		}
	}
}

// wide reports whether r, where lines of a block are joined, is of a script written without spaces between words,
// Chinese or Japanese, or is of full width.
func wide(r rune) bool {
	return r >= 0x2e80 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xff60
}

// Text returns the lines of code, indented as on the page. Spaces are counted by the width of a letter, so that columns
// of code stay below one another; a wide gap between lines becomes an empty line. k must be of kind [Code].
func (k *Block) Text() string {
	left := k.lines[0].x0
	for _, l := range k.lines {
		left = min(left, l.x0)
	}
	var b strings.Builder
	for i, l := range k.lines {
		if i > 0 {
			b.WriteByte('\n')
			if gap := k.lines[i-1].y - l.y; l.page == k.lines[i-1].page && gap > 1.9*l.size {
				b.WriteByte('\n')
			}
		}
		width := .6 * l.size
		if l.letters > 3 {
			width = (l.x1 - l.x0) / float32(utf8.RuneCountInString(l.text()))
		}
		at := left
		for _, c := range l.cells {
			if n := int(math.Round(float64((c.x0 - at) / max(width, 1)))); n > 0 {
				b.WriteString(strings.Repeat(" ", min(n, 120)))
			}
			for _, p := range c.pieces {
				b.WriteString(p.Text)
			}
			at = c.x1
		}
	}
	return b.String()
}
