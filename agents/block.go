package agents

import (
	"bytes"
	"strings"
)

// marks are the lines around a block of ours.
type marks struct{ begin, end string }

var (
	htmlMarks = marks{"<!-- readthru: begin -->", "<!-- readthru: end -->"}
	hashMarks = marks{"# readthru: begin", "# readthru: end"}
)

// addBlock appends a block to a text, unless the text has it.
func addBlock(text []byte, body string, m marks) edited {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	block := m.begin + "\n" + strings.TrimSuffix(body, "\n") + "\n" + m.end + "\n"
	block = strings.ReplaceAll(block, "\n", newline)
	if bytes.Contains(text, []byte(block)) {
		return edited{text: text}
	}
	if n := len(text); n > 0 {
		if text[n-1] != '\n' {
			block = newline + block
		}
		block = newline + block
	}
	e := edited{text: append(bytes.Clone(text), block...)}
	e.put, e.wants = []Splice{{len(text), block}}, make([]Want, 1)
	return e
}

// takeBlocks removes the blocks from a text, each with the empty line before it, and returns their number. It ignores a
// mark without its counterpart.
func takeBlocks(text []byte, m marks) (rest []byte, n int) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	begin := -1
	var out [][]byte
	for _, line := range lines {
		out = append(out, line)
		switch strings.TrimRight(string(line), " \t\r\n") {
		case m.begin:
			begin = len(out) - 1
		case m.end:
			if begin < 0 {
				continue
			}
			if begin > 0 && len(bytes.TrimSpace(out[begin-1])) == 0 {
				begin--
			}
			out, begin = out[:begin], -1
			n++
		}
	}
	return bytes.Join(out, nil), n
}
