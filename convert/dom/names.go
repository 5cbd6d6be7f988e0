package dom

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
)

// Names makes a set of the names in a text, without their hyphens, for [Named]. White space parts the names.
func Names(names string) map[string]bool {
	return chars.Set(strings.ReplaceAll(names, "-", ""))
}

// Named reports whether a name in names is among the words of n's class and id. A name may have up to four words, which
// hyphens, underscores or colons part on the page; a plural counts as its singular.
func Named(n *html.Node, names map[string]bool) bool {
	class, id := Attr(n, "class"), Attr(n, "id")
	if class == "" && id == "" || len(class)+len(id) > 400 {
		return false
	}
	return AnyNamed(class, names) || AnyNamed(id, names)
}

// AnyNamed is [Named] for the value of one attribute.
func AnyNamed(value string, names map[string]bool) bool {
	var room [64]byte
	for token, rest := CutWord(value); token != ""; token, rest = CutWord(rest) {
		token = strings.TrimPrefix(strings.ToLower(token), "elementor-widget") // a site builder's every box
		for token != "" {
			word, others := cutPart(token)
			token = others
			name := room[:0]
			for range 4 {
				name = append(name, word...)
				if names[string(name)] || names[string(bytes.TrimSuffix(name, []byte("s")))] {
					return true
				}
				if word, others = cutPart(others); word == "" {
					break
				}
			}
		}
	}
	return false
}

// cutPart splits a name at its first hyphen or other separator.
func cutPart(name string) (part, rest string) {
	begin := 0
	for begin < len(name) && separates(name[begin]) {
		begin++
	}
	end := begin
	for end < len(name) && !separates(name[end]) {
		end++
	}
	return name[begin:end], name[end:]
}

// separates reports whether c parts the words of a name, as of a class.
func separates(c byte) bool { return c == '-' || c == '_' || c == ':' }
