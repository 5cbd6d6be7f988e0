package api

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"readthru/page"
)

// promptChars is the default length of a prompt, in characters (rule B34).
const promptChars = 4000

// Prompt returns a page for a model to read (rule B34): a header with its URL and title; its summary, else its readme,
// else its content, cut to maxChars code points with an ellipsis; and its symbol map in a fence, cut in the same way.
// If maxChars is 0, it is 4000.
func Prompt(p *page.Page, maxChars int) string {
	text, _ := prompt(p, cmp.Or(maxChars, promptChars))
	return text
}

// prompt is [Prompt], and reports whether anything was cut.
func prompt(p *page.Page, limit int) (text string, short bool) {
	var b strings.Builder
	b.WriteString("URL: " + oneLine(p.URL) + "\n")
	if p.Title != "" {
		b.WriteString("Title: " + oneLine(p.Title) + "\n")
	}
	body := cmp.Or(p.Summary, p.Readme, p.Content)
	cutBefore := p.Summary == "" && p.Readme == "" && p.Next > 0 // the content is a part
	body, short = cutChars(strings.TrimRight(body, "\n"), limit)
	b.WriteString("\n" + body)
	if short || cutBefore {
		b.WriteString("...")
	}
	b.WriteString("\n")
	if p.SymbolMap == "" {
		return b.String(), short
	}
	symbols, cut := cutChars(strings.Trim(p.SymbolMap, "\n"), limit)
	if cut {
		symbols += "..."
	}
	fence := fenceOf(symbols)
	b.WriteString("\n" + fence + "\n" + symbols + "\n" + fence + "\n")
	return b.String(), short || cut
}

// oneLine keeps text from the web from adding lines to a header.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// fenceOf returns a fence that no line of text closes.
func fenceOf(text string) string {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(3, longest+1))
}

// cutChars returns the first limit code points of s, and whether any were left out. A limit of 0 is none.
func cutChars(s string, limit int) (string, bool) {
	if limit <= 0 || len(s) <= limit {
		return s, false
	}
	at := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
		if at == len(s) {
			return s, false
		}
	}
	return s[:at], true
}
