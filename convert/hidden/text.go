package hidden

import (
	"bytes"

	"github.com/readthru/readthru/convert/chars"
)

// maxSpelt is how much of a line is looked through for what its invisible characters spell, in bytes. A file may be one
// long line.
const maxSpelt = 64 << 10

// Text returns a text of any kind without the characters that nobody sees, and what they were: a piece for each line
// that had some. A text that has none is returned as it is, at the speed of [chars.IndexInvisible]. A byte order mark
// at the beginning stays. Source code, data and files of any format without markup go through it.
func Text(text []byte) ([]byte, Report) {
	if plain(text) {
		return text, Report{}
	}
	var r reporter
	text = r.characters(text)
	return text, r.whole()
}

// plain reports whether a text has no invisible characters, without allocating. It is what most texts are.
func plain(text []byte) bool {
	return chars.IndexInvisible(bytes.TrimPrefix(text, []byte("\ufeff"))) < 0
}

// characters returns a text without its invisible characters, and reports each line that had some. A mark of byte order
// at the beginning stays. A text without any is returned as it is.
func (r *reporter) characters(text []byte) []byte {
	var out, line []byte
	at, done := len(text)-len(bytes.TrimPrefix(text, []byte("\ufeff"))), 0
	for {
		n := chars.IndexInvisible(text[at:])
		if n < 0 {
			break
		}
		begin, end := at, len(text)
		if n := bytes.LastIndexByte(text[at:at+n], '\n'); n >= 0 {
			begin += n + 1
		}
		at += n
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n
		}
		if line, _ = chars.AppendVisible(line[:0], text[begin:end]); !bytes.Equal(line, text[begin:end]) {
			r.addSmuggled(string(text[at:min(end, at+maxSpelt)]))
			out = append(append(out, text[done:begin]...), line...)
			done = end
		}
		at = end
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}
