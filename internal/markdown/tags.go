package markdown

import (
	"bytes"
	"iter"
	"slices"
)

// TagKind says what an [HTMLTag] is.
type TagKind uint8

// The kinds of tags.
const (
	OpenTag  TagKind = iota
	CloseTag         // </name>
	Comment          // a comment, a declaration, a processing instruction or CDATA: nothing of it is shown
	Broken           // a tag that its HTML block ends within: a browser reads on for the end of it
)

// HTMLTag is a tag or a comment of HTML in a text.
type HTMLTag struct {
	Kind       TagKind
	Block      bool // it stands in an HTML block, not in a paragraph
	Start, End int
	BlockEnd   int         // where the paragraph or HTML block that it stands in ends
	Name       string      // in lower case
	Attributes []Attribute // of an open tag
}

// Attribute is an attribute of a tag.
type Attribute struct {
	Name       string // in lower case
	Start, End int    // the attribute with the white space before it
	Value      string // as written, without quotation marks
}

// Tags yields the tags and comments of a text that are HTML and not code, in order. A paragraph is read as CommonMark
// says (6.6). The content of an HTML block is read as a browser reads it: there are no code spans or escapes,
// attributes need no space between them, and a comment that does not end in its block goes on behind it.
func Tags(md []byte) iter.Seq[HTMLTag] {
	return func(yield func(HTMLTag) bool) {
		t := tags{md: md, yield: yield}
		var r Reader
		for at := 0; at < len(md) && !t.stopped; {
			line, next := LineAt(md, at)
			kind := r.Line(line)
			if r.begins || kind != Prose && kind != HTML && kind != Underline || t.html != (kind == HTML) {
				t.flush()
			}
			if kind == Prose || kind == ATX || kind == HTML {
				t.html = kind == HTML
				t.add(md, at, at+r.content, at+len(line))
			}
			at = next
		}
		t.flush()
	}
}

// tags reads the HTML of a text, block by block.
type tags struct {
	md      []byte
	yield   func(HTMLTag) bool
	stopped bool
	paragraph
	html bool // what is being gathered is an HTML block
	from int  // what stands before it in md has been read, as part of a comment
}

// flush reads the HTML of the paragraph or HTML block that was gathered.
func (t *tags) flush() {
	text := t.take(t.md)
	at := max(0, t.from-t.start)
	if at >= len(text) || bytes.IndexByte(text[at:], '<') < 0 {
		return
	}
	if t.html {
		t.block(text, at)
	} else {
		t.inline(text, at)
	}
}

// put yields a tag, whose places in the block become those in the text.
func (t *tags) put(tag HTMLTag, text []byte) {
	tag.Block, tag.BlockEnd = t.html, t.start+len(text)
	tag.Start += t.start
	tag.End += t.start
	for i := range tag.Attributes {
		tag.Attributes[i].Start += t.start
		tag.Attributes[i].End += t.start
	}
	t.stopped = t.stopped || !t.yield(tag)
}

// inline reads a paragraph from at on.
func (t *tags) inline(text []byte, at int) {
	last, counted := lastTicks{}, false
	ends := ends{text: text}
	for at < len(text) && !t.stopped {
		switch text[at] {
		case '\\':
			at++
			if at < len(text) && IsPunctuation(text[at]) {
				at++
			}
			continue
		case '`':
			if !counted {
				last, counted = countTicks(text), true
			}
			at = skipCode(text, at, &last)
			continue
		case '<':
			if inner := address(text[at:]); inner != nil {
				at += len(inner) + 2
				continue
			}
			if end := ends.comment(at); end > 0 {
				t.put(HTMLTag{Kind: Comment, Start: at, End: end}, text)
				at = end
				continue
			}
			var list []Attribute
			n := scanTag(text[at:], func(a attribute) {
				list = append(list, Attribute{a.name, at + a.whole[0], at + a.whole[1], string(text[at+a.start : at+a.end])})
			})
			if n > 0 {
				t.tag(text, at, at+n, list)
				at += n
				continue
			}
		}
		at++
	}
}

// tag yields the tag from at to end, and returns it.
func (t *tags) tag(text []byte, at, end int, list []Attribute) HTMLTag {
	tag, from := HTMLTag{Start: at, End: end, Attributes: list}, at+1
	if text[from] == '/' {
		tag.Kind = CloseTag
		from++
	}
	to := from
	for to < end && !isSpace(text[to]) && text[to] != '/' && text[to] != '>' {
		to++
	}
	tag.Name = string(bytes.ToLower(text[from:to]))
	t.put(tag, text)
	return tag
}

