package convert

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"

	"readthru/convert/chars"
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
	markLink   = pattern(`(!?)\[((?:\\.|[^\[\]\\])*)\]\(\s*(<[^<>\n]*>|(?:[^()\s\\]|\\.|\([^()\s]*\))*)((?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\))`)
	markDef    = pattern(`^( {0,3}\[[^\]\n]+\]:\s*)(<[^<>\n]*>|\S+)(.*)$`)
	tagAddress = pattern(`(?i)(<(?:a|img|source|video|audio|iframe)\s(?:[^<>]*\s)?(?:href|src)\s*=\s*)("[^"<>]*"|'[^'<>]*')`)
)

// DoubtMarkdown judges markdown by itself, by its first 256 KiB. Whether it lost what the page holds is for
// [DoubtAgainst], where the page is at hand.
func DoubtMarkdown(markdown []byte) Doubt {
	markdown = markdown[:min(len(markdown), doubtWindow)]
	prose := withoutCode(string(markdown))
	seen := chars.Words(prose)
	switch {
	case len(bytes.TrimSpace(markdown)) == 0:
		return DoubtEmpty
	case Wall(0, nil, markdown) != "":
		return DoubtWall
	case soup(prose):
		return DoubtHTML
	case conceals(string(markdown)):
		return DoubtHide
	case saysError(markdown, seen):
		return DoubtError
	case seen < thinMarkdown && chars.Words(string(markdown)) < thinMarkdown:
		return DoubtThin
	case lostCode(string(markdown)):
		return DoubtCode
	case deadLinks(prose):
		return DoubtLinks
	}
	return NoDoubt
}

// DoubtAgainst judges markdown that stands for a page whose HTML is at hand. Words are those of the page a reader sees,
// its menus among them, which markdown rightly leaves out: hence a quarter and not a half.
func DoubtAgainst(markdown, html []byte, words int) Doubt {
	switch {
	case 4*len(bytes.Fields(markdown)) < words:
		return DoubtLess
	case bytes.Count(markdown, []byte("```"))+bytes.Count(markdown, []byte("~~~")) < bytes.Count(html, []byte("<pre")):
		// A block has two fences: fewer fences than half of the page's blocks would need.
		return DoubtTwin
	}
	return NoDoubt
}

// withoutCode returns markdown without what stands between fences and between backticks.
func withoutCode(markdown string) string {
	var b strings.Builder
	for line, code := range markdownLines(markdown) {
		if !code {
			b.WriteString(inlineCode().ReplaceAllString(line, ""))
		}
	}
	return b.String()
}

// markdownLines yields the lines of markdown with their ends, and whether each belongs to a fenced block.
func markdownLines(markdown string) func(yield func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		fence := ""
		for line := range strings.Lines(markdown) {
			bare := strings.TrimLeft(strings.TrimRight(line, " \t\r\n"), " \t>")
			code := fence != ""
			switch {
			case code && strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "":
				fence = ""
			case !code && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")):
				fence, code = bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))], true
			}
			if !yield(line, code) {
				return
			}
		}
	}
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
func conceals(markdown string) bool {
	if _, smuggled := chars.Visible(markdown); smuggled {
		return true
	}
	prose := withoutCode(markdown)
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
func saysError(markdown []byte, seen int) bool {
	if seen >= shellWords || bytes.Contains(markdown, []byte("```")) {
		return false
	}
	for h := range markdownHeadings(string(markdown[:min(len(markdown), 8<<10)])) {
		return firstIn(errorPhrases, strings.ToLower(h.text)) != ""
	}
	return false
}

// lostCode reports whether code stands among prose, or a fence is never closed.
func lostCode(markdown string) bool {
	lines, run, fenced := 0, 0, false
	for line, code := range markdownLines(markdown) {
		if code {
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
	for _, m := range markLink().FindAllStringSubmatch(prose, 5000) {
		if m[1] == "!" {
			continue
		}
		links++
		switch to := strings.Trim(m[3], "<>"); {
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
func AbsoluteLinks(markdown []byte, base *url.URL) []byte {
	if base == nil {
		return markdown
	}
	return RelativeLinks(markdown, func(address string) *url.URL {
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
func RelativeLinks(markdown []byte, resolve func(address string) *url.URL) []byte {
	if len(markdown) > maxRewrite {
		return markdown
	}
	var b strings.Builder
	changed := false
	rewrite := func(address string) string {
		full := resolved(address, resolve)
		changed = changed || full != address
		return full
	}
	for line, code := range markdownLines(string(markdown)) {
		if code || !strings.ContainsAny(line, "]<") {
			b.WriteString(line)
			continue
		}
		text := strings.TrimRight(line, "\r\n")
		end := line[len(text):]
		if m := markDef().FindStringSubmatch(text); m != nil && !strings.HasPrefix(strings.TrimSpace(m[1]), "[^") {
			b.WriteString(m[1] + inAngles(m[2], rewrite) + m[3] + end)
			continue
		}
		at := 0
		for _, span := range append(inlineCode().FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
			b.WriteString(rewriteLinks(text[at:span[0]], rewrite))
			b.WriteString(text[span[0]:span[1]])
			at = span[1]
		}
		b.WriteString(end)
	}
	if !changed {
		return markdown
	}
	return []byte(b.String())
}

func rewriteLinks(text string, rewrite func(string) string) string {
	text = replaceGroups(markLink(), text, func(m []string) string {
		label := m[2]
		if strings.Contains(label, "](") {
			label = rewriteLinks(label, rewrite)
		}
		return m[1] + "[" + label + "](" + inAngles(m[3], rewrite) + m[4]
	})
	if nested := strings.Index(text, ")]("); nested >= 0 { // a link round an image: the pattern took the image alone
		text = nestedLink().ReplaceAllStringFunc(text, func(s string) string {
			return "](" + inAngles(s[2:len(s)-1], rewrite) + ")"
		})
	}
	return replaceGroups(tagAddress(), text, func(m []string) string {
		quote := m[2][:1]
		return m[1] + quote + rewrite(m[2][1:len(m[2])-1]) + quote
	})
}

// nestedLink is the end of a link whose label holds brackets.
var nestedLink = pattern(`\]\((?:<[^<>\n]*>|[^()\s]+)\)`)

// inAngles rewrites an address that may stand between < and >.
func inAngles(address string, rewrite func(string) string) string {
	if bare, ok := strings.CutPrefix(address, "<"); ok {
		return "<" + rewrite(strings.TrimSuffix(bare, ">")) + ">"
	}
	return rewrite(address)
}

func replaceGroups(re *regexp.Regexp, s string, f func(groups []string) string) string {
	return re.ReplaceAllStringFunc(s, func(m string) string { return f(re.FindStringSubmatch(m)) })
}

// resolved returns what resolve makes of an address of markdown. Fragments, addresses with a scheme and what cannot be
// resolved stay as they are.
func resolved(address string, resolve func(string) *url.URL) string {
	if address == "" || address[0] == '#' {
		return address
	}
	if scheme, _, ok := strings.Cut(address, ":"); ok && validScheme(scheme) && !strings.Contains(scheme, ".") {
		return address
	}
	u := resolve(strings.ReplaceAll(address, `\`, ""))
	if u == nil {
		return address
	}
	return linkBytes(u.String())
}
