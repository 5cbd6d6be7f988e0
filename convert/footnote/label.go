package footnote

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// label returns a label for markdown: the page's own where it is a number or a letter not yet taken, else a free
// number. Labels of markdown must differ on a page.
func (f *noteFinder) label(own string, number int) string {
	if !digits(own) && (len(own) != 1 || !chars.Letter(own[0])) || f.taken[own] {
		for own = strconv.Itoa(number); f.taken[own]; own = strconv.Itoa(number) {
			number++
		}
	}
	f.taken[own] = true
	return own
}

// dropLabel removes the block or heading before a footnote that holds nothing but its label. The mark of markdown says
// it.
func (n *note) dropLabel() {
	p := n.node.PrevSibling
	for p != nil && p.Type == html.TextNode && chars.Blank(p.Data) {
		p = p.PrevSibling
	}
	if p == nil || p.Type != html.ElementNode || !dom.IsBlock(n.node) && !dom.IsHeading(p) {
		return
	}
	if label, _ := noteLabel(shortText(p)); label != "" && label == n.own {
		dom.Remove(p)
	}
}

// isLabel reports whether the text of n is nothing but a label of a footnote.
func isLabel(n *html.Node) bool {
	label, _ := noteLabel(shortText(n))
	return label != ""
}

// withoutLabel removes the label at the start of a footnote. It takes brackets and dots with it, in five steps at most,
// since generators put each into an element of its own.
func (f *noteFinder) withoutLabel(n *note) {
	for range 5 {
		first := dom.FirstText(n.node)
		if first == nil {
			return
		}
		data := strings.TrimLeft(first.Data, " \t\n\u00a0")
		rest := strings.TrimLeft(data, "^↑ ")
		if len(rest) > 1 && strings.IndexByte(".:)]", rest[0]) >= 0 && rest[1] == ' ' { // what stood behind a label
			rest = rest[2:]
		}
		if data == "[" || data == "(" {
			rest = ""
		}
		if rest != data {
			first.Data = rest
			continue
		}
		word := chars.FirstWord(data)
		label, bracketed := noteLabel(word)
		alone := len(data) == len(word) || word != n.own || bracketed || digits(word) && noteWords(n.node) ||
			strings.HasSuffix(word, ".") || strings.Trim(word, "*†‡§‖") == ""
		whole := first.Parent != n.node && chars.OneLine(dom.Text(first.Parent)) == word && !dom.IsBlock(first.Parent)
		if label == "" || label != n.own && (!whole || !dom.Is(first.Parent, atom.Sup)) || !alone && !whole {
			return
		}
		first.Data = strings.TrimLeft(strings.TrimLeft(data[len(word):], " \t\n\u00a0"), ".:)] ")
		if whole {
			dom.Remove(first.Parent)
		}
	}
}

// noteLabel returns the label of a footnote that a text consists of, without brackets: a number, a letter, a sign,
// "note 3". bracketed says that brackets stood around it. It returns "" for any other text.
func noteLabel(text string) (label string, bracketed bool) {
	label = strings.TrimRight(text, ".:^↩↑\ufe0e ")
	for _, pair := range [...]string{"[]", "()", "［］"} {
		opening, closing := firstRune(pair), pair[len(firstRune(pair)):]
		if inner, ok := strings.CutPrefix(label, opening); ok {
			if inner, ok = strings.CutSuffix(inner, closing); ok {
				label, bracketed = strings.TrimSpace(inner), true
			}
		}
	}
	label = strings.TrimLeft(label, "^↑")
	if number, again, ok := strings.Cut(label, ":"); ok && bracketed && digits(again) { // the second reference to it
		label = number
	}
	switch {
	case label == "" || len(label) > 12:
		return "", false
	case digits(label) && len(label) <= 4:
		return label, bracketed
	case strings.Trim(label, "*†‡§‖⊕") == "":
		return label, bracketed
	case len(label) == 1 && chars.Letter(label[0]):
		return label, bracketed
	case strings.Trim(label, "ivxIVX") == "" && len(label) <= 6:
		return label, bracketed
	}
	if word, number, ok := strings.Cut(strings.ToLower(label), " "); ok && digits(number) && noteNames[word] || ok &&
		(word == "nb" || word == "anm.") && digits(number) {
		return label, true
	}
	return "", false
}

// shortText returns the text below n, or "" when it is longer than a label. It reads 100 bytes at most, so that it may
// be asked of any element.
func shortText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			if b.WriteString(d.Data); b.Len() > 100 {
				return ""
			}
		}
	}
	return chars.OneLine(b.String())
}

// firstRune returns the first character of s, such as the bracket before the label of a footnote.
func firstRune(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

// digits reports whether s, a label of a footnote or a part of one, is a number, and not empty.
func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
