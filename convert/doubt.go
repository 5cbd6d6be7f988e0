package convert

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/signs"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/markdown"
)

// Doubt is a reason not to use markdown that came from elsewhere, such as the origin or a model. The zero value means
// that there is no reason. Package fetch tries the next source of a page when there is one.
type Doubt string

// Doubts about markdown from elsewhere. attempts[] and logs show these texts.
const (
	NoDoubt    Doubt = ""
	DoubtEmpty Doubt = "the markdown is empty"
	DoubtThin  Doubt = "the markdown has fewer than 5 words"
	DoubtHTML  Doubt = "the markdown is HTML"
	DoubtWall  Doubt = "the markdown is a bot wall"
	DoubtError Doubt = "the markdown is an error page"
	DoubtCode  Doubt = "the markdown has code without fences"
	DoubtLinks Doubt = "the markdown has many broken links"
	DoubtLess  Doubt = "the markdown has less than a quarter of the page's words"
	DoubtTwin  Doubt = "the markdown lacks code blocks of the page"
)

// The thresholds of doubt about markdown from elsewhere. They are strict, because a doubt costs another request to the
// origin.
const (
	thinMarkdown = 5 // words
	lostLines    = 8 // lines of code in a text without fences
	brokenShare  = 3 // one broken link in so many

	doubtWindow = 256 << 10 // bytes of markdown that DoubtMarkdown reads
	maxRewrite  = 4 << 20   // bytes of markdown whose links are made absolute
)

// tagLike matches a tag of HTML, and codeSyntax a line that is code: one that begins with a keyword or a prompt, or
// ends as statements and calls do.
var (
	tagLike    = lazy.Pattern(`</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>`)
	codeSyntax = lazy.Pattern(`^\s*(?:` +
		`(?:def|class|func|fn|import|package|const|let|var|public|private|return|#include|export|sudo|pip|npm|git|` +
		`curl|\$|>>>)\s\S.*[^.:!?]|` +
		`(?:def|class)\s\w+.*:|.*[;{}]|[\w.]+\(.*\)|[\w.\[\]"']+ ?= ?\S+)\s*$`)
)

// DoubtMarkdown judges the first 256 KiB of markdown without knowing the page. [DoubtAgainst] compares it with the
// page.
func DoubtMarkdown(md []byte) Doubt {
	md = md[:min(len(md), doubtWindow)]
	prose := withoutCode(string(md))
	seen := chars.Words(prose)
	switch {
	case len(bytes.TrimSpace(md)) == 0:
		return DoubtEmpty
	case signs.Wall(0, nil, md) != "":
		return DoubtWall
	case soup(prose):
		return DoubtHTML
	case saysError(md, seen):
		return DoubtError
	case seen < thinMarkdown && chars.Words(string(md)) < thinMarkdown:
		return DoubtThin
	case lostCode(string(md)):
		return DoubtCode
	case deadLinks(prose):
		return DoubtLinks
	}
	return NoDoubt
}

// DoubtAgainst compares markdown with the HTML of the same page. words is the number of visible words of the page.
// Menus count among them and markdown rightly omits menus, so a quarter of the words is enough. sent is the page as it
// was sent.
func DoubtAgainst(md, sent []byte, words int) Doubt {
	switch {
	case 4*len(bytes.Fields(md)) < words:
		return DoubtLess
	case bytes.Count(md, []byte("```"))+bytes.Count(md, []byte("~~~")) < bytes.Count(sent, []byte("<pre")):
		// A block has two fences: fewer fences than half of the page's blocks would need.
		return DoubtTwin
	}
	return NoDoubt
}

