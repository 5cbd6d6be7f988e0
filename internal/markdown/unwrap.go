package markdown

import "strings"

// Unwrap returns a text without the fence around all of it, and without space around it. Models put such a fence around
// the markdown that they are asked for. It names markdown or no language. What may be blocks of code with text between
// them is no such fence and stays.
func Unwrap(text string) string {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, "\n")
	if first == "" || first[0] != '`' && first[0] != '~' {
		return text
	}
	outer, ok := fenceAt([]byte(first))
	named := strings.EqualFold(outer.Info, "markdown") || strings.EqualFold(outer.Info, "md")
	if !ok || !named && outer.Info != "" {
		return text
	}
	body := strings.TrimRight(rest, string(rune(outer.mark)))
	if len(rest)-len(body) < outer.run {
		return text // it is not closed
	}
	var inner Fence
	open := false
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] != outer.mark {
			continue
		}
		f, ok := fenceAt([]byte(line))
		switch {
		case !ok || f.run < outer.run:
		case !open && !named && f.Info == "":
			return text // it may close the outer one
		case !open:
			inner, open = f, true
		case inner.closes([]byte(line)):
			open = false
		case f.run == outer.run && inner.run == outer.run:
			return text // what was taken for the beginning of an inner one was the end of the outer
		}
	}
	if open {
		return text
	}
	return strings.TrimSpace(body)
}
