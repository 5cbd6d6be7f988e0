package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// blockKind is a kind of block of markdown.
type blockKind int

const (
	paragraph blockKind = iota
	heading
	code
	item  // of a list
	table // a row of it
)

// block is a block of a page's markdown.
type block struct {
	kind    blockKind
	level   int    // of a heading
	text    string // plain, on one line; of code as it stands
	lang    string // of code
	raw     string // markdown on one line
	section string // text of the nearest heading above, in lower case
}

var (
	atx     = pattern(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	bullet  = pattern(`^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?`)
	ruleRow = pattern(`^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$`)
	spent   = pattern(`^\s*(?:=+|-{2,}|\*{3,}|_{3,})\s*$`)
)

// blocksOf splits markdown into blocks, in one pass over its lines.
func blocksOf(markdown string) []block {
	var list []block
	var open []string // lines of the block that is being read
	kind, section := paragraph, ""
	end := func() {
		if len(open) > 0 {
			raw := strings.Join(open, " ")
			if text := plain(raw); text != "" {
				list = append(list, block{kind: kind, text: text, raw: raw, section: section})
			}
		}
		open, kind = nil, paragraph
	}
	head := func(level int, text string) {
		end()
		if text = plain(text); text != "" {
			section = strings.ToLower(text)
			list = append(list, block{kind: heading, level: level, text: text, section: section})
		}
	}
	fence, lang := "", ""
	var lines []string
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(line, " \t>")
		if fence != "" {
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				list = append(list, block{kind: code, text: strings.Join(lines, "\n"), lang: lang, section: section})
				fence, lines = "", nil
				continue
			}
			lines = append(lines, line)
			continue
		}
		if strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			end()
			fence = bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))]
			lang, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(bare[len(fence):])), " ")
			continue
		}
		switch m := atx().FindStringSubmatch(line); {
		case bare == "":
			end()
		case m != nil:
			head(len(m[1]), m[2])
		case spent().MatchString(line) && kind == paragraph && len(open) == 1 && line[0] != '*' && line[0] != '_':
			text := open[0]
			open = nil
			head(1+strings.Count(line[:1], "-"), text)
		case spent().MatchString(line), ruleRow().MatchString(line), linkDef().MatchString(line):
			end()
		case strings.HasPrefix(bare, "|"):
			end()
			kind, open = table, []string{strings.Trim(bare, "| ")}
			end()
		case bullet().MatchString(line):
			end()
			kind, open = item, []string{bullet().ReplaceAllString(line, "")}
		default:
			open = append(open, bare)
		}
	}
	end()
	if len(lines) > 0 { // a fence that is never closed
		list = append(list, block{kind: code, text: strings.Join(lines, "\n"), lang: lang, section: section})
	}
	return list
}

var (
	anyTag   = pattern(`</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>|<!--.*?(?:-->|$)`)
	refLink  = pattern(`\[((?:\\.|[^\[\]\\])+)\]\[[^\]]*\]`)
	shortRef = pattern(`\[([^\[\]]{1,80})\]`)
	footnote = pattern(`\[\^?\d{1,3}\]`)
	emphasis = pattern(`(\*{1,3}|~~)(\S(?:.*?\S)?)(\*{1,3}|~~)`)
	autoLink = pattern(`<((?:https?|mailto):[^<>\s]+)>`)
	escapes  = pattern(`\\([!-/:-@\[-` + "`" + `{-~])`)
)

// plain returns markdown of one line as text.
func plain(line string) string {
	if !strings.ContainsAny(line, "[]<*~\\`") {
		return strings.Join(strings.Fields(line), " ")
	}
	line = image().ReplaceAllString(line, "")
	for range 2 { // a link round an image leaves an empty one
		line = link().ReplaceAllString(line, "$1")
	}
	line = refLink().ReplaceAllString(line, "$1")
	line = footnote().ReplaceAllString(line, "")
	line = shortRef().ReplaceAllString(line, "$1")
	line = autoLink().ReplaceAllString(line, "$1")
	line = anyTag().ReplaceAllString(line, " ")
	for range 2 {
		line = emphasis().ReplaceAllString(line, "$2")
	}
	line = escapes().ReplaceAllString(strings.ReplaceAll(line, "`", ""), "$1")
	return strings.Join(strings.Fields(line), " ")
}

// abbreviations end with a full stop and no sentence.
var abbreviations = map[string]bool{
	"e.g": true, "i.e": true, "etc": true, "vs": true, "cf": true, "dr": true, "mr": true, "mrs": true, "ms": true,
	"st": true, "no": true, "fig": true, "approx": true,
	"z.b": true, "bzw": true, "d.h": true, "ca": true, "u.a": true, "inc": true, "ltd": true, "co": true, "jr": true,
	"al": true,
}

// sentences splits text of one line after the marks that end sentences.
func sentences(text string) []string {
	var list []string
	from := 0
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
		case '.', '!', '?':
			next, _ := utf8.DecodeRuneInString(text[end:])
			after, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:], ` "'”’)»]`))
			if end < len(text) && !strings.ContainsRune(` "'”’)»`, next) || unicode.IsLower(after) {
				continue
			}
			word := text[from:i]
			word = strings.ToLower(strings.TrimLeft(word[strings.LastIndexByte(word, ' ')+1:], `("'`))
			if r == '.' && end < len(text) && (abbreviations[word] || utf8.RuneCountInString(word) == 1 && word != "i") {
				continue
			}
			for rest := text[end:]; rest != ""; rest = text[end:] {
				r, size := utf8.DecodeRuneInString(rest)
				if !strings.ContainsRune(`"'”’)»`, r) {
					break
				}
				end += size
			}
		default:
			continue
		}
		if s := strings.TrimSpace(text[from:end]); s != "" {
			list = append(list, s)
		}
		from = end
	}
	if s := strings.TrimSpace(text[from:]); s != "" {
		list = append(list, s)
	}
	return list
}

// short returns text of at most limit characters, cut between words and marked.
func short(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	kept := first(text, limit-1)
	if i := strings.LastIndexByte(kept, ' '); i > len(kept)/2 {
		kept = kept[:i]
	}
	return strings.TrimRight(kept, " ,;:") + "…"
}
