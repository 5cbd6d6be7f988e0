package pdflayout

import (
	"strings"
	"unicode/utf8"
)

// listItem returns an item of a list that begins with the line l, behind the block last. Its level follows from how far
// it stands to the right of the item before, or of an earlier one.
func (b *builder) listItem(last *Block, l *line, marker string, pieces []Piece) *Block {
	item := &Block{Kind: Item, Marker: marker, Pieces: pieces, lines: []*line{l}, Page: l.page, left: l.x0}
	if last != nil && last.Kind == Item && last.Page == l.page {
		switch step := l.x0 - last.left; {
		case step > .8*l.size && step < 6*l.size:
			item.Level = min(last.Level+1, 3)
		case step < -.8*l.size:
			item.Level = b.levelAt(l.x0)
		default:
			item.Level = last.Level
		}
	}
	return item
}

// levelAt returns the level of the nearest earlier item of the list that stands as far to the left, within three
// points; 0 where there is none.
func (b *builder) levelAt(x float32) int {
	for i := len(b.list) - 1; i >= 0 && b.list[i].Kind == Item; i-- {
		if abs32(b.list[i].left-x) < 3 {
			return b.list[i].Level
		}
	}
	return 0
}

// bullet returns, of a line of a PDF, the marker of a list's item, as markdown writes it, and the text behind it; ""
// for other lines.
func bullet(l *line) (marker string, rest []Piece) {
	pieces := flat(l)
	if len(pieces) == 0 {
		return "", nil
	}
	mark, text, ok := strings.Cut(pieces[0].Text, " ")
	if !ok && len(pieces) == 1 {
		return "", nil
	}
	r, size := utf8.DecodeRuneInString(mark)
	switch {
	case size == len(mark) && strings.ContainsRune(bullets, r):
		marker = "-"
	case ordinal(mark):
		marker = strings.Trim(mark, "().") + "."
	default:
		return "", nil
	}
	pieces[0].Text = strings.TrimLeft(text, " ")
	if pieces[0].Text == "" {
		pieces = pieces[1:]
	}
	if len(pieces) > 0 {
		pieces[0].Text = strings.TrimLeft(pieces[0].Text, " ")
	}
	return marker, pieces
}

// bullets are the signs that items of lists begin with. Those of symbol fonts have become "•" in cleanWord.
const bullets = "•◦▪▫●○■□‣⁃∙·–—*➢➤✓✔►▶◆◇❖-"

// ordinal reports whether s is the number of a list's item: 1. 12) (3). The number of a year is not. Numbers have two
// digits at most.
func ordinal(s string) bool {
	number := strings.TrimPrefix(s, "(")
	if number == s && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, ")") {
		return false
	}
	number = strings.TrimRight(number, ".)")
	return number != "" && len(number) <= 2 && strings.Trim(number, "0123456789") == "" && len(s) <= len(number)+2
}
