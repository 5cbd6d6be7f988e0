package hidden

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// The limits of cleaning a markdown text.
const (
	maxTags   = 1 << 20 // tags of one text that are paired; all tags of a text with more go
	maxSweeps = 6       // times that a text is swept: what goes may leave new markup behind
)

// Markdown returns a markdown text without what its reader does not see: invisible characters, comments, elements that
// attributes or styles hide, attributes that are not shown, definitions that nothing refers to, and the addresses of
// links that run scripts or hold data. Code keeps everything but invisible characters. In front matter, names that ours
// has are marked as the origin's (see [frontMatter]); base is where the text was read, or nil.
//
// A text that needs none of this is returned as it is, mostly without a look at its structure. Cleaning a text twice
// removes no more than cleaning it once. The report's pieces count as hidden text throughout, since a markdown text has
// no furniture. Answers of origins, stored texts of older programs, and files of repositories go through it.
func Markdown(md []byte, base *url.URL) ([]byte, Report) {
	if !suspicious(md) && plain(md) && !bytes.HasPrefix(bytes.TrimLeft(md, "\ufeff \t\r\n"), []byte("---")) {
		return md, Report{}
	}
	var r reporter
	md = r.characters(md)
	_, body := page.SplitFrontMatter(md)
	if split := len(md) - len(body); split > 0 {
		block := r.markup(md[:split:split])
		if body = r.markup(body); len(block) < split || len(body) < len(md)-split {
			md = slices.Concat(block, body)
		}
	} else {
		md = r.markup(md)
	}
	return r.frontMatter(md, base), r.whole()
}

// markup sweeps a text until nothing more goes. Six times are enough for honest texts; what still changes then is
// disarmed.
func (r *reporter) markup(md []byte) []byte {
	for range maxSweeps {
		if !suspicious(md) {
			return md
		}
		s := sweep{md: md, r: r}
		s.tags()
		s.links()
		if len(s.cuts) == 0 {
			return md
		}
		md = s.apply()
	}
	if suspicious(md) {
		r.note("markup", "markup within markup")
		md = disarm(md)
	}
	return md
}

// disarm takes from a text of markdown the characters that begin tags and addresses. It is for texts that become new
// markup whenever markup is taken out. Nothing of the words is lost.
func disarm(md []byte) []byte {
	out := make([]byte, 0, len(md))
	for _, c := range md {
		if last := len(out) - 1; c == '<' || last >= 0 && out[last] == ']' && (c == '(' || c == ':') {
			continue
		}
		out = append(out, c)
	}
	return out
}

// unsafeSchemes are those of addresses that run scripts or hold their content.
var unsafeSchemes = [...]string{"javascript", "vbscript", "livescript", "data"}

// unsafeScheme reports, of a link in markdown, whether the scheme of an address, without its colon, runs scripts or
// holds content. Case does not count.
func unsafeScheme[T string | []byte](scheme T) bool {
	for _, name := range unsafeSchemes {
		if len(scheme) == len(name) && strings.EqualFold(string(scheme), name) {
			return true
		}
	}
	return false
}

// runsScript reports whether an address in markdown runs a script or holds its content, as a browser reads it. Browsers
// pass over white space in a scheme.
func runsScript(address string) bool {
	scheme, _, found := strings.Cut(address[:min(len(address), 200)], ":")
	return found && unsafeScheme(strings.Map(func(r rune) rune {
		if r <= ' ' || chars.Invisible(r) {
			return -1
		}
		return r
	}, scheme))
}

// cut is a part of a text that goes, and what comes in its place: a part of it that stays. Offsets are of the text that
// is swept. keepFrom and keepUpTo are equal where nothing stays.
type cut struct {
	start, end         int
	keepFrom, keepUpTo int
}

// sweep looks through a text once. Its methods gather cuts, and apply makes them.
type sweep struct {
	md   []byte
	r    *reporter
	cuts []cut
}

// cut has a part of the markdown go. A blank text of a piece shows as its kind.
func (s *sweep) cut(start, end int, kind, text string) {
	s.cuts = append(s.cuts, cut{start: start, end: end})
	text, _ = chars.Visible(text)
	s.r.note(kind, cmp.Or(chars.OneLine(text), kind))
}