// withoutCode returns markdown that is in doubt without code blocks and inline code, so that doubts about links, tags
// and words are not raised by what the text only shows.
func withoutCode(md string) string {
	var b strings.Builder
	for line, kind := range markdown.Lines(md) {
		if kind.Fenced() || kind == markdown.Indented {
			continue
		}
		rest := []byte(line)
		for at := bytes.IndexByte(rest, '`'); at >= 0; at = bytes.IndexByte(rest, '`') {
			_, n := markdown.InlineCode(rest[at:])
			b.Write(rest[:at])
			rest = rest[at+n:]
		}
		b.Write(rest)
	}
	return b.String()
}

// soup reports a doubt about markdown: whether tags make up more than half of the prose of markdown, or the prose has
// tags that belong to a page and not to markdown: it is HTML under a false name.
func soup(prose string) bool {
	lower := strings.ToLower(prose)
	for _, tag := range []string{"<script", "<style", "<body", "<head>", "<meta ", "<!doctype"} {
		if strings.Contains(lower, tag) {
			return true
		}
	}
	tags, count := 0, 0
	for _, m := range tagLike().FindAllStringIndex(prose, -1) {
		tags += m[1] - m[0]
		count++
	}
	return count >= 10 && tags*2 > len(prose)
}

// saysError reports a doubt: whether markdown is only a short text under a heading that names an error. seen is the
// number of words in its prose.
func saysError(md []byte, seen int) bool {
	if seen >= signs.ShellWords || bytes.Contains(md, []byte("```")) {
		return false
	}
	headings := markdown.Headings(md[:min(len(md), 8<<10)])
	return len(headings) > 0 && signs.FirstIn(signs.ErrorPhrases, strings.ToLower(headings[0].Title)) != ""
}

// lostCode reports a doubt: whether markdown without fences has many lines of code among its prose. Three lines after
// one another begin to count: a sentence may look like code by chance.
func lostCode(md string) bool {
	lines, run, fenced := 0, 0, false
	for line, kind := range markdown.Lines(md) {
		if kind.Fenced() {
			fenced = true
			continue
		}
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"):
			// a run may have blank lines: unfenced code often does
		case strings.HasPrefix(bare, "#") || strings.HasPrefix(bare, "|") || strings.HasPrefix(bare, ">") ||
			strings.HasPrefix(bare, "- ") || strings.HasPrefix(bare, "* "), strings.Contains(bare, "]("):
			run = 0
		case codeSyntax().MatchString(bare):
			if run++; run == 3 {
				lines += 3
			} else if run > 3 {
				lines++
			}
		default:
			run = 0
		}
	}
	return !fenced && lines >= lostLines
}

// deadLinks reports a doubt: whether many links in prose have no address, or an address that shows a mistake of the
// program that wrote it. Three dead links are the least, whatever the number of all.
func deadLinks(prose string) bool {
	all, dead := 0, 0
	for l := range markdown.Links([]byte(prose)) {
		if l.Kind != markdown.InlineLink {
			continue
		}
		all++
		switch to := prose[l.Start:l.End]; {
		case to == "", to == "undefined", to == "/undefined", to == "null", to == "None", strings.HasPrefix(to, "{{"),
			strings.HasPrefix(to, "http://localhost"), strings.HasPrefix(to, "http://127.0.0.1"),
			strings.Contains(to, "[object"):
			dead++
		}
	}
	return dead >= 3 && dead*brokenShare >= all
}

