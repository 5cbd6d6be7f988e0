package convert

import (
	"bytes"
	"strings"

	"github.com/readthru/readthru/convert/charset"
	"github.com/readthru/readthru/convert/formats"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// The marks of markdown that [Text] takes away: the box of a task, a definition of a link, and tags between which words
// must not run together; and more blank lines than one.
var (
	taskBox    = lazy.Pattern(`^\[[ xX]\]\s+`)
	definition = lazy.Pattern(`^\[\d+\]: \S+$`)
	spacedTag  = lazy.Pattern(`^</?(?:sub|sup|br)>$`)
	blankLines = lazy.Pattern(`\n(?:[ \t]*\n){2,}`)
)

// ErrTooLarge is the error of [Parse] for a body of more than 10 MiB of decoded text that is not HTML, which the caller
// should pass on unconverted.
var ErrTooLarge = charset.ErrTooLarge

// UTF8 is [charset.UTF8] for other packages: it returns a text in UTF-8, and other content as it is.
func UTF8(content []byte) []byte { return charset.UTF8(content) }

// Text renders markdown as plain text: without links, images and markup, with its words and lines (rule X9). Clients
// that want no markup get it.
func Text(md string) string {
	_, body := page.SplitFrontMatter([]byte(md))
	var b strings.Builder
	for line, kind := range markdown.Lines(string(body)) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case kind == markdown.FenceOpen || kind == markdown.FenceClose:
		case kind == markdown.FenceText:
			b.WriteString(line + "\n")
		case markdown.IsDelimiterRow([]byte(line)), definition().MatchString(line), strings.HasPrefix(line, formats.PageMark),
			strings.HasPrefix(strings.TrimLeft(line, " >\t"), "[!"):
		default:
			b.WriteString(textLine([]byte(line)) + "\n")
		}
	}
	return strings.TrimSpace(blankLines().ReplaceAllString(b.String(), "\n\n")) + "\n"
}

// textLine returns the text of a line of markdown. Tabs separate the cells of a row. Marks of headings, lists and
// quotations go.
func textLine(line []byte) string {
	if row := bytes.TrimSpace(line); len(row) > 1 && row[0] == '|' && row[len(row)-1] == '|' {
		cells := strings.ReplaceAll(string(row[1:len(row)-1]), `\|`, "\x00")
		cells = strings.ReplaceAll(strings.ReplaceAll(cells, "|", "\t"), "\x00", "|")
		line = []byte(strings.TrimSpace(cells))
	} else {
		from, item := markdown.Markers(line)
		if line = line[from:]; item >= 0 {
			line = line[len(taskBox().Find(line)):]
		}
	}
	var b strings.Builder
	markdown.Pieces(line, func(kind markdown.PieceKind, text []byte) {
		switch {
		case kind != markdown.Tag:
			b.WriteString(kind.Decode(text))
		case spacedTag().Match(text):
			b.WriteByte(' ')
		}
	})
	return b.String()
}
