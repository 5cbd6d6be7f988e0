package convert

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/readthru/readthru/convert/formats"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/markdown"
)

// sniffWindow is the number of bytes that LooksLikeMarkdown examines. A text that is markdown shows it there.
const sniffWindow = 16 << 10

// atxHeading and frontMatter are enough alone to tell markdown from other text.
var (
	atxHeading  = lazy.Pattern(`(?m)^ {0,3}#{1,6}[ \t]+\S`)
	frontMatter = lazy.Pattern(`\A---[ \t]*\r?\n(?s:.*?)\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\z)`)

	// markdownKinds are the constructs of which two kinds together make a text markdown.
	markdownKinds = []func() *regexp.Regexp{
		lazy.Pattern("(?m)^ {0,3}(?:```|~~~)"),
		// a list of two items
		lazy.Pattern(`(?m)^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+\S.*\n(?:[ \t]+\S.*\n)*(?:[ \t]*\n)? {0,3}` +
			`(?:[-*+]|\d{1,9}[.)])[ \t]+\S`),
		lazy.Pattern(`\[[^\]\n]+\]\([^)\s]+\)`),
		lazy.Pattern(`(?m)^ {0,3}\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)+\|?[ \t]*\r?$`),
		lazy.Pattern(`(?m)^ {0,3}>[ \t]?\S`),
	}
)

// LooksLikeMarkdown reports whether a text looks like markdown, by its first 16 KiB (rule A3). The text must have a
// heading, front matter, or two of these: a fence, a list, a link, a table and a quotation. An empty text, JSON, HTML
// and XML are not markdown. It is asked of texts whose media type does not say what they are.
func LooksLikeMarkdown(b []byte) bool {
	b = b[:min(len(b), sniffWindow)]
	text := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) == 0 || markupStart(text) || jsonStart(text) {
		return false
	}
	if atxHeading().Match(text) || frontMatter().Match(text) {
		return true
	}
	kinds := 0
	for _, kind := range markdownKinds {
		if kind().Match(text) {
			kinds++
		}
	}
	return kinds >= 2
}

// pageTag and blockTag find elements that HTML has: of every page, and of the text of one.
var (
	pageTag  = lazy.Pattern(`(?i)</?(?:html|head|body|title)[\s/>]`)
	blockTag = lazy.Pattern(`(?i)</?(?:html|head|body|title|main|article|section|div|p|h[1-6]|ul|ol|li|table|pre|br|` +
		`script|style|form|span|a)[\s/>]`)
)

// IsMislabelledMarkdown reports whether content that is labelled as HTML or something else is markdown, by its first 16
// KiB. Programs and servers that know no type for it send it so. A file of markdown, by the name in its URL, may begin
// with HTML and have any of it but that of a whole page; other content has no element of a page's text outside its
// code.
func IsMislabelledMarkdown(content []byte, file bool) bool {
	content = content[:min(len(content), sniffWindow)]
	text := bytes.TrimLeft(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) == 0 || text[0] == '<' && !file || formats.NoText(content) || !LooksLikeMarkdown(content) {
		return false
	}
	tag := blockTag()
	if file {
		tag = pageTag()
	}
	for line, kind := range markdown.Lines(string(content)) {
		if !kind.Fenced() && tag.MatchString(line) {
			return false
		}
	}
	return true
}

// markupStart reports whether text, which has no leading space, begins like HTML or XML and so is no markdown. Case
// does not count.
func markupStart(text []byte) bool {
	start := bytes.ToLower(text[:min(len(text), 16)])
	for _, prefix := range []string{"<!doctype", "<html", "<?xml", "<head", "<body", "<!--"} {
		if bytes.HasPrefix(start, []byte(prefix)) {
			return true
		}
	}
	return false
}

// jsonStart reports whether text begins like a JSON object or array and so is no markdown. A markdown link at the top
// of a text does not. text has no leading space and must not be empty. An array of arrays counts if it begins a line of
// its own.
func jsonStart(text []byte) bool {
	if text[0] != '{' && text[0] != '[' {
		return false
	}
	if json.Valid(text) {
		return true
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '"' || rest[0] == '{' || text[0] == '[' && rest[0] == '[' &&
		bytes.HasPrefix(text, []byte("[\n")))
}
