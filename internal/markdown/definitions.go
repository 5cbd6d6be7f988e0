package markdown

import "bytes"

// maxTerm is how long a line with a term may be, in bytes.
const maxTerm = 600

// Terms returns the lines with the terms that a block defines, as markdown, and how far they are indented: a block
// whose lines are followed by one that begins with a colon, as in Pandoc and PHP Markdown Extra. It is nil for any
// other block. What the definition says goes on in the blocks that are indented further.
func (b *Block) Terms(md []byte) (terms [][]byte, indent int) {
	if b.Kind != Text {
		return nil, 0
	}
	for at := b.Start; at < b.End; {
		line, next := LineAt(md[:b.End], at)
		n := Indentation(line)
		switch {
		case at == b.Start:
			indent = n
		case n != indent:
			return nil, 0
		}
		rest := bytes.TrimSpace(line[n:])
		if bytes.HasPrefix(rest, []byte(": ")) {
			return terms, indent
		}
		if len(rest) > maxTerm || bytes.HasPrefix(rest, []byte(":")) {
			return nil, 0
		}
		terms, at = append(terms, rest), next
	}
	return nil, 0
}
