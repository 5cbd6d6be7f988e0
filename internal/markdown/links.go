package markdown

import (
	"bytes"
	"iter"
)

// LinkKind says how a [Link] is written.
type LinkKind uint8

// The kinds of links.
const (
	InlineLink  LinkKind = iota // [text](address)
	InlineImage                 // ![text](address)
	Definition                  // [name]: address
	Autolink                    // <https://example.com>
	BareURL                     // https://example.com in text
	Href                        // the href attribute of an HTML tag
	Src                         // the src attribute of an HTML tag
)

// Link is an address in a text. Both ranges are in bytes.
type Link struct {
	Kind               LinkKind
	Start, End         int // the address as written, without < and >
	TextStart, TextEnd int // the text of an inline link or image
	Begin, After       int // all of it: from its first bracket to behind its last; of a definition, without its line break
}

// Address returns the address of a link of a text, without escapes.
func (l *Link) Address(md []byte) string {
	address := md[l.Start:l.End]
	if l.Kind == Autolink || l.Kind == BareURL {
		return string(address)
	}
	if l.Kind <= Definition && bytes.IndexByte(address, '\\') >= 0 {
		plain := make([]byte, 0, len(address))
		for i := 0; i < len(address); i++ {
			if address[i] == '\\' && i+1 < len(address) && IsPunctuation(address[i+1]) {
				i++
			}
			plain = append(plain, address[i])
		}
		address = plain
	}
	return decoded(address)
}

// Links yields the links of a text in order of their addresses, as they are written: code, escapes and references are
// treated as CommonMark says, except that HTML blocks are read as text, since many authors expect that. Addresses of
// reference links stand in their definitions. In code by indentation only bare URLs are links.
func Links(md []byte) iter.Seq[Link] {
	return func(yield func(Link) bool) {
		l := links{md: md, yield: yield}
		var r Reader
		for at := 0; at < len(md) && !l.stopped; {
			line, next := LineAt(md, at)
			kind := r.Line(line)
			if r.begins || kind != Prose && kind != HTML && kind != Underline {
				l.flush()
			}
			switch kind {
			case Prose, ATX, HTML:
				l.add(md, at, at+r.content, at+len(line))
			case Indented:
				l.bareURLs(line, at)
			}
			at = next
		}
		l.flush()
	}
}

// links reads the inline content of a text, paragraph by paragraph.
type links struct {
	md      []byte
	yield   func(Link) bool
	stopped bool

	paragraph
	openers  []opener
	inactive int // openers of links before this one open nothing
	ticks    lastTicks
}

// paragraph gathers the lines of a paragraph. Its text is the part of md from start on, with what stands before the
// content of its lines as spaces; it is a copy only when there is something to blank.
type paragraph struct {
	start, end int
	text       []byte
	copied     bool
}

// opener is a bracket that may open a link.
type opener struct {
	at    int // behind it
	image bool
}

// maxTicks is how long the marks of a code span may be.
const maxTicks = 64

// add adds the line of md that begins at at. Its content begins at content.
func (p *paragraph) add(md []byte, at, content, end int) {
	if p.end == 0 {
		p.start, p.copied = content, false
		at = content
	}
	if content > at && !p.copied {
		p.text, p.copied = append(p.text[:0], md[p.start:at]...), true
	}
	if p.copied {
		p.text = append(p.text, md[p.start+len(p.text):at]...)
		for range content - at {
			p.text = append(p.text, ' ')
		}
		p.text = append(p.text, md[content:end]...)
	}
	p.end = end
}

// take returns the text that was gathered, or nil if there is none. The next line begins another paragraph.
func (p *paragraph) take(md []byte) []byte {
	if p.end == 0 {
		return nil
	}
	text := md[p.start:p.end]
	if p.copied {
		text = p.text
	}
	p.end = 0
	return text
}

// flush reads the links of the paragraph that was gathered. A paragraph without any of ], < and : has none.
func (l *links) flush() {
	if text := l.take(l.md); bytes.ContainsAny(text, "]<:") {
		l.inline(text, l.definitions(text))
	}
}

