package convert

import (
	"strings"

	"readthru/page"
)

var (
	imageMarkup  = pattern(`!\[((?:\\.|[^\]\\])*)\]\((?:[^()\s]|\([^()]*\))*(?:\s"[^"]*")?\)`)
	linkMarkup   = pattern(`\[((?:\\.|[^\]\\])*)\](?:\((?:[^()\s]|\([^()]*\))*(?:\s"[^"]*")?\)|\[\d+\])`)
	lineMarkup   = pattern(`^(?:\s*>\s?)*\s*(?:#{1,6}\s+|(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)?`)
	tableRule    = pattern(`^\s*\|(?:\s*:?-{3,}:?\s*\|)+\s*$`)
	emphasis     = pattern(`(\*\*|\*|~~)(\S(?:.*?\S)?)(\*\*|\*|~~)`)
	definition   = pattern(`^\[\d+\]: \S+$`)
	inlineCode   = pattern("(`+)( ?)(.+?)( ?)(`+)")
	inlineMarkup = pattern(`</?(?:sub|sup|br)>`)
	escaped      = pattern(`\\[!-/:-@\[-` + "`" + `{-~]`)
)

// Text renders markdown as plain text: links, images and markup out, words and line structure kept (rule X9).
func Text(markdown string) string {
	_, body := page.SplitFrontMatter([]byte(markdown))
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(string(body)) {
		line = strings.TrimRight(line, " \r\n")
		bare := strings.TrimLeft(line, " >\t")
		if fence != "" {
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, "`~ ") == "" {
				fence = ""
				continue
			}
			b.WriteString(line + "\n")
			continue
		}
		if ticks := len(bare) - len(strings.TrimLeft(bare, "`")); ticks >= 3 {
			fence = bare[:ticks]
			continue
		}
		if tableRule().MatchString(line) || definition().MatchString(line) || strings.HasPrefix(bare, "[!") ||
			strings.HasPrefix(line, pageMark) {
			continue
		}
		b.WriteString(textLine(line) + "\n")
	}
	return strings.TrimSpace(blankLines().ReplaceAllString(b.String(), "\n\n")) + "\n"
}

var blankLines = pattern(`\n(?:[ \t]*\n){2,}`)

// aside is where escaped characters wait, in Unicode's private area, while markup is taken out.
const aside = '\uf700'

func textLine(line string) string {
	if row := strings.TrimSpace(line); len(row) > 1 && row[0] == '|' && row[len(row)-1] == '|' {
		line = strings.ReplaceAll(strings.ReplaceAll(row[1:len(row)-1], `\|`, "\x00"), "|", "\t")
		line = strings.TrimSpace(strings.ReplaceAll(line, "\x00", "|"))
	} else {
		line = lineMarkup().ReplaceAllString(line, "")
	}
	return inlineText(line)
}

// inlineText returns the text of markdown within a line.
func inlineText(line string) string {
	line = escaped().ReplaceAllStringFunc(line, func(pair string) string { return string(aside + rune(pair[1])) })
	line = imageMarkup().ReplaceAllString(line, "$1")
	line = linkMarkup().ReplaceAllString(line, "$1")
	for range 3 {
		line = emphasis().ReplaceAllString(line, "$2")
	}
	line = inlineCode().ReplaceAllString(line, "$3")
	line = inlineMarkup().ReplaceAllString(line, " ")
	return strings.Map(func(r rune) rune {
		if r >= aside && r < aside+0x80 {
			return r - aside
		}
		return r
	}, line)
}