// block reads an HTML block from at on.
func (t *tags) block(text []byte, at int) {
	ends := ends{text: text}
	for !t.stopped {
		next := bytes.IndexByte(text[at:], '<')
		if next < 0 {
			return
		}
		at += next
		if bytes.HasPrefix(text[at:], []byte("<!--")) {
			end := ends.comment(at)
			if end == 0 {
				t.openComment(text, at)
				return
			}
			t.put(HTMLTag{Kind: Comment, Start: at, End: end}, text)
			at = end
			continue
		}
		if len(text) > at+1 && (text[at+1] == '!' || text[at+1] == '?') { // a comment to a browser
			end := bytes.IndexByte(text[at:], '>')
			if end < 0 {
				end = len(text) - at - 1
			}
			t.put(HTMLTag{Kind: Comment, Start: at, End: at + end + 1}, text)
			at += end + 1
			continue
		}
		end, list := looseTag(text, at)
		switch {
		case end == 0:
			at++
		case end < 0:
			t.put(HTMLTag{Kind: Broken, Start: at, End: len(text)}, text)
			return
		default:
			tag := t.tag(text, at, end, list)
			at = end
			if tag.Kind == OpenTag && slices.Contains(rawText[:], tag.Name) {
				at = ends.raw(at, tag.Name)
			}
		}
	}
}

// rawText are the elements whose content a browser reads as text.
var rawText = [...]string{"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"}

// openComment yields a comment that goes on behind its HTML block.
func (t *tags) openComment(text []byte, at int) {
	behind := t.start + len(text)
	end := len(t.md)
	if n := bytes.Index(t.md[behind:], []byte("-->")); n >= 0 {
		end = behind + n + len("-->")
	}
	t.put(HTMLTag{Kind: Comment, Start: at, End: end - t.start}, text)
	t.from = end
}

// ends finds the ends of comments and of raw text in a block. What it did not find it does not look for again.
type ends struct {
	text   []byte
	absent [5]bool
	closed map[string]bool // names of elements without a closing tag
}

// comment returns where the comment, declaration or processing instruction ends that begins at at; 0 for none.
func (e *ends) comment(at int) int {
	text := e.text[at:]
	if len(text) < 3 || text[1] != '!' && text[1] != '?' {
		return 0
	}
	for i, form := range [...]struct{ start, end string }{
		{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"},
	} {
		if !bytes.HasPrefix(text, []byte(form.start)) || form.start == "<!" && !isLetter(text[2]) {
			continue
		}
		if e.absent[i] {
			return 0
		}
		from := len(form.start)
		if form.start == "<!--" {
			from = 2 // <!--> and <!---> are comments
		}
		n := bytes.Index(text[from:], []byte(form.end))
		if e.absent[i] = n < 0; n < 0 {
			return 0
		}
		return at + from + n + len(form.end)
	}
	return 0
}

// raw returns where the closing tag of an element begins whose raw text begins at at; the end of the block if there is
// none.
func (e *ends) raw(at int, name string) int {
	if e.closed[name] {
		return len(e.text)
	}
	for from := at; ; {
		n := bytes.Index(e.text[from:], []byte("</"))
		if n < 0 {
			break
		}
		from += n
		if rest := e.text[from+2:]; len(rest) >= len(name) && bytes.EqualFold(rest[:len(name)], []byte(name)) {
			return from
		}
		from += 2
	}
	if e.closed == nil {
		e.closed = map[string]bool{}
	}
	e.closed[name] = true
	return len(e.text)
}

// looseTag returns where the tag that begins at at ends, as a browser reads it, and its attributes; 0 if there is no
// tag at at, and -1 if it does not end.
func looseTag(text []byte, at int) (end int, list []Attribute) {
	from := at + 1
	if from < len(text) && text[from] == '/' {
		from++
	}
	if from >= len(text) || !isLetter(text[from]) {
		return 0, nil
	}
	for at = from; at < len(text) && !isSpace(text[at]) && text[at] != '/' && text[at] != '>'; {
		at++
	}
	for at < len(text) {
		space := at
		for at < len(text) && (isSpace(text[at]) || text[at] == '/') {
			at++
		}
		if at == len(text) {
			break
		}
		if text[at] == '>' {
			return at + 1, list
		}
		name := at
		for at++; at < len(text) && !isSpace(text[at]) && bytes.IndexByte([]byte("/>="), text[at]) < 0; {
			at++
		}
		a := Attribute{Name: string(bytes.ToLower(text[name:at])), Start: space}
		next := at
		for next < len(text) && isSpace(text[next]) {
			next++
		}
		if next < len(text) && text[next] == '=' {
			for at = next + 1; at < len(text) && isSpace(text[at]); {
				at++
			}
			value := at
			if at < len(text) && (text[at] == '"' || text[at] == '\'') {
				n := bytes.IndexByte(text[at+1:], text[at])
				if n < 0 {
					return -1, nil
				}
				value = at + 1
				a.Value = string(text[value : value+n])
				at = value + n + 1
			} else {
				for at < len(text) && !isSpace(text[at]) && text[at] != '>' {
					at++
				}
				a.Value = string(text[value:at])
			}
		}
		a.End = at
		list = append(list, a)
	}
	return -1, nil
}
