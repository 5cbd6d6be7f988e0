package summary

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// maxInput is how much of a page a summary is made of, in characters (rule B23).
const maxInput = 100_000

// input is what a summary is made of, together at most maxInput characters.
type input struct {
	url                                            string // masked
	title, description, readme, symbolMap, content string
	cut                                            bool  // there was more
	chars                                          int   // there was, in characters
	file                                           *file // for an extract: it is a file of code; nil: it is none
}

// assemble makes the input: it gathers what is known of a page in the order of rule B23 and cuts it where the limit is
// reached. content is the page's markdown; what it repeats of README and symbol map is left out of it.
func assemble(p *page.Page, content string, limit int) input {
	_, body := page.SplitFrontMatter([]byte(content))
	in := input{
		url: page.MaskString(p.URL), title: p.Title, description: p.Description, readme: strings.TrimSpace(p.Readme),
		symbolMap: strings.Trim(p.SymbolMap, "\n"), content: strings.TrimSpace(string(body)),
	}
	for _, part := range []string{in.readme, in.symbolMap} {
		if part != "" {
			in.content = strings.TrimSpace(strings.Replace(in.content, part, "", 1))
		}
	}
	for _, part := range []*string{&in.title, &in.description, &in.readme, &in.symbolMap, &in.content} {
		text := strings.ToValidUTF8(*part, "\ufffd")
		n := utf8.RuneCountInString(text)
		in.chars += n
		if n > limit {
			text, n, in.cut = clip.Runes(text, limit), limit, true
		}
		*part = text
		limit -= n
	}
	return in
}

// empty reports whether there is nothing to summarise.
func (in input) empty() bool {
	return strings.TrimSpace(in.title+in.description+in.readme+in.symbolMap+in.content) == ""
}

// text returns the input as a model reads it, each part under its name.
func (in input) text() string {
	var b strings.Builder
	b.WriteString("URL: " + in.url + "\n")
	for _, part := range []struct{ name, text string }{
		{"Title: ", in.title},
		{"Description: ", in.description},
		{"\nREADME:\n", in.readme},
		{"\nSymbol map:\n", in.symbolMap},
		{"\nContent:\n", in.content},
	} {
		if part.text != "" {
			b.WriteString(part.name + part.text + "\n")
		}
	}
	if in.cut {
		b.WriteString("\n[Cut here. The page has " + strconv.Itoa(in.chars) + " characters.]\n")
	}
	return b.String()
}
