package api

import (
	"cmp"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// PromptChars is the default length of a prompt, in characters (rule B34).
const PromptChars = 4000

// Prompt returns a page for a model to read (rule B34): a header with its URL and title; its summary, else its readme,
// else its content, cut to maxChars code points with an ellipsis; and its symbol map in a fence, cut in the same way.
// If maxChars is 0, it is 4000.
func Prompt(p *page.Page, maxChars int) string {
	text, _ := CutPrompt(p, cmp.Or(maxChars, PromptChars))
	return text
}

// CutPrompt is [Prompt], and reports whether anything was cut.
func CutPrompt(p *page.Page, limit int) (text string, short bool) {
	var b strings.Builder
	b.WriteString("URL: " + clip.OneLine(p.URL) + "\n")
	if p.Title != "" {
		b.WriteString("Title: " + clip.OneLine(p.Title) + "\n")
	}
	body := cmp.Or(p.Summary, p.Readme, p.Content)
	cutBefore := p.Summary == "" && p.Readme == "" && p.Next > 0 // the content is a part
	body = strings.TrimRight(body, "\n")
	shown := clip.Runes(body, limit)
	short = shown != body
	b.WriteString("\n" + shown)
	if short || cutBefore {
		b.WriteString("...")
	}
	b.WriteString("\n")
	if p.SymbolMap == "" {
		return b.String(), short
	}
	symbols := strings.Trim(p.SymbolMap, "\n")
	if shown = clip.Runes(symbols, limit); shown != symbols {
		symbols, short = shown+"...", true
	}
	fence := fenceOf(symbols)
	b.WriteString("\n" + fence + "\n" + symbols + "\n" + fence + "\n")
	return b.String(), short
}

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
