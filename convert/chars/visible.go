package chars

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"unicode/utf8"
)

// Visible returns s without its invisible characters: control characters and the terminal sequences that ESC begins,
// zero-width and bidirectional ones, soft hyphens, tag characters, and variation selectors that select nothing.
// smuggled reports whether among them were some that carry text past a reader's eyes (tags, bidirectional overrides,
// runs of selectors, and long ones of any): those are counted, the others are typography.
func Visible(s string) (clean string, smuggled bool) {
	plain := 0 // nearly every name of a page is this alone
	for plain < len(s) && (s[plain] >= ' ' && s[plain] < 0x7f || s[plain] == '\n') {
		plain++
	}
	if plain == len(s) {
		return s, false
	}
	at := strings.IndexFunc(s[plain:], Invisible)
	if at < 0 {
		return s, false
	}
	at += plain
	_, before := utf8.DecodeLastRuneInString(s[:at])
	at -= before
	out, smuggled := AppendVisible(append(make([]byte, 0, len(s)), s[:at]...), []byte(s[at:]))
	return string(out), smuggled
}

// AppendVisible appends text, as [Visible] returns it, to out. Bytes that are no UTF-8 go too: the halves of a
// character, brought together, would be one.
func AppendVisible(out, text []byte) (extended []byte, smuggled bool) {
	previous, kept, run := utf8.RuneError, false, 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		rest, had := text[size:], len(out)
		switch {
		case r == utf8.RuneError && size == 1:
		case !Invisible(r):
			out = append(out, text[:size]...)
			if r == blackFlag {
				n := regionTags(rest)
				out = append(out, rest[:n]...)
				rest = rest[n:]
			}
		case r == escape:
			rest = rest[terminalSequence(rest):]
		case r == '\u200d' || r == '\u200c':
			// joiners shape emoji, Arabic and Indic letters; between Latin ones they are noise
			if next, _ := utf8.DecodeRune(rest); kept && joins(previous) && joins(next) && !Invisible(next) {
				out = append(out, text[:size]...)
			}
		case r == '\ufe0e' || r == '\ufe0f':
			if previous > 0x7f && !Invisible(previous) && previous != utf8.RuneError || previous >= '0' && previous <= '9' ||
				previous == '#' || previous == '*' {
				out = append(out, text[:size]...) // text or emoji form of the sign before it
			}
		case r >= 0xe0000 && r <= 0xe007f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x202d && r <= 0x202e:
			smuggled = true
		case variation(r) && variation(previous):
			smuggled = true
		}
		previous, kept, text = r, len(out) > had, rest
		if run++; kept {
			run = 0
		}
		smuggled = smuggled || run == longRun
	}
	return out, smuggled
}

// longRun is how many characters in a row show nothing where they may stand for the bits of a text: two letters have as
// many.
const longRun = 16

const (
	escape    = 0x1b
	blackFlag = 0x1f3f4
)

// regions are the flags that are spelt in tag characters after a black flag: England, Scotland, Wales (Unicode
// Technical Standard 51, RGI sequences).
var regions = [...]string{"gbeng", "gbsct", "gbwls"}

// regionTags returns the length of the tag characters that a text begins with if a black flag before them makes them a
// flag, else 0.
func regionTags(text []byte) int {
	const tag, cancel = 0xe0000, 0xe007f
	for _, region := range regions {
		at := 0
		for _, want := range region {
			r, size := utf8.DecodeRune(text[at:])
			if r != tag+want {
				break
			}
			at += size
		}
		if r, size := utf8.DecodeRune(text[at:]); at == 4*len(region) && r == cancel {
			return at + size
		}
	}
	return 0
}

// maxSequence is how long a terminal sequence may be, in bytes. It bounds what an ESC takes away.
const maxSequence = 2000

// terminalSequence returns how many bytes after an ESC belong to the sequence that it begins (ECMA-48): the parameters
// and the final byte of a control sequence; a string, such as the title of a window, up to its end on the same line.
// It returns 0 for any other sequence.
func terminalSequence(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	if text = text[:min(len(text), maxSequence)]; text[0] == '[' {
		for i, c := range text[1:] {
			switch {
			case c >= '@' && c <= '~':
				return i + 2
			case c < ' ' || c > '?':
				return 0
			}
		}
		return 0
	}
	if bytes.IndexByte([]byte("]PX^_"), text[0]) < 0 {
		return 0
	}
	for i, c := range text {
		switch {
		case c == '\n':
			return 0
		case c == '\a':
			return i + 1
		case c == escape && i+1 < len(text) && text[i+1] == '\\':
			return i + 2
		case c == escape: // ends the string, and begins another sequence
			return i
		}
	}
	return 0
}

func variation(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

// joins reports whether a zero-width joiner beside r can change how r looks: letters of scripts that join, signs and
// emoji.
func joins(r rune) bool {
	return r >= 0x0590 && r <= 0x109f || r >= 0x1780 && r <= 0x18af || r >= 0x2190 && r <= 0x2bff || variation(r) ||
		r >= 0x1f000 && r <= 0x1faff
}

// Invisible reports whether r shows nothing on a screen by itself.
func Invisible(r rune) bool {
	switch {
	case r < ' ':
		return r != '\t' && r != '\n' && r != '\r' && r != '\f'
	case r < 0x7f:
		return false
	case r < 0xa0, r == 0xad, r == 0x034f, r == 0x061c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5,
		r >= 0x180b && r <= 0x180f:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0x3164, r == 0xfeff,
		r == 0xffa0:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 &&
		r <= 0xe0fff:
		return true
	}
	return false
}

// planes are those of Unicode that have invisible characters.
var planes = [...]rune{0x0, 0x1, 0xe}

// follows returns, for each byte, which bytes may follow it in an invisible character; nil if it begins none. After a
// control character any byte may follow. It is made when it is first asked for: most commands read no text.
var follows = sync.OnceValue(func() *[256]*[256]bool {
	var rows [256]*[256]bool
	for _, plane := range planes {
		for r := plane << 16; r < (plane+1)<<16; r++ {
			if !Invisible(r) {
				continue
			}
			text := string(r)
			row := &rows[text[0]]
			if *row == nil {
				*row = new([256]bool)
			}
			if len(text) > 1 {
				(*row)[text[1]] = true
				continue
			}
			for i := range *row {
				(*row)[i] = true
			}
		}
	}
	return &rows
})

// IndexInvisible returns where the first invisible character of a text begins, or -1. It reads plain English at several
// gigabytes a second and allocates nothing.
func IndexInvisible(text []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	rows := follows()
	for at := 0; at < len(text); {
		if len(text)-at >= 8 {
			// A byte below space, DEL, or one of a longer character sets a high bit.
			word := binary.LittleEndian.Uint64(text[at:])
			if ((word-0x20*ones)|(word+ones)|word)&high == 0 {
				at += 8
				continue
			}
		}
		for end := min(at+8, len(text)); at < end; at++ {
			row := rows[text[at]]
			if row == nil || at+1 < len(text) && !row[text[at+1]] {
				continue
			}
			if r, _ := utf8.DecodeRune(text[at:]); Invisible(r) {
				return at
			}
		}
	}
	return -1
}
