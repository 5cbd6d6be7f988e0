package convert

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// sniffWindow is how much of a text is looked at to tell whether it is markdown.
const sniffWindow = 16 << 10

var (
	atxHeading  = pattern(`(?m)^ {0,3}#{1,6}[ \t]+\S`)
	frontMatter = pattern(`\A---[ \t]*\r?\n(?s:.*?)\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\z)`)

	// markdownKinds are the constructs of which two kinds together make a text markdown.
	markdownKinds = []func() *regexp.Regexp{
		pattern("(?m)^ {0,3}(?:```|~~~)"),
		// a list of two items
		pattern(`(?m)^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+\S.*\n(?:[ \t]+\S.*\n)*(?:[ \t]*\n)? {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+\S`),
		pattern(`\[[^\]\n]+\]\([^)\s]+\)`),
		pattern(`(?m)^ {0,3}\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)+\|?[ \t]*\r?$`),
		pattern(`(?m)^ {0,3}>[ \t]?\S`),
	}
)

// LooksLikeMarkdown reports whether the first 16 KiB of a text are markdown (rule A3): it is not empty, JSON, HTML or
// XML, and it has a heading or front matter, or two kinds of fence, list, link, table rule and quote.
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

// markupStart reports whether text, without leading space, begins as HTML or XML does.
func markupStart(text []byte) bool {
	start := bytes.ToLower(text[:min(len(text), 16)])
	for _, prefix := range []string{"<!doctype", "<html", "<?xml", "<head", "<body", "<!--"} {
		if bytes.HasPrefix(start, []byte(prefix)) {
			return true
		}
	}
	return false
}

// jsonStart reports whether text begins as a JSON object or array does. A link at the top of a markdown text is no
// array.
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