// put yields a link, whose places in the paragraph become those in the text.
func (l *links) put(link Link) {
	link.Start += l.start
	link.End += l.start
	link.TextStart += l.start
	link.TextEnd += l.start
	link.Begin += l.start
	link.After += l.start
	l.stopped = l.stopped || !l.yield(link)
}

// definitions yields the link definitions that a paragraph begins with and returns where they end.
func (l *links) definitions(text []byte) int {
	for at := 0; at < len(text); {
		line, next := LineAt(text, at)
		start, end, ok := definition(line)
		if !ok {
			return at
		}
		l.put(Link{
			Kind: Definition, Start: at + start, End: at + end,
			Begin: at + Indentation(line), After: at + trimmed(line),
		})
		at = next
	}
	return len(text)
}

// definition reads a line that is a link reference definition, [label]: address, and returns where its address begins
// and ends. One of a footnote is none.
func definition(line []byte) (start, end int, ok bool) {
	at := Indentation(line)
	if at+3 > len(line) || line[at] != '[' || line[at+1] == '^' {
		return 0, 0, false
	}
	close := at + 1
	for close < len(line) && line[close] != ']' && line[close] != '[' {
		if line[close] == '\\' {
			close++
		}
		close++
	}
	if close+1 >= len(line) || line[close] != ']' || line[close+1] != ':' || Indentation(line[at+1:close]) == close-at-1 {
		return 0, 0, false
	}
	at = close + 2
	at += Indentation(line[at:])
	start, end, at = destination(line, at)
	if at < 0 || start == end && line[start-1] != '<' {
		return 0, 0, false
	}
	if space := Indentation(line[at:]); at+space < len(line) {
		if at = title(line, at+space); space == 0 || at < 0 || at+Indentation(line[at:]) < len(line) {
			return 0, 0, false
		}
	}
	return start, end, true
}

// inline yields the links in the inline content of a paragraph from at on.
func (l *links) inline(text []byte, at int) {
	l.openers, l.inactive = l.openers[:0], 0
	counted := false
	for at < len(text) && !l.stopped {
		switch c := text[at]; c {
		case '\\':
			if at+1 < len(text) && IsPunctuation(text[at+1]) {
				at++
			}
		case '`':
			if !counted {
				l.ticks = countTicks(text)
				counted = true
			}
			at = skipCode(text, at, &l.ticks)
			continue
		case '<':
			at = l.angle(text, at)
			continue
		case '!':
			if at+1 < len(text) && text[at+1] == '[' {
				at++
				l.openers = append(l.openers, opener{at + 1, true})
			}
		case '[':
			l.openers = append(l.openers, opener{at + 1, false})
		case ']':
			at = l.close(text, at)
			continue
		case 'h', 'H':
			if end := bareURL(text, at); end > 0 {
				l.put(Link{Kind: BareURL, Start: at, End: end, Begin: at, After: end})
				at = end
				continue
			}
		}
		at++
	}
}

// lastTicks says where the last run of backticks of each length begins.
type lastTicks [maxTicks + 1]int

// countTicks returns where the last run of backticks of each length begins: skipCode looks for the end of a code span
// only if such a run follows, so that a text of many unpaired runs is read in linear time.
func countTicks(text []byte) (last lastTicks) {
	for at := 0; at < len(text); at++ {
		run := at
		for at < len(text) && text[at] == '`' {
			at++
		}
		if n := at - run; n > 0 && n <= maxTicks {
			last[n] = run
		}
	}
	return last
}

// skipCode returns where the code span ends that begins at at (CommonMark, "Code spans"), or the end of the run of
// backticks when it opens none.
func skipCode(text []byte, at int, last *lastTicks) int {
	start := at
	for at < len(text) && text[at] == '`' {
		at++
	}
	run := at - start
	if run > maxTicks || last[run] <= start {
		return at
	}
	for end := at; end < len(text); {
		begin := end + bytes.IndexByte(text[end:], '`')
		for end = begin; end < len(text) && text[end] == '`'; {
			end++
		}
		if end-begin == run {
			return end
		}
	}
	return at
}

