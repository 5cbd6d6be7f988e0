package hidden

import (
	"bytes"
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// suspicious reports whether a text may hold something that goes. It is fast, and knows no code. What it lets through
// needs no sweep, so that it must be true of all that a sweep would cut; the other way round it may be wrong, which
// only costs time.
func suspicious(md []byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(md[at:], '<')
		if n < 0 {
			break
		}
		if at += n; suspiciousTag(md[at:]) {
			return true
		}
	}
	for at, line := 0, 0; ; {
		n := bytes.IndexByte(md[at:], ']')
		if n < 0 || at+n+1 >= len(md) {
			return false
		}
		if end := bytes.LastIndexByte(md[at:at+n], '\n'); end >= 0 {
			line = at + end + 1
		}
		switch at += n + 1; md[at] {
		case '(':
			if suspiciousTarget(md[at+1:]) {
				return true
			}
		case ':':
			if at-line > maxLabel {
				continue
			}
			rest := md[at+1 : min(at+maxGlance, len(md))]
			if end := bytes.IndexByte(rest, '\n'); end >= 0 {
				rest = rest[:end]
			}
			if suspiciousDefinition(md[line:at], rest) {
				return true
			}
		}
	}
}

// plainTags are the elements that show their content, and may stand in a text without attributes. Longer names than
// blockquote are not among them.
var plainTags = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(`a abbr b big blockquote br center cite code dd del details div dl dt em figcaption
		figure font h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q rp rt ruby s samp section small source span
		strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr`) {
		set[name] = true
	}
	return set
}()

// maxGlance is how many bytes of a tag are looked at before it counts as suspicious. It is enough for the attributes of
// honest tags.
const maxGlance = 1 << 10

// suspiciousTag reports whether the tag that may begin with the "<" of text could go or lose an attribute: a comment,
// an element that is not plain, or attributes that are not of shownAttributes. Generics of code, such as List<String>,
// come here often, and addresses in angle brackets.
func suspiciousTag(text []byte) bool {
	if len(text) < 2 {
		return false
	}
	at := 1
	switch c := text[1]; {
	case c == '!' || c == '?':
		return true
	case c == '/':
		return false // closes what was looked at before
	case !chars.Letter(c):
		return false
	}
	for at < len(text) && (chars.Letter(text[at]) || text[at] >= '0' && text[at] <= '9') {
		at++
	}
	if at > len("blockquote") && plainTags[strings.ToLower(string(text[1:at]))] || at == len(text) {
		return false
	}
	var lower [16]byte
	name := append(lower[:0], text[1:min(at, len(lower))]...)
	for i := range name {
		name[i] |= 0x20 // digits have this bit
	}
	if text[at] == ':' && !unsafeScheme(text[1:at]) || text[at] == '@' {
		return false // an address
	}
	if !plainTags[string(name)] {
		return text[at] == '>' || text[at] == ' ' || text[at] == '/' || text[at] == '\n' || text[at] == '\t' ||
			text[at] == ':'
	}
	if text[at] == '>' {
		return false
	}
	text = text[at:min(len(text), maxGlance)]
	for at = 0; at < len(text); {
		switch text[at] {
		case '>':
			return false
		case ' ', '\n', '\t', '/':
			at++
			continue
		}
		end := at
		for end < len(text) && (chars.Letter(text[end]) || text[end] == '-') {
			end++
		}
		if !shownAttributes[string(text[at:end])] || end+1 >= len(text) || text[end] != '=' ||
			text[end+1] != '"' && text[end+1] != '\'' {
			return true
		}
		n := bytes.IndexByte(text[end+2:], text[end+1])
		if n < 0 || suspiciousAddress(text[end+2:end+2+n+1]) {
			return true
		}
		at = end + 2 + n + 1
	}
	return true
}

// shownAttributes are the attributes that hide nothing, whatever their value, but for the scheme of an address. style,
// class, hidden and title are not among them.
var shownAttributes = map[string]bool{
	"href": true, "src": true, "alt": true, "align": true, "id": true, "name": true, "target": true, "rel": true,
	"valign": true, "start": true, "type": true, "colspan": true, "rowspan": true, "lang": true, "dir": true,
	"media": true, "srcset": true, "loading": true, "border": true,
}

// suspiciousTarget reports whether the target of a link that a text begins with may have a title, or an address with a
// scheme that nobody should follow. Any white space may come before a title.
func suspiciousTarget(text []byte) bool {
	text = text[:min(len(text), maxGlance)]
	for i, c := range text {
		if targetEnds[c] {
			return c != ')' || suspiciousAddress(text[:i])
		}
	}
	return len(text) == maxGlance
}

// targetEnds are the bytes at which a look at the target of a link ends. A backslash may escape the parenthesis.
var targetEnds = func() (set [256]bool) {
	for c := range byte(' ' + 1) {
		set[c] = true
	}
	set[')'], set['\\'], set['<'] = true, true, true
	return set
}()

// suspiciousAddress reports whether the address that a text begins with may have a scheme that nobody should follow. An
// escape or an entity within the first letters may spell one.
func suspiciousAddress(text []byte) bool {
	at := 0
	for at < len(text) && (text[at] <= ' ' || text[at] == '<') {
		at++
	}
	for i, c := range text[at:] {
		switch {
		case c == '&' || c == '\\' || c < ' ' || c == ' ' && i > 0 && i < len("javascript"):
			return i < len("livescript:") && i > 0 || c == '&' && i == 0
		case c == ':':
			return unsafeScheme(text[at : at+i])
		case !chars.Letter(c):
			return false
		}
	}
	return false
}
