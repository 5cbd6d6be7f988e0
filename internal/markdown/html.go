package markdown

import "bytes"

// htmlKind is how an HTML block begins, which decides where it ends (CommonMark, 4.6).
type htmlKind uint8

const (
	noHTML      htmlKind = iota
	htmlRaw              // script, pre, style, textarea
	htmlComment          // <!--
	htmlProcess          // <?
	htmlDeclare          // <!X
	htmlData             // <![CDATA[
	htmlElement          // an element of blocks: ends with a blank line
	htmlTag              // any other tag alone on its line: likewise
)

// rawElements are the elements whose text is not markup.
var rawElements = [...]string{"script", "pre", "style", "textarea"}

// blockElements are the elements that begin an HTML block anywhere.
var blockElements = func() map[string]bool {
	set := map[string]bool{}
	for name := range bytes.FieldsSeq([]byte(`address article aside base basefont blockquote body caption center col colgroup
		dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header
		hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary table
		tbody td tfoot th thead title tr track ul`)) {
		set[string(name)] = true
	}
	return set
}()

// htmlStart returns the kind of HTML block that a text begins (CommonMark, "HTML blocks", seven start conditions);
// noHTML if it begins none.
func htmlStart(text []byte) htmlKind {
	if len(text) < 2 {
		return noHTML
	}
	switch text[1] {
	case '!':
		switch {
		case bytes.HasPrefix(text, []byte("<!--")):
			return htmlComment
		case bytes.HasPrefix(text, []byte("<![CDATA[")):
			return htmlData
		case len(text) > 2 && isLetter(text[2]):
			return htmlDeclare
		}
		return noHTML
	case '?':
		return htmlProcess
	}
	at := 1
	if text[1] == '/' {
		at = 2
	}
	var lower [16]byte
	n := 0
	for at+n < len(text) && n < len(lower) && (isLetter(text[at+n]) || n > 0 && isDigit(text[at+n])) {
		c := text[at+n]
		if !isDigit(c) {
			c |= 0x20
		}
		lower[n] = c
		n++
	}
	if n == 0 {
		return noHTML
	}
	name, rest := lower[:n], text[at+n:]
	ended := len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '>'
	for _, raw := range rawElements {
		if string(name) == raw {
			if ended && at == 1 {
				return htmlRaw
			}
			if at == 1 {
				return noHTML
			}
		}
	}
	if (ended || bytes.HasPrefix(rest, []byte("/>"))) && blockElements[string(name)] {
		return htmlElement
	}
	if end := tagEnd(text); end > 0 && len(bytes.TrimLeft(text[end:], " \t\r")) == 0 {
		return htmlTag
	}
	return noHTML
}

// ends reports whether a line ends an HTML block of a kind that does not end with a blank line.
func (k htmlKind) ends(line []byte) bool {
	switch k {
	case htmlRaw:
		for _, name := range rawElements {
			if containsFold(line, "</"+name+">") {
				return true
			}
		}
	case htmlComment:
		return bytes.Contains(line, []byte("-->"))
	case htmlProcess:
		return bytes.Contains(line, []byte("?>"))
	case htmlDeclare:
		return bytes.IndexByte(line, '>') >= 0
	case htmlData:
		return bytes.Contains(line, []byte("]]>"))
	}
	return false
}

// containsFold reports whether a text of HTML contains another one, whatever the case of its letters. That one is in
// lower case, and does not begin with a letter.
func containsFold(text []byte, lower string) bool {
	for {
		at := bytes.IndexByte(text, lower[0])
		if at < 0 || len(text)-at < len(lower) {
			return false
		}
		if text = text[at:]; bytes.EqualFold(text[:len(lower)], []byte(lower)) {
			return true
		}
		text = text[1:]
	}
}

// attribute is an attribute of a tag: its name and the range of its value, without quotation marks. An attribute
// without a value has an empty range. whole is the range of the attribute with the white space before it.
type attribute struct {
	name       string
	start, end int
	whole      [2]int
}