// DoubtModel judges markdown that a model made of trimmed HTML. The model may omit and regroup text and must not add
// any: every address, every heading, every line of code and nine in ten words must be in the HTML. It guards against a
// model that follows an instruction on the page, or makes things up.
func DoubtModel(md, trimmed string) Doubt {
	text, addresses := sourceOf(trimmed)
	source := chars.Fold(text)
	prose := withoutCode(md)
	for _, m := range modelLink().FindAllStringSubmatch(prose, -1) {
		for _, address := range m[1:] {
			if address != "" && address[0] != '#' && !addresses[sameAddress(address)] {
				return DoubtNewLink
			}
		}
	}
	for _, address := range bareAddress().FindAllString(md, -1) { // in code, too
		if !addresses[sameAddress(address)] && !strings.Contains(text, address) {
			return DoubtNewLink
		}
	}
	last := markdown.Blank
	for line, kind := range markdown.Lines(md) {
		last = kind
		if (kind == markdown.FenceText || kind == markdown.Indented) && !strings.Contains(source, chars.Fold(line)) {
			return DoubtNewCode
		}
	}
	if last == markdown.FenceOpen || last == markdown.FenceText {
		return DoubtNewCode
	}
	for _, h := range markdown.Headings([]byte(md)) {
		if !strings.Contains(source, chars.Fold(h.Title)) {
			return DoubtHeadings
		}
	}
	known := map[string]bool{}
	for w := range strings.FieldsFuncSeq(text, chars.NotWord) {
		known[strings.ToLower(w)] = true
	}
	all, strange := 0, 0
	for w := range strings.FieldsFuncSeq(modelLink().ReplaceAllString(prose, " "), chars.NotWord) {
		if all++; !known[strings.ToLower(w)] && !strings.Contains(source, chars.Fold(w)) {
			strange++
		}
	}
	switch {
	case strange*10 > all:
		return DoubtWords
	case 2*chars.Words(md) < chars.Words(text):
		return DoubtHalf
	case strings.Count(md, "```")+strings.Count(md, "~~~") < strings.Count(trimmed, "<pre>"):
		return DoubtTwin
	}
	return NoDoubt
}

// Doubts about markdown that a model made.
const (
	DoubtNewLink  Doubt = "the markdown has a link that is not on the page"
	DoubtNewCode  Doubt = "the markdown has code that is not on the page, or that does not end"
	DoubtHeadings Doubt = "the markdown has a heading that is not on the page"
	DoubtWords    Doubt = "over a tenth of the markdown's words are not on the page"
	DoubtHalf     Doubt = "the markdown has less than half of the page's words"
)

// bareAddress matches addresses with a scheme in any text.
var bareAddress = lazy.Pattern(`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s<>()"'\]` + "`" + `]+`)

// modelLink matches addresses in markdown: of links, images and definitions, in elements, in angle brackets and bare.
var modelLink = lazy.Pattern(`\]\(\s*<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)` +
	`|(?m:^ {0,3}\[[^\]\n]+\]:\s*<?([^\s<>]+))` +
	`|(?i:\b(?:href|src)\s*=\s*["']?([^"'\s>]+))` +
	`|\b([a-zA-Z][a-zA-Z0-9+.-]*://[^\s<>()"'\]]+)`)

// sourceOf returns the text of trimmed HTML, and the addresses in its elements and its text. DoubtModel compares a
// model's markdown with them.
func sourceOf(trimmed string) (text string, addresses map[string]bool) {
	addresses = map[string]bool{}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(trimmed))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			for _, m := range modelLink().FindAllStringSubmatch(b.String(), -1) {
				addresses[sameAddress(m[4])] = true
			}
			return b.String(), addresses
		case html.TextToken:
			b.Write(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if !inlineNames[string(name)] {
				b.WriteByte(' ')
			}
			for more {
				var key, value []byte
				switch key, value, more = z.TagAttr(); string(key) {
				case "href", "src":
					addresses[sameAddress(string(value))] = true
				case "alt":
					b.WriteString(" " + string(value) + " ")
				}
			}
		}
	}
}

// sameAddress returns one spelling for equivalent addresses, so that none is in doubt that a model only spells
// otherwise. Models escape characters and end addresses with punctuation.
func sameAddress(address string) string {
	address = strings.TrimRight(html.UnescapeString(strings.ReplaceAll(address, `\`, "")), ".,;:!?*_`")
	if u, err := url.Parse(address); err == nil {
		address = u.String()
	}
	return strings.TrimSuffix(address, "/")
}

// inlineNames are elements of a Trim that do not separate words.
var inlineNames = chars.Set("a code em strong b i del kbd samp sub sup")
