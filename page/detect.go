package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Detected is a URL found in a text.
type Detected struct {
	URL     string `json:"url"` // as it is written there
	Type    Type   `json:"url_type"`
	Display string `json:"display"`
}

// maxDetected is the longest URL that is detected, in bytes: what servers are expected to take (RFC 9110 §4.1).
const maxDetected = 8000

// Detect finds the http and https URLs of a running text, in the order of their first appearance, each page once (rule
// B1).
//
// A URL ends at a space, a bracket, a quotation mark, a backtick, a bar, a backslash or the punctuation of East Asian
// writing; a (…) that is closed inside it stays, as titles of Wikipedia have it, and so does an apostrophe between
// two letters. Then punctuation at its end is dropped. So links of markdown give their address. Spellings of one page
// count once, those with different fragments apart. What cannot be fetched is left out (no host, broken escapes, over
// 8,000 bytes), and so is a URL with user info: in a text that is a password, or a trick. It takes time linear in the
// text's length.
func Detect(text string) []Detected {
	var found []Detected
	seen := map[string]bool{}
	var d detector
	for token := range strings.FieldsFuncSeq(separated(text), func(r rune) bool { return r == 0 }) {
		for raw := range d.urls(token) {
			u, err := Parse(raw)
			if err != nil || u.User != nil || strings.Trim(u.Hostname(), ".") == "" {
				continue
			}
			if key := Normalize(u) + "#" + u.EscapedFragment(); !seen[key] {
				seen[key] = true
				found = append(found, Detected{raw, Classify(u), Display(u)})
			}
		}
	}
	return found
}

// separated returns text in which URLs are to be detected with a NUL in place of whatever ends a URL wherever it
// stands.
func separated(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	before := rune(0)
	for i, r := range text {
		apostrophe := false
		if r == '\'' || r == '’' {
			after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			apostrophe = unicode.IsLetter(before) && unicode.IsLetter(after)
		}
		if ends(r) && !apostrophe {
			b.WriteByte(0)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// ends reports whether a character ends a URL that is detected: it is no part of any. Parentheses are not among them,
// for they may be.
func ends(r rune) bool {
	switch r {
	case '[', ']', '{', '}', '<', '>', '"', '\'', '`', '|', '\\', '«', '»', '„', '“', '”', '‘', '’', '‹', '›',
		'，', '。', '、', '；', '：', '！', '？', '（', '）', '【', '】', '「', '」', '『', '』', '《', '》', '〈', '〉', '…':
		return true
	}
	return r == utf8.RuneError || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// detector finds URLs in a token: what stands between two characters that end a URL. It keeps its scratch from one
// token to the next, so that a text of many tokens allocates once.
type detector struct {
	open   []int32 // scratch: positions of parentheses that are open
	closed []int32 // scratch: by position, where the parenthesis that opens there is closed; 0: nowhere
}

// urls yields the URLs of a token of [Detect], trailing punctuation dropped. It has more than one only where a
// parenthesis ends a URL.
func (d *detector) urls(token string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		paired := false
		for at := 0; ; {
			begin := scheme(token, at)
			if begin < 0 {
				return
			}
			if !paired {
				d.pair(token)
				paired = true
			}
			end := d.end(token, begin)
			if raw := strings.TrimRight(token[begin:end], `.,;:!?'"*_’`); len(raw) <= maxDetected && !yield(raw) {
				return
			}
			at = end
		}
	}
}

// scheme returns, for URLs that are detected, where the next http:// or https:// of a token begins, at or after a
// position, in any case; −1 if there is none. It looks for "://" first, which is rare, so the search is linear.
func scheme(s string, from int) int {
	for at := from; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return -1
		}
		colon := at + i
		for _, name := range []string{"https", "http"} {
			if begin := colon - len(name); begin >= from && strings.EqualFold(s[begin:colon], name) {
				return begin
			}
		}
		at = colon + len("://")
	}
}

// pair finds which parentheses of a token belong together, for [detector.end]. It does so once for a token, not once
// for each URL in it: a token of many thousand parentheses would else take quadratic time.
func (d *detector) pair(token string) {
	d.open, d.closed = d.open[:0], d.closed[:0]
	if !strings.Contains(token, "(") {
		return
	}
	d.closed = append(d.closed, make([]int32, len(token))...)
	for i := range len(token) {
		switch token[i] {
		case '(':
			d.open = append(d.open, int32(i))
		case ')':
			if n := len(d.open); n > 0 {
				d.closed[d.open[n-1]] = int32(i)
				d.open = d.open[:n-1]
			}
		}
	}
}

// end returns where the URL that begins at a position ends: at a parenthesis that is not closed inside it, or does not
// open there.
func (d *detector) end(token string, begin int) int {
	for i := begin; i < len(token); i++ {
		switch token[i] {
		case ')':
			return i
		case '(':
			if d.closed[i] == 0 {
				return i
			}
			i = int(d.closed[i])
		}
	}
	return len(token)
}