// maxTag is how long a tag may be, in bytes. It bounds what hostile text costs.
const maxTag = 2000

// tagEnd returns where the open or closing tag of HTML ends that a text begins with; 0 when it begins with none
// (CommonMark, 6.6).
func tagEnd(text []byte) int { return readTag(text, nil) }

// readTag reads a tag of HTML: it is tagEnd, and calls attr for every attribute.
func readTag(text []byte, attr func(attribute)) int {
	return scanTag(text[:min(len(text), maxTag)], attr)
}

// scanTag is readTag, for a tag of HTML, without a limit.
func scanTag(text []byte, attr func(attribute)) int {
	at := 1
	closing := at < len(text) && text[at] == '/'
	if closing {
		at++
	}
	if at >= len(text) || !isLetter(text[at]) {
		return 0
	}
	for at < len(text) && (isLetter(text[at]) || isDigit(text[at]) || text[at] == '-') {
		at++
	}
	for {
		space := at
		for at < len(text) && isSpace(text[at]) {
			at++
		}
		switch {
		case at >= len(text):
			return 0
		case text[at] == '>':
			return at + 1
		case closing:
			return 0
		case text[at] == '/':
			if at+1 < len(text) && text[at+1] == '>' {
				return at + 2
			}
			return 0
		case at == space || !isLetter(text[at]) && text[at] != '_' && text[at] != ':':
			return 0
		}
		name := at
		for at < len(text) && (isLetter(text[at]) || isDigit(text[at]) || bytes.IndexByte([]byte("_:.-"), text[at]) >= 0) {
			at++
		}
		key := text[name:at]
		next := at
		for next < len(text) && isSpace(text[next]) {
			next++
		}
		if next >= len(text) || text[next] != '=' {
			if attr != nil {
				attr(attribute{string(bytes.ToLower(key)), at, at, [2]int{space, at}})
			}
			continue
		}
		for next++; next < len(text) && isSpace(text[next]); {
			next++
		}
		if next >= len(text) {
			return 0
		}
		start, end := next, next
		switch quote := text[next]; quote {
		case '"', '\'':
			n := bytes.IndexByte(text[next+1:], quote)
			if n < 0 {
				return 0
			}
			start, end = next+1, next+1+n
			at = end + 1
		default:
			for end < len(text) && !isSpace(text[end]) && bytes.IndexByte([]byte("\"'=<>`"), text[end]) < 0 {
				end++
			}
			if end == start {
				return 0
			}
			at = end
		}
		if attr != nil {
			attr(attribute{string(bytes.ToLower(key)), start, end, [2]int{space, at}})
		}
	}
}

// isLetter reports whether a byte of HTML is an ASCII letter.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isDigit reports whether a byte of HTML is an ASCII digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isSpace reports whether a byte of HTML is white space.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// IsPunctuation reports whether c is ASCII punctuation, before which a backslash is an escape.
func IsPunctuation(c byte) bool { return c > ' ' && c < 0x7f && !isLetter(c) && !isDigit(c) }

// TagLength returns the length of the HTML tag or comment that a text begins with; 0 when it begins with none.
func TagLength(text []byte) int {
	if n := tagEnd(text); n > 0 {
		return n
	}
	return comment(text)
}

// comment returns the length of the comment, declaration or processing instruction of HTML that a text begins with; 0
// for none.
func comment(text []byte) int {
	for _, form := range [...]struct{ start, end string }{
		{"<!-->", ""}, {"<!--->", ""}, {"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"},
	} {
		if !bytes.HasPrefix(text, []byte(form.start)) || form.start == "<!" && (len(text) < 3 || !isLetter(text[2])) {
			continue
		}
		n := bytes.Index(text[len(form.start):min(len(text), maxMark)], []byte(form.end))
		if n < 0 {
			return 0
		}
		return len(form.start) + n + len(form.end)
	}
	return 0
}
