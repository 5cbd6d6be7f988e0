package markdown

import (
	"bytes"
	"strings"
)

// Fence is the opening line of a fenced code block.
type Fence struct {
	Info   string // the info string: the language, and what else stands behind the marker
	Quoted bool   // it stands in a block quote
	Item   bool   // it stands in a list item

	mark byte   // ` or ~
	run  int    // how many of it
	lead string // what stands before the marker on every line; list markers are spaces by now
}

// maxFenceRun is how long the marker of a fence may be. A longer one is text: whoever cuts a block of code repeats the
// marker with every piece, and some people draw fences as wide as a page.
const maxFenceRun = 80

// maxFenceLead is how much of what stands before the marker is kept.
const maxFenceLead = 24

// maxInfo is how many bytes of an info string are kept.
const maxInfo = 4 << 10

// fenceAt reads the opening of a fenced code block that a text begins with (CommonMark, "Fenced code blocks"): at least
// three backticks or tildes, and an info string, which has no backtick after backticks.
func fenceAt(text []byte) (f Fence, ok bool) {
	mark, run := text[0], 0
	for run < len(text) && text[run] == mark {
		run++
	}
	info := text[run:]
	if run < 3 || run > maxFenceRun || mark == '`' && bytes.IndexByte(info, '`') >= 0 {
		return Fence{}, false
	}
	if info = bytes.TrimSpace(info[:min(len(info), maxInfo)]); len(info) > 0 {
		f.Info = string(bytes.ToValidUTF8(info, nil))
	}
	f.mark, f.run = mark, run
	return f, true
}

// place notes in what the fence stands: block quotes, list items, and what its lines begin with.
func (f *Fence) place(line []byte, at int, open []container) {
	for _, box := range open {
		f.Quoted = f.Quoted || box.width == 0
		f.Item = f.Item || box.width > 0
	}
	if at == 0 {
		return
	}
	lead := bytes.Clone(line[:min(at, maxFenceLead)])
	for i, c := range lead {
		if c != '>' && c != '\t' {
			lead[i] = ' '
		}
	}
	f.lead = string(lead)
}

// closes reports whether a text without indentation closes the fence: at least as many of its marker and nothing else.
func (f *Fence) closes(text []byte) bool {
	n := 0
	for n < len(text) && text[n] == f.mark {
		n++
	}
	return n >= f.run && len(bytes.TrimLeft(text[n:], " \t\r")) == 0
}

// Lead is what stands before the marker, with list markers as spaces.
func (f *Fence) Lead() string { return f.lead }

// Closing returns the line that closes the block, without a line break.
func (f *Fence) Closing() string { return f.lead + f.Marker() }

// Marker is the run of backticks or tildes that opens the fence.
func (f *Fence) Marker() string { return strings.Repeat(string(rune(f.mark)), f.run) }

// ClosedBy reports whether a line of the text closes the fence.
func (f *Fence) ClosedBy(line []byte) bool {
	if f.Quoted {
		line = line[QuoteMarkers(line):]
	}
	indent := Indentation(line)
	if indent == len(line) || !f.Quoted && indent > len(f.lead)+3 {
		return false
	}
	return f.closes(line[indent:])
}

// OpensFence reports whether a line opens a fence in some list item or block quote, however far it is indented. It is
// for pieces of a text whose surroundings are not known; a [Reader] knows them.
func OpensFence(line []byte) bool {
	for at := 0; ; {
		at += Indentation(line[at:])
		if at >= len(line) || at > maxFenceLead {
			return false
		}
		switch n := ListMarker(line[at:]); {
		case line[at] == '>':
			at++
		case n > 0:
			at += n
		case line[at] == '`' || line[at] == '~':
			_, ok := fenceAt(line[at:])
			return ok
		default:
			return false
		}
	}
}
