package symbols

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/readthru/readthru/internal/clip"
)

// signature returns the text of a definition up to its body as one line, for the map of symbols, cut with an ellipsis
// if it is too long.
func signature(l *language, content []byte, m match) string {
	end := min(m.body, m.start+4*maxSignature)
	if m.nameEnd > end {
		end = min(m.nameEnd+maxSignature, m.end)
	}
	text := content[m.start:end]
	if m.kind == Type {
		text = typeText(content[m.start:m.end])
	}
	if m.kind == Constant || m.kind == Macro {
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[:i]
		}
	}
	return oneLine(text, l)
}

// typeText shortens, in a signature, the braces of a long "typedef struct node {…} node_t", because the name is at
// the end.
func typeText(text []byte) []byte {
	first, last := bytes.IndexByte(text, '{'), bytes.LastIndexByte(text, '}')
	if len(text) > maxSignature/2 && first >= 0 && first < last {
		text = slices.Concat(text[:first+1], []byte("…"), text[last:])
	}
	return text[:min(len(text), 4*maxSignature)]
}

// oneLine returns the text of a signature on one line, without comments and without the token that opens a body.
func oneLine(text []byte, l *language) string {
	var b strings.Builder
	text = l.remarks().ReplaceAllLiteral(text, nil)
	text = annotations().ReplaceAllLiteral(text, nil)
	space := false
	for _, r := range string(text) {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case !unicode.IsPrint(r):
			continue
		}
		if space {
			if last := b.String()[b.Len()-1]; last != '(' && last != '[' && r != ')' && r != ']' && r != ',' {
				b.WriteByte(' ')
			}
			space = false
		}
		b.WriteRune(r)
		if b.Len() > maxSignature {
			return strings.TrimRight(clip.Bytes(b.String(), maxSignature), " ,") + "…"
		}
	}
	line := strings.ReplaceAll(b.String(), ",)", ")")
	for _, opening := range []string{"{", "=>", ":", ";", "=", "where", "\\"} {
		if opening == ":" && l.grammar != python {
			continue
		}
		line = strings.TrimRight(strings.TrimSuffix(line, opening), " ")
	}
	return line
}

// remarks returns the pattern of comments in a signature.
func (l *language) remarks() *regexp.Regexp {
	if l.scan != nil && strings.HasPrefix(l.scan.comment, "#") {
		return hashRemarks()
	}
	return slashRemarks()
}
