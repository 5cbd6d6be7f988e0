package agents

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/markdown"
)

// Library is the parsed id of a Context7 library, /org/project[/version] or /org/project@version. Missing parts are
// empty.
type Library struct{ Org, Project, Version string }

// Name returns the project of the library, or "unknown" (rule A19).
func (l Library) Name() string {
	if l.Project == "" {
		return "unknown"
	}
	return l.Project
}

// libraryNames are the names of the argument with the library's id. libraryName, which may also be a plain name, comes
// last.
var libraryNames = []string{
	"libraryId", "context7CompatibleLibraryID", "libraryID", "library_id",
	"context7_compatible_library_id", "libraryName",
}

// libraryOf returns the Context7 library that the arguments of a tool name.
func libraryOf(input map[string]json.RawMessage) Library {
	return ParseLibrary(str(pick(input, libraryNames)))
}

// ParseLibrary parses the id of a Context7 library. A name without slashes is that of the project.
func ParseLibrary(id string) (l Library) {
	id = clip.Runes(clip.OneLine(id), 200)
	id, l.Version, _ = strings.Cut(id, "@")
	var parts []string
	for p := range strings.SplitSeq(id, "/") {
		if p != "" {
			parts = append(parts, p)
		}
	}
	switch len(parts) {
	case 0:
		return Library{}
	case 1:
		l.Project = parts[0]
		return l
	}
	l.Org, l.Project = parts[0], parts[1]
	if len(parts) > 2 {
		l.Version = strings.Join(parts[2:], "/")
	}
	return l
}

// minDocs is the minimum length of documentation that is kept, in characters (rule A19).
const minDocs = 50

// docsErrors are the beginnings of Context7's error texts, which are not marked as errors. They are in lower case.
var docsErrors = []string{
	"rate limited", "rate limit exceeded", "quota exceeded", "monthly quota", "too many requests",
	"documentation not found", "no documentation found", "no content available", "no snippets found",
	"the library you are trying to access does not exist", "library not found", "no library found", "no libraries found",
	"no results found",
	"unauthorized", "forbidden", "invalid api key", "access denied", "you do not have access", "authentication required",
	"error:", "error fetching", "error retrieving", "failed to", "an error occurred", "internal server error",
	"request failed", "could not", "unable to", "mcp error",
	"this library is not finalized", "library has been redirected",
}

// WorthKeeping reports whether a text from Context7 is documentation: it is long enough and not an error text.
func WorthKeeping(text string) bool {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) < minDocs {
		return false
	}
	first, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(text, "#") || strings.HasPrefix(text, "TITLE:") || strings.HasPrefix(first, "==") {
		return true
	}
	head := strings.ToLower(strings.TrimLeft(first, "*_>❌⚠️ \t"))
	return !slices.ContainsFunc(docsErrors, func(begin string) bool { return strings.HasPrefix(head, begin) })
}

// Snippet is the part of Context7's documentation that comes from one source.
type Snippet struct {
	Source string // URL of the source; empty if none is given
	Text   string // markdown, without the line that names the source
}

var (
	sourceLine = lazy.Pattern(`(?i)^source:\s*<?(https?://[^\s<>]+?)>?\s*$`)
	ruleLine   = lazy.Pattern(`^[-=_]{16,}\s*$`)
)

// Split splits a text from Context7 into snippets by source, in order. A snippet begins at a "### " heading that is
// followed by a "Source:" line, or at "TITLE:" in older texts, but never inside a code fence. Snippets of one source
// are joined.
func Split(text string) []Snippet {
	var list []Snippet
	at := map[string]int{}
	add := func(s Snippet) {
		if s.Text = strings.TrimSpace(s.Text); s.Text == "" || s.Source == "" && utf8.RuneCountInString(s.Text) < minDocs {
			return
		}
		if i, ok := at[s.Source]; ok {
			list[i].Text += "\n\n" + s.Text
			return
		}
		at[s.Source] = len(list)
		list = append(list, s)
	}
	var lines []string
	var source string
	flush := func() {
		add(Snippet{source, strings.Join(lines, "\n")})
		lines, source = nil, ""
	}
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var r markdown.Reader
	for i, line := range all {
		switch fenced := r.Line([]byte(line)).Fenced(); {
		// those two end a fence that was left open
		case fenced && (!ruleLine().MatchString(line) || !snippetFollows(all[i+1:])):
		case ruleLine().MatchString(line):
			flush()
			r = markdown.Reader{}
			continue
		case strings.HasPrefix(line, "### ") && sourceFollows(all[i+1:]), strings.HasPrefix(line, "TITLE: "):
			flush()
			if title, ok := strings.CutPrefix(line, "TITLE: "); ok {
				line = "### " + title
			}
		default:
			if m := sourceLine().FindStringSubmatch(line); m != nil && source == "" {
				source = m[1]
				continue
			}
			line = strings.TrimPrefix(line, "DESCRIPTION: ")
			if line == "CODE:" || strings.HasPrefix(line, "LANGUAGE: ") {
				continue
			}
		}
		lines = append(lines, line)
	}
	flush()
	return list
}

// snippetFollows reports whether the next line of Context7's text that is not blank begins a snippet.
func snippetFollows(lines []string) bool {
	for i, l := range lines {
		if strings.TrimSpace(l) != "" {
			return strings.HasPrefix(l, "TITLE: ") || strings.HasPrefix(l, "### ") && sourceFollows(lines[i+1:])
		}
	}
	return false
}

// sourceFollows reports whether the next line of Context7's text that is not blank names a source.
func sourceFollows(lines []string) bool {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return sourceLine().MatchString(l)
		}
	}
	return false
}

// Merge returns the snippets of both texts from Context7 without duplicates, those of old first.
func Merge(old, more string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(old))
	for _, part := range sections(more) {
		if part = strings.TrimSpace(part); part != "" && !strings.Contains(b.String(), part) {
			b.WriteString("\n\n" + part)
		}
	}
	return strings.TrimSpace(b.String())
}

// sections splits a text of Context7 before each of its "### " headings.
func sections(text string) (list []string) {
	for {
		i := strings.Index(text[min(1, len(text)):], "\n### ")
		if i < 0 {
			return append(list, text)
		}
		list, text = append(list, text[:i+1]), text[i+2:]
	}
}
