package convert

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/internal/markdown"
)

// Cut returns the first blocks of md, up to limit tokens in all, and a note that more was left out. It cuts between
// blocks; within a block it cuts only when a list, table or paragraph alone is over the limit, and then between lines.
// The first of these pieces is kept even if it is over the limit. next is the offset in md of the first byte left out,
// or 0 if Cut kept everything and added no note. It is for callers with a budget of tokens; tokens are those of
// [Tokens].
func Cut(md []byte, limit int) (kept []byte, next int) {
	tokens, end := 0, 0
	for _, block := range cuttable(string(md), limit) {
		tokens += Tokens(block)
		if end > 0 && tokens > limit {
			next = end
			break
		}
		end += len(block)
	}
	if next == 0 || len(bytes.TrimSpace(md[next:])) == 0 {
		return md, 0
	}
	note := "\n[Cut here: " + strconv.Itoa(limit) + " of about " + strconv.Itoa(Tokens(md)) +
		" tokens were asked for.]\n"
	return append([]byte(strings.TrimRight(string(md[:end]), "\n")+"\n"), note...), next
}

// cuttable splits markdown into the pieces between which Cut may cut. Their concatenation is md. A block with a fence
// is not divided: its parts would be no code.
func cuttable(md string, limit int) []string {
	var list []string
	for _, block := range blocks(md) {
		if Tokens(block) <= limit || strings.Contains(block, "```") || strings.Contains(block, "~~~") {
			list = append(list, block)
			continue
		}
		for line := range strings.Lines(block) {
			list = append(list, line)
		}
	}
	return list
}

// blocks splits markdown after each blank line outside fences, for [Cut]. The concatenation of the blocks is md.
func blocks(md string) []string {
	var list []string
	begin, at := 0, 0
	for line, kind := range markdown.Lines(md) {
		at += len(line)
		if !kind.Fenced() && chars.Blank(line) {
			list = append(list, md[begin:at])
			begin = at
		}
	}
	if begin < len(md) {
		list = append(list, md[begin:])
	}
	return list
}
