package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// maxText is the longest summary, in characters.
const maxText = 8000

var (
	preface  = lazy.Pattern(`(?i)^(?:sure|certainly|of course|absolutely|okay|ok|great|here(?:'s|’s| is| are)|below is|this is|the following is|summary)\b[^\n]{0,120}:\s*\n`)
	ownTitle = lazy.Pattern(`(?i)^(?:#{1,6}\s*|\*\*)(?:(?:a |an |the )?(?:brief |usage |api |architecture |evaluation |page )?(?:summary|overview)|tl;dr)[:.]?(?:\*\*)?\s*\n`)
	closing  = lazy.Pattern(`(?i)\n+(?:let me know|i hope|hope this|feel free|would you like|if you (?:need|want|have|would like)|is there anything)\b[^\n]*\s*$`)
	refusal  = lazy.Pattern(`(?i)^(?:i['’]?m sorry|i am sorry|sorry[,.]|i can(?:['’]t|not)\b|i can not\b|i['’]m (?:unable|not able)|i am (?:unable|not able)|i won['’]t|as an ai\b|unfortunately,? i\b|i apologi[sz]e)`)

	image    = lazy.Pattern(`!\[((?:\\.|[^\]\\])*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])`)
	asImage  = lazy.Pattern(`(^|\W)!\[`) // not after a letter: that is Rust's vec![…]
	link     = lazy.Pattern(`\[((?:\\.|[^\[\]\\])*)\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)`)
	linkDef  = lazy.Pattern(`(?m)^ {0,3}\[[^\]\n]+\]:\s*(\S+).*\n?`)
	bareLink = lazy.Pattern(`(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s<>()\[\]"'` + "`" + `]+`)
	markup   = lazy.Pattern(`(?i)</?(?:script|style|img|iframe|object|embed|svg|form|input|link|meta|base|video|audio|a)\b[^<>]*>|<!--[\s\S]*?(?:-->|$)`)
)

// clean makes a summary of a model's answer: it removes the wrapper, images, HTML that loads something, and links that
// the page does not have, and bounds the length. more removes what else no reader sees, and may be nil. The error says
// why the answer is not a summary.
func clean(text string, in input, more func(md string) string) (string, error) {
	if more != nil { // sequences for terminals, of which the next step would leave the rest
		text = more(text)
	}
	text = unwrap(text)
	if more != nil { // what it stood in has gone
		text = strings.TrimSpace(more(text))
	}
	said := wordsOf(strings.ToLower(text))
	switch {
	case len(said) < 3 && utf8.RuneCountInString(text) < 20:
		return "", &llm.Error{Kind: llm.Malformed, Message: "the answer says next to nothing"}
	case refusal().MatchString(text) && len(text) < 600:
		return "", &llm.Error{Kind: llm.Refused, Message: "the model would not summarise the page"}
	case repetitive(said):
		return "", &llm.Error{Kind: llm.Malformed, Message: "the answer repeats itself without end"}
	case !sharesWord(said, in):
		return "", &llm.Error{Kind: llm.Malformed, Message: "the answer has no word of the page"}
	}
	return closed(bound(ownLinks(text, in), maxText)), nil
}

// unwrap cleans a model's answer of what it puts around it although the prompt forbids it.
func unwrap(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && r != '\u200d' ||
			r >= 0xe0000) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\ufffd"))
	text = strings.TrimSpace(text)
	for range 3 { // one may hide another
		before := text
		text = markdown.Unwrap(preface().ReplaceAllString(text, ""))
		_, body := page.SplitFrontMatter([]byte(text + "\n"))
		text = ownTitle().ReplaceAllString(strings.TrimSpace(string(body))+"\n", "")
		if text = strings.TrimSpace(closing().ReplaceAllString(text, "")); text == before {
			break
		}
	}
	return text
}

// repetitive reports whether a model's answer, if not short, mostly repeats itself, as small models do when they run
// away.
func repetitive(said []string) bool {
	if len(said) < 60 {
		return false
	}
	distinct := map[string]bool{}
	for _, w := range said {
		distinct[w] = true
	}
	return len(distinct)*10 < min(len(said), 400)
}

// sharesWord reports whether an answer has a word of the page: a long one or a number, or any letter of a script
// without spaces.
func sharesWord(said []string, in input) bool {
	text := strings.ToLower(in.title + "\n" + in.description + "\n" + in.readme + "\n" + in.symbolMap + "\n" + in.content)
	for _, w := range said {
		if r, _ := utf8.DecodeRuneInString(w); (utf8.RuneCountInString(w) >= 4 || unicode.IsDigit(r)) &&
			strings.Contains(text, w) {
			return true
		}
		for _, r := range w {
			if r >= 0x2e80 && strings.ContainsRune(text, r) {
				return true
			}
		}
	}
	return len(wordsOf(text)) < 5 // there is hardly a word to share
}

// ownLinks cleans a model's answer: it removes images, tags that load something, and links that the page does not have:
// a page that controls the model must not lead the reader of the summary anywhere.
func ownLinks(text string, in input) string {
	source := in.url + "\n" + in.readme + "\n" + in.content + "\n" + in.description + "\n" + in.symbolMap
	known := func(address string) bool { return strings.HasPrefix(address, "#") || strings.Contains(source, address) }
	// what is left of one is a link, to be judged as such
	text = asImage().ReplaceAllString(image().ReplaceAllString(text, "$1"), "$1[")
	text = markup().ReplaceAllString(text, "")
	text = link().ReplaceAllStringFunc(text, func(m string) string {
		if g := link().FindStringSubmatch(m); !known(g[2]) {
			return g[1]
		}
		return m
	})
	text = linkDef().ReplaceAllStringFunc(text, func(m string) string {
		if !known(linkDef().FindStringSubmatch(m)[1]) {
			return ""
		}
		return m
	})
	text = bareLink().ReplaceAllStringFunc(text, func(m string) string {
		if bare := strings.TrimRight(m, ".,;:!?*_"); !known(bare) {
			return "(a link that is not in the page)" + m[len(bare):]
		}
		return m
	})
	return image().ReplaceAllString(text, "$1") // one that the other replacements put together
}

// closed closes the fence that a model's answer leaves open, in which what stands behind it would be code.
func closed(text string) string {
	fence := ""
	for line, kind := range markdown.Lines(text) {
		switch kind {
		case markdown.FenceOpen:
			line = strings.TrimSpace(line) // one in a list or a quotation ends with that
			fence = line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
			if fence[0] != '`' && fence[0] != '~' {
				fence = ""
			}
		case markdown.FenceClose:
			fence = ""
		}
	}
	if fence != "" {
		text += "\n" + fence
	}
	return text
}

// bound cuts a summary to at most limit characters, after a paragraph, line or word, closes a fence that the cut left
// open, and adds a note.
func bound(text string, limit int) string {
	text = strings.TrimSpace(text)
	const note = "\n\n[Cut here.]"
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	kept := clip.Runes(text, limit-len(note)-len("\n```"))
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(kept, end); i > len(kept)/2 {
			kept = kept[:i]
			break
		}
	}
	if strings.Count(kept, "```")%2 != 0 {
		kept += "\n```"
	}
	return strings.TrimRight(kept, " \n") + note
}
