package page

import (
	"bytes"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
)

// FrontMatter returns the YAML block that stands before a page's markdown: title, url, description, author, date, lang,
// more names with their values, and fetched_at, only what is known. It ends with a blank line. It is empty if nothing
// is known.
// It is put before the markdown when that is written out; [Record.ContentHash] is without it, for fetched_at changes
// with every fetch.
func (p *Page) FrontMatter(more ...[2]string) string {
	var b strings.Builder
	b.Grow(512) // most blocks; each answer from the store has one
	b.WriteString("---\n")
	empty := b.Len()
	line := func(name, value string) {
		if value = clip.OneLine(value); value != "" {
			b.WriteString(name)
			b.WriteString(": ")
			b.WriteString(yamlString(value))
			b.WriteByte('\n')
		}
	}
	line("title", p.Title)
	line("url", firstOf(p.FinalURL, p.URL))
	line("description", p.Description)
	line("author", p.Meta["author"])
	line("date", p.Meta["date"])
	line("lang", p.Meta["lang"])
	for _, m := range more {
		line(m[0], m[1])
	}
	if !p.FetchedAt.IsZero() {
		b.WriteString("fetched_at: " + p.FetchedAt.UTC().Format(time.RFC3339) + "\n")
	}
	if b.Len() == empty {
		return ""
	}
	b.WriteString("---\n\n")
	return b.String()
}

// SplitFrontMatter splits a markdown text into the YAML block at its top, which may be empty, and the rest. Both share
// md's memory.
// A block that does not end is no block: then all is body. Blank lines between the block and the body belong to
// neither.
func SplitFrontMatter(md []byte) (block, body []byte) {
	rest, ok := bytes.CutPrefix(md, []byte("---\n"))
	if !ok {
		if rest, ok = bytes.CutPrefix(md, []byte("---\r\n")); !ok {
			return nil, md
		}
	}
	for at := 0; at < len(rest); {
		end := bytes.IndexByte(rest[at:], '\n')
		next := at + end + 1
		if end < 0 {
			next = len(rest)
		}
		if line := bytes.TrimRight(rest[at:next], " \t\r\n"); string(line) == "---" || string(line) == "..." {
			split := len(md) - len(rest) + next
			return md[:split], bytes.TrimLeft(md[split:], "\r\n")
		}
		at = next
	}
	return nil, md
}

// ExcerptLength is how long the excerpt of a page is at most, in characters.
const ExcerptLength = 300

// Excerpt returns, for front matter and lists, the first sentences of a markdown text as plain text on one line, at
// most limit characters. It leaves out front matter, headings, tables, HTML, pictures, callouts and fenced code, for a
// list of results wants sentences. It stops reading where the excerpt is full, so a long page costs no more than a
// short one.
func Excerpt(markdown []byte, limit int) string {
	_, body := SplitFrontMatter(markdown)
	var words []string
	length, fence := 0, ""
	for raw := range bytes.Lines(body) {
		line := string(bytes.TrimSpace(raw))
		// A fence of more backticks than three ends only at as many: it may hold fences of three.
		if ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]; fence == "" && len(ticks) >= 3 {
			fence = ticks
			continue
		}
		if fence != "" {
			if line == fence {
				fence = ""
			}
			continue
		}
		if line == "" || line[0] == '#' || line[0] == '|' || line[0] == '<' || strings.HasPrefix(line, "![") ||
			strings.HasPrefix(line, "> [!") {
			continue
		}
		for word := range strings.FieldsSeq(strings.Trim(line, "*_>- ")) {
			words = append(words, word)
			if length += utf8.RuneCountInString(word) + 1; length > limit+1 {
				break // what follows is cut
			}
		}
		if length > limit {
			break
		}
	}
	return cut(strings.Join(words, " "), limit)
}

// yamlString returns a line as a YAML scalar for front matter: plain where YAML reads it as this very text, else in
// double quotes. A text that YAML would read as a boolean, a null, a list or a mapping must be in quotes, or a reader
// gets another type than a string.
func yamlString(s string) string {
	first, _ := utf8.DecodeRuneInString(s)
	plain := unicode.IsLetter(first) && !strings.Contains(s, ": ") && !strings.Contains(s, " #") &&
		!strings.HasSuffix(s, ":")
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		plain = false
	}
	if plain {
		return s
	}
	return `"` + yamlEscapes.Replace(s) + `"`
}

var yamlEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// firstOf returns, for front matter, the first of some strings that is not empty; empty if all are.
func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// TitleOf returns the title in markdown's front matter, else its first heading of level one.
// It is for markdown that others made, which has no title beside its text. Only the first 16 KiB of the body are looked
// through: a heading of level one further down is seldom the page's.
func TitleOf(markdown []byte) string {
	block, body := SplitFrontMatter(markdown)
	for line := range bytes.Lines(block) {
		if v, ok := bytes.CutPrefix(line, []byte("title:")); ok {
			if title := strings.Trim(strings.TrimSpace(string(v)), `"'`); title != "" {
				return title
			}
		}
	}
	for line := range bytes.Lines(body[:min(len(body), 16<<10)]) {
		if v, ok := bytes.CutPrefix(line, []byte("# ")); ok {
			return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(string(v)), "#"))
		}
	}
	return ""
}