// apply returns the markdown without its cuts. Of cuts that overlap the first one counts: the next sweep finds the
// others. Of cuts that begin at one place, the longer one counts.
func (s *sweep) apply() []byte {
	slices.SortStableFunc(s.cuts, func(a, b cut) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	out := make([]byte, 0, len(s.md))
	done := 0
	for _, c := range s.cuts {
		if c.start < done {
			continue
		}
		out = append(out, s.md[done:c.start]...)
		out = append(out, s.md[c.keepFrom:c.keepUpTo]...)
		done = c.end
	}
	return append(out, s.md[done:]...)
}

// links cuts the addresses of scripts, and definitions that hold text nobody sees. The text of a link stays. Bare
// addresses are text; those in attributes are left to [sweep.tags].
func (s *sweep) links() {
	var definitions []markdown.Link
	for l := range markdown.Links(s.md) {
		switch l.Kind {
		case markdown.BareURL, markdown.Href, markdown.Src:
			continue
		}
		address := l.Address(s.md)
		if !runsScript(address) {
			s.title(&l)
			if l.Kind == markdown.Definition {
				definitions = append(definitions, l)
			}
			continue
		}
		s.cut(l.Begin, l.After, "script-link", address)
		if l.Kind == markdown.InlineLink || l.Kind == markdown.InlineImage {
			last := &s.cuts[len(s.cuts)-1]
			last.keepFrom, last.keepUpTo = l.TextStart, l.TextEnd
		}
	}
	s.comments(definitions)
}

// title cuts the title of a link in markdown, which a browser shows only while the mouse points at the link. Short
// titles stay (see [wordy]).
func (s *sweep) title(l *markdown.Link) {
	start, end := l.End, l.After
	if l.Kind == markdown.Autolink {
		return
	}
	if start < end && s.md[start] == '>' {
		start++
	}
	if l.Kind != markdown.Definition {
		end--
	}
	if text := bytes.TrimSpace(s.md[start:end]); wordy(string(text)) {
		s.cut(start, end, "attribute", string(bytes.Trim(text, `"'()`)))
	}
}

// wordy reports whether a text of markdown that only some readers come to see, such as the title of a link, says more
// than a label does: honest titles repeat the name of what they stand at. Three words, or 60 bytes, are more.
func wordy(text string) bool { return chars.Words(text) > 2 || len(text) > 60 }

// comments cuts, of markdown, the definitions of links that are comments: no link refers to them, and they say
// something. Writers of markdown use "[//]: # (text)" as a comment.
func (s *sweep) comments(definitions []markdown.Link) {
	definitions = slices.DeleteFunc(definitions, func(l markdown.Link) bool {
		label, rest := s.definition(&l)
		return !suspiciousDefinition(label, rest)
	})
	if len(definitions) == 0 {
		return
	}
	used := references(s.md)
	for _, l := range definitions {
		if label, _ := s.definition(&l); !used[labelKey(label)] {
			s.cut(l.Begin, l.After, "comment", string(s.md[l.Begin:l.After]))
		}
	}
}

// definition returns the label of a definition with its brackets, and what follows the colon. Package markdown has
// found it, so that the colon is there.
func (s *sweep) definition(l *markdown.Link) (label, rest []byte) {
	all := s.md[l.Begin:l.After]
	n := bytes.Index(all, []byte("]:"))
	return all[:n+1], all[n+2:]
}

// suspiciousDefinition reports whether a line with this label in brackets, which may begin with other text, and this
// rest after the colon may be a comment: it has no address, or its label or title is a sentence. suspicious asks it of
// any line, the sweep of definitions alone: one owner, so that a text that is let through fast has nothing that the
// sweep would cut.
func suspiciousDefinition(label, rest []byte) bool {
	rest = bytes.TrimSpace(rest)
	open := bytes.LastIndexByte(label, '[')
	if open < 0 || len(bytes.Trim(label[:open], " \t>-*+.)0123456789")) > 0 {
		return false
	}
	return len(rest) == 0 || rest[0] == '#' || rest[0] == '<' || suspiciousAddress(rest) ||
		bytes.Count(label[open:], []byte(" ")) > 2 || bytes.IndexByte(rest, ' ') > 0
}

// maxLabel is how long the label of a link may be, in bytes. CommonMark allows 999 characters.
const maxLabel = 1000

// references returns the labels in brackets that a text of markdown has outside of definitions. It takes any brackets
// for a reference, so that a definition rather stays than goes.
func references(md []byte) map[string]bool {
	used := map[string]bool{}
	begin := -1
	for i, c := range md {
		switch c {
		case '[':
			begin = i
		case ']':
			if begin >= 0 && i-begin <= maxLabel && (i+1 == len(md) || md[i+1] != ':') {
				used[labelKey(md[begin:i+1])] = true
			}
			begin = -1
		}
	}
	return used
}

// labelKey returns, of a link in markdown, a label as labels are compared. Case and white space do not count.
func labelKey(label []byte) string { return strings.ToLower(chars.OneLine(string(label))) }
