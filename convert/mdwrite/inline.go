package mdwrite

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// delimited writes an inline element of emphasis. White space at its edges moves out. It writes no marks around blocks
// and within an element of the same emphasis. mark is that of the emphasis, depth counts the elements of the kind that
// are open. Where emphasis would not be read as such, the text is written without it.
func (r *renderer) delimited(out *bytes.Buffer, n *html.Node, mark string, depth *int) {
	if *depth > 0 {
		r.children(out, n)
		return
	}
	*depth++
	var buf bytes.Buffer
	r.children(&buf, n)
	*depth--
	content := buf.Bytes()
	left := bytes.TrimLeftFunc(content, unicode.IsSpace) // a no-break space inside would undo the emphasis
	trimmed := bytes.TrimRightFunc(left, unicode.IsSpace)
	if len(trimmed) == 0 || bytes.Contains(trimmed, []byte("\n\n")) || bytes.IndexByte(trimmed, codeNewline) >= 0 {
		out.Write(content)
		return
	}
	lead := len(content) - len(left)
	tail := content[lead+len(trimmed):]
	out.Write(content[:lead])
	if prefix, inner, suffix, ok := flank(out.Bytes(), trimmed, tail, n); ok {
		out.Write(prefix)
		trimmed, tail = inner, append(suffix, tail...)
	} else {
		out.Write(trimmed)
		out.Write(tail)
		return
	}
	if tail := out.Bytes(); lead == 0 && bytes.HasSuffix(tail, []byte(mark)) &&
		!bytes.HasSuffix(tail, []byte(`\`+mark)) && (mark != "*" || !bytes.HasSuffix(tail, []byte("**"))) {
		out.Truncate(out.Len() - len(mark)) // goes on from the element before it
	} else {
		out.WriteString(mark)
	}
	for i, line := range bytes.Split(trimmed, []byte("  \n")) { // emphasis ends with its line
		if i > 0 {
			out.WriteString("  \n")
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if i > 0 {
				out.WriteString(mark)
			}
			out.Write(line)
			out.WriteString(mark)
		}
	}
	out.Write(tail)
}

// Punctuation that emphasis may lose at its edges without a change of meaning. Quotation marks and parentheses at both
// edges go together.
const (
	openers = "\"'“‘«„¿¡("
	quotes  = "\"'”’»“"
	closers = ".,:;?!\"'”’»…、。：；，！？"
)

// brackets are the pairs that emphasis may leave to the text around it. They enclose what is emphasised, and stand as
// well outside.
var brackets = [...][2]string{
	{"(", ")"},
	{"（", "）"},
	{"「", "」"},
	{"『", "』"},
	{"《", "》"},
	{"〈", "〉"},
	{"【", "】"},
	{"［", "］"},
	{"〔", "〕"},
}

// inBrackets returns the brackets that are round all of content, the text of an emphasis, and what is between them. It
// is false if there are others of them inside.
func inBrackets(content []byte) (opening, inner, closing []byte, ok bool) {
	for _, pair := range brackets {
		inner, begins := bytes.CutPrefix(content, []byte(pair[0]))
		inner, ends := bytes.CutSuffix(inner, []byte(pair[1]))
		if begins && ends && len(inner) > 0 && len(bytes.TrimSpace(inner)) == len(inner) &&
			!bytes.ContainsAny(inner, pair[0]+pair[1]) {
			return []byte(pair[0]), inner, []byte(pair[1]), true
		}
	}
	return nil, nil, nil, false
}

// flank moves punctuation out of emphasis where a mark between the punctuation and a letter would not count (CommonMark
// 6.2: a delimiter run beside a letter must not have punctuation on its other side). ok is false if moving does not
// help. before is what has been written, content the text of the emphasis, tail the white space behind it, n its
// element.
func flank(before, content, tail []byte, n *html.Node) (prefix, inner, suffix []byte, ok bool) {
	inner = content
	last, _ := utf8.DecodeLastRune(before)
	if len(before) > 0 && wordRune(last) || len(tail) == 0 && wordRune(runeAfter(n)) {
		if opening, within, closing, ok := inBrackets(content); ok {
			return opening, within, closing, true
		}
	}
	if len(before) > 0 && wordRune(last) {
		inner = bytes.TrimLeft(content, openers)
		prefix = content[:len(content)-len(inner)]
		if first, _ := utf8.DecodeRune(inner); len(inner) == 0 || !wordRune(first) {
			return nil, nil, nil, false
		}
	}
	if len(tail) == 0 && wordRune(runeAfter(n)) {
		trimmed := bytes.TrimRight(inner, closers)
		if last, _ := utf8.DecodeLastRune(trimmed); len(trimmed) == 0 || !wordRune(last) {
			return nil, nil, nil, false
		}
		suffix, inner = bytes.Clone(inner[len(trimmed):]), trimmed
		if bytes.ContainsAny(suffix, quotes) && prefix == nil { // their opening goes with them
			inner = bytes.TrimLeft(trimmed, openers)
			prefix = trimmed[:len(trimmed)-len(inner)]
		}
	}
	return prefix, inner, suffix, true
}

// wordRune reports whether r, beside a mark of emphasis, is neither white space nor punctuation.
func wordRune(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsPunct(r) && !unicode.IsSymbol(r) }

// runeAfter returns the first character that is written after n, an emphasis: a space at the end of a line, and a star
// for markup. It looks at eight nodes at most.
func runeAfter(n *html.Node) rune {
	for range 8 {
		for n.NextSibling == nil {
			if n = n.Parent; n == nil || dom.IsBlock(n) {
				return ' '
			}
		}
		n = n.NextSibling
		for n.Type == html.ElementNode {
			if dom.Is(n, atom.A, atom.Code, atom.Kbd, atom.Samp, atom.Tt, atom.Em, atom.I, atom.Strong, atom.B, atom.Img,
				atom.Var, atom.Dfn, atom.Del, atom.S) || n.Data == dom.NoteRefElement || n.Data == dom.MathElement {
				return '*'
			}
			if dom.IsBlock(n) || dom.Is(n, atom.Br) || n.FirstChild == nil {
				break
			}
			n = n.FirstChild
		}
		switch {
		case dom.IsBlock(n), dom.Is(n, atom.Br):
			return ' '
		case n.Type == html.TextNode && n.Data != "":
			r, _ := utf8.DecodeRuneInString(n.Data)
			return r
		}
	}
	return ' '
}

// raised writes the inline elements sub and sup as HTML where the meaning depends on them: for digits, signs and single
// letters. Otherwise it writes plain text. 2<sup>10</sup> is another number than 210; words that are set small are not.
func (r *renderer) raised(out *bytes.Buffer, n *html.Node) {
	text := chars.OneLine(dom.Text(n))
	short := len([]rune(text)) == 1 || len(text) <= 4 && text != "" && strings.Trim(text, "0123456789+-−()") == ""
	if !short || dom.Contains(n, atom.A) {
		r.children(out, n)
		return
	}
	out.WriteString("<" + n.Data + ">")
	r.children(out, n)
	out.WriteString("</" + n.Data + ">")
}

// math writes a formula in TeX between dollars: on lines of its own if it is set as a block, unless it stands in a
// cell.
func (r *renderer) math(out *bytes.Buffer, n *html.Node) {
	tex := dom.Text(n)
	if dom.Attr(n, "display") == "block" && r.cells == 0 {
		out.WriteString("\n\n$$" + string(codeNewline) + tex + string(codeNewline) + "$$\n\n")
		return
	}
	out.WriteString("$" + tex + "$")
}

// inlineCode writes code within a line. If the code is one link or a list of links, these go outside, because markdown
// shows a link in code as text. White space at its edges moves out.
func (r *renderer) inlineCode(out *bytes.Buffer, n *html.Node) {
	text := dom.Text(n)
	trimmed := chars.OneLine(strings.ReplaceAll(text, "\u00a0", " "))
	if trimmed == "" {
		r.children(out, n) // an image, perhaps
		return
	}
	if text[0] == ' ' || text[0] == '\n' {
		out.WriteByte(' ')
	}
	link := dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.A) && dom.Attr(d, "href") != "" })
	switch linkable := link != nil && r.link == 0; {
	case linkable && chars.OneLine(dom.Text(link)) == trimmed:
		var code bytes.Buffer
		writeInlineCode(&code, trimmed)
		r.writeLink(out, code.Bytes(), dom.Attr(link, "href"), "")
	case linkable && r.links != "text" && r.links != "none" && ListsLinks(n):
		r.linkedCode(out, n)
	default:
		writeInlineCode(out, trimmed)
	}
	if last := text[len(text)-1]; last == ' ' || last == '\n' {
		out.WriteByte(' ')
	}
}

// ListsLinks reports whether code is a list of links with white space and commas between them, such as the methods of a
// class. A type or a declaration with links in it stays in one piece.
func ListsLinks(n *html.Node) bool {
	links := 0
	for d := range n.Descendants() {
		switch {
		case dom.Is(d, atom.A) && dom.Attr(d, "href") != "":
			links++
		case d.Type == html.TextNode && strings.Trim(d.Data, codeSeparators) != "" && !dom.Within(d, atom.A):
			return false
		}
	}
	return links > 1
}

// codeSeparators stand between the links of a list in code.
const codeSeparators = ", \t\n\u00a0"

// linkedCode writes inline code that is a list of links, each link as code of its own. What stands between them is
// plain text.
func (r *renderer) linkedCode(out *bytes.Buffer, n *html.Node) {
	for d := range n.Descendants() {
		switch {
		case dom.Is(d, atom.A) && dom.Attr(d, "href") != "":
			var code bytes.Buffer
			writeInlineCode(&code, chars.OneLine(dom.Text(d)))
			r.writeLink(out, code.Bytes(), dom.Attr(d, "href"), "")
		case d.Type == html.TextNode && !dom.Within(d, atom.A):
			out.WriteString(chars.Spaced(d.Data))
		}
	}
}

// writeInlineCode writes text as code within a line, between more backticks than it has in a row.
func writeInlineCode(out *bytes.Buffer, text string) {
	if text == "" {
		return
	}
	fence := "`"
	if n := longestRun(text, '`'); n > 0 {
		fence = strings.Repeat("`", n+1)
		text = " " + text + " "
	}
	if bytes.HasSuffix(out.Bytes(), []byte("`")) && !bytes.HasSuffix(out.Bytes(), []byte("\\`")) {
		out.WriteByte(' ') // two pieces of code in a row would run together
	}
	out.WriteString(fence + text + fence)
}

// anchor writes an inline element that is a link. A link in another, and one that holds a code block, become their
// text; white space at the edges moves out. A link without text is left out.
func (r *renderer) anchor(out *bytes.Buffer, n *html.Node) {
	href := dom.Attr(n, "href")
	if href == "" || r.link > 0 {
		r.children(out, n)
		return
	}
	var buf bytes.Buffer
	r.link++
	r.children(&buf, n)
	r.link--
	content := buf.Bytes()
	if bytes.IndexByte(content, codeNewline) >= 0 || r.links == "text" {
		out.Write(content)
		return
	}
	trimmed := bytes.Join(bytes.Fields(content), []byte{' '})
	if len(trimmed) == 0 || r.links == "none" {
		return
	}
	if content[0] == '\n' && bytes.HasPrefix(content, []byte("\n\n")) {
		out.WriteString("\n\n")
	} else if content[0] == ' ' || content[0] == '\n' {
		out.WriteByte(' ')
	}
	r.writeLink(out, trimmed, href, chars.OneLine(dom.Text(n)))
	if bytes.HasSuffix(content, []byte("\n\n")) {
		out.WriteString("\n\n")
	} else if last := content[len(content)-1]; last == ' ' || last == '\n' {
		out.WriteByte(' ')
	}
}

// writeLink writes a link in the form of the options. text is its text before escaping, if any. content is its
// markdown. An address that is its own text becomes an autolink.
func (r *renderer) writeLink(out *bytes.Buffer, content []byte, href, text string) {
	if tail := out.Bytes(); len(tail) > 0 && tail[len(tail)-1] == '!' && !bytes.HasSuffix(tail, []byte(`\!`)) {
		out.Truncate(out.Len() - 1)
		out.WriteString(`\!`) // would make the link an image
	}
	switch {
	case r.links == "text":
		out.Write(content)
	case r.links == "none":
	case r.links == "reference" && href[0] != '#':
		number := r.numbers[href]
		if number == 0 {
			r.references = append(r.references, href)
			number = len(r.references)
			if r.numbers == nil {
				r.numbers = map[string]int{}
			}
			r.numbers[href] = number
		}
		out.WriteByte('[')
		out.Write(content)
		out.WriteString("][" + strconv.Itoa(number) + "]")
	case text == href && strings.HasPrefix(href, "http"):
		out.WriteString("<" + href + ">")
	default:
		out.WriteByte('[')
		out.Write(content)
		out.WriteString("](" + href + ")")
	}
}

// image writes an image in the form of the options. One that stands for an embedded page is written as a link to it.
func (r *renderer) image(out *bytes.Buffer, n *html.Node) {
	alt := escaped(dom.Attr(n, "alt"), false, true)
	if dom.HasAttr(n, dom.EmbedAttr) {
		r.writeLink(out, []byte(alt), dom.Attr(n, "src"), dom.Attr(n, "alt"))
		return
	}
	switch r.images {
	case "none":
	case "alt":
		out.WriteString(alt)
	default:
		out.WriteString("![" + alt + "](" + dom.Attr(n, "src") + ")")
	}
}