// angle reads what begins with < at at: an autolink, or a tag with addresses. It returns where to read on.
func (l *links) angle(text []byte, at int) int {
	if inner := address(text[at:]); inner != nil {
		l.put(Link{
			Kind: Autolink, Start: at + 1, End: at + 1 + len(inner), Begin: at, After: at + len(inner) + 2,
		})
		return at + len(inner) + 2
	}
	var found [2]Link
	n := readTag(text[at:], func(a attribute) {
		switch a.name {
		case "href":
			found[0] = Link{
				Kind: Href, Start: at + a.start, End: at + a.end, Begin: at + a.whole[0], After: at + a.whole[1],
			}
		case "src":
			found[1] = Link{
				Kind: Src, Start: at + a.start, End: at + a.end, Begin: at + a.whole[0], After: at + a.whole[1],
			}
		}
	})
	if n == 0 {
		return at + max(1, comment(text[at:]))
	}
	if found[0].Start > found[1].Start {
		found[0], found[1] = found[1], found[0]
	}
	for _, link := range found {
		if link.End > link.Start {
			l.put(link)
		}
	}
	return at + n
}

// close reads the closing bracket at at, which ends the text of a link or image when an address follows. It returns
// where to read on.
func (l *links) close(text []byte, at int) int {
	n := len(l.openers)
	if n == 0 {
		return at + 1
	}
	o := l.openers[n-1]
	l.openers = l.openers[:n-1]
	active := o.image || n > l.inactive
	l.inactive = min(l.inactive, n-1)
	if !active || at+1 >= len(text) || text[at+1] != '(' {
		return at + 1
	}
	start, end, after := target(text, at+2)
	if after < 0 {
		return at + 1
	}
	kind, begin := InlineLink, o.at-1
	if o.image {
		kind, begin = InlineImage, o.at-2
	} else {
		l.inactive = n - 1
	}
	l.put(Link{Kind: kind, Start: start, End: end, TextStart: o.at, TextEnd: at, Begin: begin, After: after})
	return after
}

// target reads an address and a title up to the closing parenthesis. It returns the range of the address and where the
// link ends; after is -1 when it is none.
func target(text []byte, at int) (start, end, after int) {
	at += Indentation(text[at:])
	start, end, at = destination(text, at)
	if at < 0 {
		return 0, 0, -1
	}
	space := Indentation(text[at:])
	if at += space; at < len(text) && text[at] != ')' {
		if space == 0 && end > start {
			return 0, 0, -1
		}
		if at = title(text, at); at < 0 {
			return 0, 0, -1
		}
		at += Indentation(text[at:])
	}
	if at >= len(text) || text[at] != ')' {
		return 0, 0, -1
	}
	return start, end, at + 1
}

// maxParentheses is how deep parentheses in an address may stand within each other.
const maxParentheses = 32

// destination reads the address of a link at at. It returns its range without < and >, and what follows; after is -1
// when there is none.
func destination(text []byte, at int) (start, end, after int) {
	if at < len(text) && text[at] == '<' {
		for i := at + 1; i < len(text) && i-at < maxMark; i++ {
			switch text[i] {
			case '\\':
				i++
			case '>':
				return at + 1, i, i + 1
			case '<', '\n':
				return 0, 0, -1
			}
		}
		return 0, 0, -1
	}
	depth, i := 0, at
	for ; i < len(text); i++ {
		c := text[i]
		if c <= ' ' || c == 0x7f || c == ')' && depth == 0 {
			break
		}
		switch c {
		case '\\':
			if i+1 < len(text) && IsPunctuation(text[i+1]) {
				i++
			}
		case '(':
			if depth++; depth > maxParentheses {
				return 0, 0, -1
			}
		case ')':
			depth--
		}
	}
	if depth > 0 {
		return 0, 0, -1
	}
	return at, i, i
}

// title reads the title of a link at at and returns where it ends; -1 when there is none.
func title(text []byte, at int) int {
	if at >= len(text) {
		return -1
	}
	closing := text[at]
	switch closing {
	case '"', '\'':
	case '(':
		closing = ')'
	default:
		return -1
	}
	for i := at + 1; i < len(text) && i-at < maxMark; i++ {
		switch text[i] {
		case '\\':
			i++
		case closing:
			return i + 1
		case '(':
			if closing == ')' {
				return -1
			}
		}
	}
	return -1
}

