package convert

import (
	"bytes"
	"net/url"
	"strings"

	"readthru/convert/chars"
	"readthru/markdown"
)

// Doubt says why markdown that others made is not taken as the page. The zero value is no doubt.
type Doubt string

// The doubts, in the words that attempts[] and logs show.
const (
	NoDoubt    Doubt = ""
	DoubtEmpty Doubt = "it is empty"
	DoubtThin  Doubt = "it says next to nothing"
	DoubtHTML  Doubt = "it is HTML in all but name"
	DoubtWall  Doubt = "it is a bot wall"
	DoubtError Doubt = "it is an error page"
	DoubtHide  Doubt = "it hides text from readers"
	DoubtCode  Doubt = "it has lost its code blocks"
	DoubtLinks Doubt = "its links are broken"
	DoubtLess  Doubt = "it has less than a quarter of the page's words"
	DoubtTwin  Doubt = "it has lost the page's code blocks"
)

// The thresholds of doubt. They are strict: who doubts asks the origin again.
const (
	thinMarkdown = 5 // words
	lostLines    = 8 // lines of code outside blocks of code, where there are none, that say the blocks are lost
	brokenShare  = 3 // one in so many links that lead nowhere

	doubtWindow = 256 << 10 // bytes of markdown that are judged
	maxRewrite  = 4 << 20   // bytes of markdown whose links are made absolute
)

var (
	tagLike    = pattern(`</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>`)
	hidingTag  = pattern(`(?i)<[a-z][a-z0-9]*\s[^<>]*(?:\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px)?\s*[;"']|opacity\s*:\s*0\s*[;"']|left\s*:\s*-\d{4,}px)[^<>]*>\s*[^\s<]`)
	codeSyntax = pattern(`^\s*(?:(?:def|class|func|fn|import|package|const|let|var|public|private|return|#include|export|sudo|pip|npm|git|curl|\$|>>>)\s\S.*[^.:!?]|(?:def|class)\s\w+.*:|.*[;{}]|[\w.]+\(.*\)|[\w.\[\]"']+ ?= ?\S+)\s*$`)
)

// DoubtMarkdown judges markdown by itself, by its first 256 KiB. Whether it lost what the page holds is for
// [DoubtAgainst], where the page is at hand.
func DoubtMarkdown(md []byte) Doubt {
	md = md[:min(len(md), doubtWindow)]
	prose := withoutCode(string(md))
	seen := chars.Words(prose)
	switch {
	case len(bytes.TrimSpace(md)) == 0:
		return DoubtEmpty
	case Wall(0, nil, md) != "":
		return DoubtWall
	case soup(prose):
		return DoubtHTML
	case conceals(string(md)):
		return DoubtHide
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

// DoubtAgainst judges markdown that stands for a page whose HTML is at hand. Words are those of the page a reader sees,
// its menus among them, which markdown rightly leaves out: hence a quarter and not a half.
func DoubtAgainst(md, html []byte, words int) Doubt {
	switch {
	case 4*len(bytes.Fields(md)) < words:
		return DoubtLess
	case bytes.Count(md, []byte("```"))+bytes.Count(md, []byte("~~~")) < bytes.Count(html, []byte("<pre")):
		// A block has two fences: fewer fences than half of the page's blocks would need.
		return DoubtTwin
	}
	return NoDoubt
}

// withoutCode returns markdown without code: blocks and spans.
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

// soup reports whether prose is made of tags more than of text, or has those that no markdown has.
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

// conceals reports whether markdown holds text that no reader of it, rendered, would see.
func conceals(md string) bool {
	if _, smuggled := chars.Visible(md); smuggled {
		return true
	}
	prose := withoutCode(md)
	if strings.Contains(prose, "<") && hidingTag().MatchString(prose) {
		return true
	}
	for {
		_, rest, found := strings.Cut(prose, "<!--")
		if !found {
			return false
		}
		comment, after, _ := strings.Cut(rest, "-->")
		if orderMarks().MatchString(comment) {
			return true
		}
		prose = after
	}
}

// orderMarks are words that a comment says to a model, not to a writer.
var orderMarks = pattern(`(?i)\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|prior|above|earlier|all)\b.{0,40}\b(?:instructions?|prompts?|rules?|context)\b|\bsystem prompt\b|\byou (?:are|must) now\b`)

// saysError reports whether a short text under an error's name is all there is.
func saysError(md []byte, seen int) bool {
	if seen >= shellWords || bytes.Contains(md, []byte("```")) {
		return false
	}
	headings := markdown.Headings(md[:min(len(md), 8<<10)])
	return len(headings) > 0 && firstIn(errorPhrases, strings.ToLower(headings[0].Title)) != ""
}

// lostCode reports whether code stands among prose, or a fence is never closed.
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
			// a blank line ends no run: lost blocks often have one between their lines
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

// deadLinks reports whether many links of prose have no address, or one that a program made of nothing.
func deadLinks(prose string) bool {
	links, dead := 0, 0
	for l := range markdown.Links([]byte(prose)) {
		if l.Kind != markdown.InlineLink {
			continue
		}
		links++
		switch to := prose[l.Start:l.End]; {
		case to == "", to == "undefined", to == "/undefined", to == "null", to == "None", strings.HasPrefix(to, "{{"),
			strings.HasPrefix(to, "http://localhost"), strings.HasPrefix(to, "http://127.0.0.1"),
			strings.Contains(to, "[object"):
			dead++
		}
	}
	return dead >= 3 && dead*brokenShare >= links
}

// AbsoluteLinks returns markdown in which every link and image leads to an absolute address, resolved against base, but
// for those into the page itself. Code stays as it is. It returns markdown itself when nothing changes, and when it is
// over 4 MiB.
func AbsoluteLinks(md []byte, base *url.URL) []byte {
	if base == nil {
		return md
	}
	return RelativeLinks(md, func(address string) *url.URL {
		u, err := base.Parse(address)
		if err != nil {
			return nil
		}
		return u
	})
}

// RelativeLinks returns markdown in which every link and image with a relative address leads to what resolve makes of
// it; nil leaves it as it is. Those into the page itself and code stay. It returns markdown itself when nothing
// changes, and when it is over 4 MiB.
func RelativeLinks(md []byte, resolve func(address string) *url.URL) []byte {
	if len(md) > maxRewrite {
		return md
	}
	var b bytes.Buffer
	end := 0
	for l := range markdown.Links(md) {
		if l.Kind == markdown.Autolink || l.Kind == markdown.BareURL {
			continue
		}
		if full, ok := resolved(l.Address(md), resolve); ok {
			b.Write(md[end:l.Start])
			b.WriteString(full)
			end = l.End
		}
	}
	if end == 0 {
		return md
	}
	b.Write(md[end:])
	return b.Bytes()
}

// resolved returns what resolve makes of an address of markdown. ok is false for fragments, addresses with a scheme and
// what cannot be resolved: those stay as they are.
func resolved(address string, resolve func(string) *url.URL) (full string, ok bool) {
	if address == "" || address[0] == '#' {
		return "", false
	}
	if scheme, _, found := strings.Cut(address, ":"); found && validScheme(scheme) && !strings.Contains(scheme, ".") {
		return "", false
	}
	u := resolve(address)
	if u == nil {
		return "", false
	}
	return linkBytes(u.String()), true
}
