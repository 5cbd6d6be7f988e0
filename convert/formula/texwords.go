package formula

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"github.com/readthru/readthru/convert/chars"
)

// mostUnshown is how many letters in words of a formula's source its picture may lack: names of colours, labels and
// macros. A sentence has more.
const mostUnshown = 12

// shows reports whether a formula shows the words of its TeX source. Readers do not see the source, so it could say
// something else. A source that says otherwise is refused, and reported as hidden text.
func shows(n *html.Node, tex string) bool {
	words := texWords(tex)
	if letters(words) <= mostUnshown {
		return true
	}
	var b strings.Builder
	var write func(n *html.Node)
	write = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case c.Data != "annotation" && c.Data != "annotation-xml" && c.Data != "mphantom":
				write(c)
			}
		}
	}
	write(n)
	picture := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(b.String()))
	var unshown []string
	for _, word := range words {
		if !strings.Contains(picture, strings.ToLower(word)) {
			unshown = append(unshown, word)
		}
	}
	return letters(unshown) <= mostUnshown
}

// letters returns how many letters the words of a formula have together.
func letters(words []string) (count int) {
	for _, word := range words {
		count += len(word)
	}
	return count
}

// texWords returns the words of TeX that are no commands and no names of environments, colours and labels. Words have
// three letters at least; shorter runs are variables.
func texWords(tex string) (words []string) {
	for i := 0; i < len(tex); {
		switch c := tex[i]; {
		case c == '\\':
			begun := i + 1
			for i++; i < len(tex) && chars.Letter(tex[i]); i++ {
			}
			if named[tex[begun:i]] {
				if end := strings.IndexByte(tex[i:], '}'); end >= 0 {
					i += end
				}
			}
			if i == begun {
				i++
			}
		case chars.Letter(c):
			begun := i
			for i < len(tex) && chars.Letter(tex[i]) {
				i++
			}
			if i-begun >= 3 {
				words = append(words, tex[begun:i])
			}
		default:
			i++
		}
	}
	return words
}

// named are the commands whose first argument is a name that is not shown. It is passed over.
var named = map[string]bool{
	"begin": true, "end": true, "color": true, "textcolor": true, "colorbox": true, "label": true, "ref": true,
	"eqref": true, "class": true, "cssId": true, "style": true, "href": true, "require": true, "definecolor": true,
	"hspace": true, "vspace": true, "rule": true, "fontfamily": true, "mathchoice": true, "enclose": true,
}