// bareURLs yields the bare URLs of a line that begins at at.
func (l *links) bareURLs(line []byte, at int) {
	l.start = at
	for i := 0; i < len(line) && !l.stopped; i++ {
		if c := line[i] | 0x20; c != 'h' {
			continue
		}
		if end := bareURL(line, i); end > 0 {
			l.put(Link{Kind: BareURL, Start: i, End: end, Begin: i, After: end})
			i = end
		}
	}
}

// bareURL returns where the http or https URL ends that begins at at; 0 when none does. Punctuation at its end belongs
// to the sentence.
func bareURL(text []byte, at int) int {
	rest := text[at:]
	n := 0
	for _, scheme := range [...]string{"http://", "https://"} {
		if len(rest) > len(scheme) && bytes.EqualFold(rest[:len(scheme)], []byte(scheme)) {
			n = len(scheme)
		}
	}
	if n == 0 || at > 0 && (isLetter(text[at-1]) || isDigit(text[at-1])) {
		return 0
	}
	end := n
	for end < len(rest) && rest[end] > ' ' && bytes.IndexByte([]byte("<>()\"'[]`"), rest[end]) < 0 {
		end++
	}
	for end > n && bytes.IndexByte([]byte(".,;:!?*_~\\"), rest[end-1]) >= 0 {
		end--
	}
	if end == n {
		return 0
	}
	return at + end
}

// LinkText returns the text of the link or image that a text begins with, [text](target) or [text][name], and how many
// bytes it takes; 0 when it begins with none.
func LinkText(md []byte) (text []byte, n int) {
	md = md[:min(len(md), maxMark)]
	image := 0
	if md[0] == '!' {
		image, md = 1, md[1:]
	}
	if len(md) == 0 || md[0] != '[' || bytes.IndexByte(md, ']') < 0 {
		return nil, 0
	}
	end := matching(md, '[', ']')
	if end < 0 || end+1 >= len(md) {
		return nil, 0
	}
	after := -1
	switch rest := md[end+1:]; rest[0] {
	case '(':
		after = matching(rest, '(', ')')
	case '[':
		after = matching(rest, '[', ']')
	}
	if after < 0 {
		return nil, 0
	}
	return md[1:end], image + end + 1 + after + 1
}

// matching returns where the bracket of a link closes that a text begins with, escapes and nested ones skipped; -1 when
// it does not.
func matching(md []byte, open, closing byte) int {
	depth := 0
	for i := 0; i < len(md); i++ {
		switch md[i] {
		case '\\':
			i++
		case open:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// address returns the URL or mail address of an autolink, between < and >, that a text begins with; nil when it begins
// with none.
func address(text []byte) []byte {
	at := 1
	for at < len(text) && at < maxMark && text[at] > ' ' && text[at] != '<' && text[at] != '>' {
		at++
	}
	if at < 3 || at == len(text) || text[at] != '>' || !isLetter(text[1]) && !isDigit(text[1]) {
		return nil
	}
	inner := text[1:at]
	scheme := 0
	for scheme < len(inner) && (isLetter(inner[scheme]) || isDigit(inner[scheme]) ||
		bytes.IndexByte([]byte("+.-"), inner[scheme]) >= 0) {
		scheme++
	}
	if scheme >= 2 && scheme <= 32 && scheme < len(inner) && inner[scheme] == ':' && isLetter(inner[0]) || isMail(inner) {
		return inner
	}
	return nil
}

// isMail reports whether a text in an autolink is a mail address.
func isMail(text []byte) bool {
	user, host, ok := bytes.Cut(text, []byte("@"))
	if !ok || len(user) == 0 {
		return false
	}
	for _, c := range user {
		if !isLetter(c) && !isDigit(c) && bytes.IndexByte([]byte(".!#$%&'*+/=?^_`{|}~-"), c) < 0 {
			return false
		}
	}
	for label := range bytes.SplitSeq(host, []byte(".")) {
		if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range label {
			if !isLetter(c) && !isDigit(c) && c != '-' {
				return false
			}
		}
	}
	return true
}
