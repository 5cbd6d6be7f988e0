package convert

import (
	"bytes"
	"strconv"
	"strings"

	"readthru/convert/chars"
	"readthru/markdown"
)

// Cut keeps the blocks of md, from the first, that come to at most limit tokens, and says under them that more
// was left out. A block is never cut, but for a list, table or paragraph of many lines that alone is over the limit:
// that is cut between lines. Next is where what was left out begins, in bytes; 0 when all was kept. Of a first block
// that cannot be cut all is kept.
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

// cuttable splits markdown where it may be cut. Joined the pieces are the text again.
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

// blocks splits markdown after each blank line that is not within a fence. Joined they are the text again.
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
