package summary

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/readthru/readthru/internal/markdown"
)

// unfenced returns the text of markdown that is one block of code, and its language.
func unfenced(md string) (text, lang string, ok bool) {
	n := 0
	for b := range markdown.Blocks([]byte(md)) {
		if n++; n > 1 || b.Kind != markdown.Code {
			return "", "", false
		}
	}
	lines := strings.SplitAfter(strings.TrimRight(md, "\n")+"\n", "\n")
	if n == 0 || len(lines) < 4 || !strings.HasPrefix(lines[0], "```") { // the last of lines is empty
		return "", "", false
	}
	return strings.Join(lines[1:len(lines)-2], ""), strings.TrimSpace(strings.Trim(lines[0], "`\n")), true
}

// prose are the languages of fences whose text is read as prose.
var prose = map[string]bool{
	"": true, "text": true, "txt": true, "rst": true, "asciidoc": true, "adoc": true,
	"org": true,
}

// readable returns markdown without the fence around a whole text that is prose.
func readable(md string) string {
	if text, lang, ok := unfenced(md); ok && prose[lang] {
		return text
	}
	return md
}

// file is a page that is one file of code.
type file struct{ name, lang, text, defines string }

// fileOf returns the file of code that a page is, or nil if it is none. defines lists what the file defines; it may be
// nil.
func fileOf(ctx context.Context, in input, defines func(ctx context.Context, name string, code []byte) string) *file {
	text, lang, ok := unfenced(in.content)
	if !ok || prose[lang] || in.readme != "" || in.symbolMap != "" || strings.TrimSpace(text) == "" {
		return nil
	}
	f := &file{name: in.title, lang: lang, text: text}
	if u, err := url.Parse(in.url); err == nil && path.Ext(u.Path) != "" {
		f.name = path.Base(u.Path)
	}
	if defines != nil {
		f.defines = strings.Trim(defines(ctx, f.name, []byte(text)), "\n")
	}
	if f.defines == "" {
		var lines []string
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\r\n"); signature().MatchString(line) {
				lines = append(lines, strings.TrimRight(line, " {"))
			}
		}
		f.defines = strings.Join(lines, "\n")
	}
	return f
}

// summary says what the file is, by the comment at its beginning, and what it defines.
func (f *file) summary() string {
	lines := strings.Count(f.text, "\n")
	head := fmt.Sprintf("`%s`: %s, %d lines.", strings.ReplaceAll(f.name, "`", "'"), f.lang, lines)
	if f.defines == "" {
		return sections(head, f.remark(), codeBlock(f.lang, f.text, 20))
	}
	return sections(head, f.remark(), "It defines:", codeBlock("", f.defines, 60))
}

// remark returns the first two sentences of the comment that a source file begins with, if that is not a licence.
func (f *file) remark() string {
	var words []string
	inside := ""
	for line := range strings.Lines(f.text) {
		line = strings.TrimSpace(line)
		switch {
		case inside != "":
			if rest, ended := strings.CutSuffix(line, inside); ended {
				line, inside = rest, "end"
			}
		case strings.HasPrefix(line, "#!"), line == "" && len(words) == 0, strings.HasPrefix(line, "<?"):
			continue
		case strings.HasPrefix(line, "/*"):
			inside, line = "*/", strings.TrimPrefix(line, "/*")
		case strings.HasPrefix(line, `"""`):
			inside, line = `"""`, strings.TrimPrefix(line, `"""`)
			if rest, ended := strings.CutSuffix(line, inside); ended {
				line, inside = rest, "end"
			}
		case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "#"), strings.HasPrefix(line, "--"),
			strings.HasPrefix(line, ";"), strings.HasPrefix(line, "%"):
		default:
			inside = "end"
			line = ""
		}
		words = append(words, strings.Fields(strings.Trim(line, "/*#-;%! "))...)
		if inside == "end" || len(words) > 200 {
			break
		}
	}
	text := strings.Join(words, " ")
	lower := strings.ToLower(text)
	if strings.Contains(lower, "copyright") || strings.Contains(lower, "license") || strings.Contains(lower, "licence") {
		return ""
	}
	list := sentences(text)
	return short(strings.Join(list[:min(2, len(list))], " "), 400)
}

// codeBlock returns lines of code for a summary, in a fence that they cannot close. It replaces lines after the first
// most ones with "…".
func codeBlock(lang, text string, most int) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = short(l, 200)
	}
	if len(lines) > most {
		lines = append(lines[:most:most], "…")
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + strings.Map(func(r rune) rune {
		if r == '`' || r == ' ' {
			return -1
		}
		return r
	}, lang) + "\n" + strings.Join(lines, "\n") + "\n" + fence
}
