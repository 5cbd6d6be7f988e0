// Package chars knows what the characters of a plain text are to its reader: visible or invisible, letters, words,
// white space. It knows nothing of markup.
//
// Invisible characters matter for two reasons: as typography (soft hyphens, joiners) they break searches, and some of
// them (tags, variation selectors, bidirectional overrides) carry text to a model that no reader sees. [Visible] takes
// out both and tells of the second.
package chars

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s without its invisible characters: control characters, zero-width and bidirectional ones,
// soft hyphens, tag characters, and variation selectors that select nothing. smuggled reports whether among them were
// some that carry text past a reader's eyes (tags, bidirectional overrides, runs of selectors): those are counted, the
// others are typography.
func Visible(s string) (clean string, smuggled bool) {
	at := strings.IndexFunc(s, Invisible)
	if at < 0 {
		return s, false
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:at])
	previous, _ := utf8.DecodeLastRuneInString(s[:at])
	rest := []rune(s[at:])
	for i, r := range rest {
		switch {
		case !Invisible(r):
			b.WriteRune(r)
		case r == '\u200d' || r == '\u200c':
			// joiners shape emoji, Arabic and Indic letters; between Latin ones they are noise
			if joins(previous) && i+1 < len(rest) && joins(rest[i+1]) {
				b.WriteRune(r)
			}
		case r == '\ufe0e' || r == '\ufe0f':
			if previous > 0x7f && !Invisible(previous) || previous >= '0' && previous <= '9' || previous == '#' ||
				previous == '*' {
				b.WriteRune(r) // text or emoji form of the sign before it
			}
		case r >= 0xe0000 && r <= 0xe007f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x202d && r <= 0x202e:
			smuggled = true
		case variation(r) && variation(previous):
			smuggled = true
		}
		previous = r
	}
	return b.String(), smuggled
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
	case r < 0xa0, r == 0xad, r == 0x034f, r == 0x061c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r >= 0x180b &&
		r <= 0x180f:
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

// OneLine returns s on one line, with single spaces between its words.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Blank reports whether s is empty or all white space.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// Letter reports whether c is an ASCII letter.
func Letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Words counts the runs of letters and digits in s. A letter of a script without spaces counts by itself.
func Words(s string) (n int) {
	in := false
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			alnum := r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
			if alnum && !in {
				n++
			}
			in = alnum
		case r >= 0x3040 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0x0e00 && r <= 0x0eff:
			n++ // two such letters make a word; a page of fifty of them is thin as well
			in = false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if !in {
				n++
			}
			in = true
		default:
			in = false
		}
	}
	return n
}

// FirstWord returns the first word of s, "" when there is none. Words are separated by white space.
func FirstWord(s string) string {
	for field := range strings.FieldsSeq(s) {
		return field
	}
	return ""
}

// maxClip is the longest text that [Clip] returns, in bytes.
const maxClip = 2000

// Clip returns s on one line, without invisible characters, at most maxClip bytes long.
func Clip(s string) string {
	if len(s) > 4*maxClip {
		s = strings.ToValidUTF8(s[:4*maxClip], "")
	}
	s, _ = Visible(s)
	s = OneLine(s)
	if len(s) > maxClip {
		s = strings.ToValidUTF8(s[:maxClip], "")
	}
	return s
}
