package summary

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExtract is the longest extractive summary, in characters.
const maxExtract = 4000

// extract makes a summary of a kind from the sentences, commands, signatures and headings of the page. It is never
// empty. weak reports whether no sentence of the page stands out.
func extract(kind Kind, in input) (text string, weak bool) {
	if in.file != nil {
		return bound(in.file.summary(), maxExtract), false
	}
	blocks := append(blocksOf(readable(in.readme)), blocksOf(readable(in.content))...)
	switch kind {
	case Usage:
		text = usage(in, blocks)
	case API:
		text = interfaces(in, blocks)
	case Architecture:
		text = architecture(in, blocks)
	case Evaluation:
		text = evaluation(in, blocks)
	}
	if text == "" {
		text, weak = brief(in, blocks, 7)
	}
	return bound(text, maxExtract), weak
}

// lead says, for an extractive summary, in a sentence or two what a page is.
func lead(in input, blocks []block) string {
	text, _ := brief(in, blocks, 2)
	return text
}

// sentence is a candidate for a brief summary.
type sentence struct {
	text      string
	paragraph int  // number of its paragraph
	order     int  // place in the page
	entry     bool // it is an entry of a list or a row of a table
	score     float64
}

// fewSentences is how many sentences a summary has at least, if the page has as many.
const fewSentences = 3

// maxSentences is how many sentences of a page are candidates, from the first.
const maxSentences = 600

// brief extracts the n sentences that carry the page, in its order and paragraphs: those early in the page and in their
// paragraph, full of the words that the page uses most and of those of its title. What the page says of itself comes
// first. weak reports whether it does not say of itself what it is, and no sentence stands out: none is prose, or all
// are alike.
func brief(in input, blocks []block, n int) (text string, weak bool) {
	list := candidates(blocks)
	if len(list) == 0 {
		list, weak = fragments(blocks), true
	}
	weigh(list, in)
	chosen := slices.Clone(list)
	slices.SortStableFunc(chosen, func(a, b sentence) int { return cmp.Compare(b.score, a.score) })
	var kept []sentence
	said := []string{}
	if d := plain(in.description); utf8.RuneCountInString(d) >= 30 {
		said = append(said, short(d, 400))
		n--
	}
	described := len(said) > 0
	take := func(most int, alike func(a, b string) bool) {
		for _, s := range chosen {
			if len(kept) < most && !slices.ContainsFunc(said, func(t string) bool { return alike(t, s.text) }) {
				kept, said = append(kept, s), append(said, s.text)
			}
		}
	}
	take(n, alike)
	if !described && len(kept) < min(n, fewSentences) {
		before := len(kept)
		take(min(n, fewSentences), func(a, b string) bool { return a == b })
		weak = weak || len(kept) > before
	}
	slices.SortFunc(kept, func(a, b sentence) int { return cmp.Compare(a.order, b.order) })
	text = written(in, kept)
	if i := slices.IndexFunc(blocks, func(b block) bool { return b.kind == code }); i >= 0 && len(kept)+len(said) == 0 {
		text = strings.TrimSpace(plain(in.title) + "\n\n" + codeBlock(blocks[i].lang, blocks[i].text, 30))
	}
	return text, !described && (weak || len(kept) == 0)
}

// written joins the description and the sentences that were extracted from a page to paragraphs.
func written(in input, kept []sentence) string {
	var b strings.Builder
	if d := plain(in.description); utf8.RuneCountInString(d) >= 30 {
		b.WriteString(short(d, 400))
	}
	// of the current paragraph; a new one begins when it is long or far from the last sentence
	length, last := 1000, -1
	entry := false // the last one was
	for _, s := range kept {
		switch {
		case b.Len() == 0:
			length = 0
		case s.entry && entry:
			b.WriteString("\n")
		case s.entry || entry:
			b.WriteString("\n\n")
			length = 0
		case length > 350 || last >= 0 && s.paragraph > last+3:
			b.WriteString("\n\n")
			length = 0
		default:
			b.WriteString(" ")
		}
		if s.entry {
			b.WriteString("- ")
		}
		b.WriteString(escaped(s.text))
		length += len(s.text)
		last, entry = s.paragraph, s.entry
	}
	if b.Len() > 0 {
		return b.String()
	}
	for _, text := range []string{plain(in.description), plain(in.title)} {
		if text != "" {
			return text
		}
	}
	if text := strings.TrimSpace(in.symbolMap); text != "" {
		return codeBlock("", text, 30)
	}
	return short(strings.Join(strings.Fields(in.readme+" "+in.content), " "), 600)
}

// escaped keeps an extracted sentence at the beginning of a paragraph from becoming a heading, list or quote.
func escaped(s string) string {
	if strings.HasPrefix(s, "#") || strings.HasPrefix(s, ">") || bullet().MatchString(s) {
		return `\` + s
	}
	return s
}

// candidates returns the sentences of a page's prose that can be extracted, because they stand alone: 25 to 500
// characters (8 in scripts without spaces), and not in a section that is beside the matter. Of a page without such
// prose it returns the entries of lists and tables.
func candidates(blocks []block) []sentence {
	var list []sentence
	number := 0
	for _, b := range blocks {
		if b.kind != paragraph || asideSection(b.section) || len(list) >= maxSentences {
			continue
		}
		number++
		for _, text := range sentences(b.text) {
			if n := utf8.RuneCountInString(text); n < 25 && !wide(text) || n < 8 || n > 500 || !proselike(text) {
				continue
			}
			list = append(list, sentence{text: text, paragraph: number, order: len(list)})
		}
	}
	if len(list) == 0 { // a page of lists
		for i, b := range blocks {
			if (b.kind == item || b.kind == table) && utf8.RuneCountInString(b.text) >= 15 && len(list) < 60 {
				list = append(list, sentence{text: short(b.text, 300), paragraph: i, order: len(list), entry: true})
			}
		}
	}
	return list
}

// fragments returns what can be extracted from a page that has none of candidates: sentences of any length, and entries
// of lists and tables, of two words at least.
func fragments(blocks []block) []sentence {
	const most = 60
	var list []sentence
	for i, b := range blocks {
		if b.kind == code || b.kind == heading {
			continue
		}
		entry := b.kind == item || b.kind == table
		parts := sentences(b.text)
		if entry {
			parts = []string{b.text}
		}
		for _, text := range parts {
			if len(list) < most && (wide(text) || len(wordsOf(text)) > 1) {
				list = append(list, sentence{text: short(text, 300), paragraph: i, order: len(list), entry: entry})
			}
		}
	}
	return list
}

// asideSections are parts of a page that are not what it is about.
var asideSections = []string{
	"table of contents", "contents", "licence", "license", "contribut", "acknowledg",
	"sponsor", "changelog", "see also", "references", "external links", "further reading", "comments", "related", "author",
	"credits", "footnotes", "cookie",
}

// asideSection reports whether a section is beside the matter, so that no sentence of it summarises the page.
func asideSection(section string) bool {
	return len(section) < 40 && slices.ContainsFunc(asideSections,
		func(s string) bool { return strings.HasPrefix(section, s) })
}

// wide reports whether text to be extracted is in a script whose letters are words.
func wide(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 0x2e80 })
}

// proselike reports whether text to be extracted is mostly letters and says something by itself.
func proselike(text string) bool {
	letters, all := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
		all++
	}
	lower := strings.ToLower(text)
	return letters*10 >= all*7 && !strings.HasSuffix(text, ":") && !strings.Contains(lower, "cookie") &&
		!strings.HasPrefix(lower, "click ") && !strings.HasPrefix(lower, "copyright")
}

// weigh scores sentences for an extractive summary: by words that are frequent in the page or in its title, and by
// where they stand.
func weigh(list []sentence, in input) {
	count := map[string]int{}
	for _, s := range list {
		for _, w := range terms(s.text) {
			count[w]++
		}
	}
	title := map[string]bool{}
	for _, w := range terms(in.title) {
		title[w] = true
	}
	firstOf := map[int]bool{}
	for i := range list {
		s := &list[i]
		words := terms(s.text)
		if len(words) == 0 {
			continue
		}
		theme, named := 0.0, 0.0
		for _, w := range words {
			if count[w] > 1 {
				theme += math.Log(float64(count[w]))
			}
			if title[w] {
				named++
			}
		}
		s.score = theme/float64(len(words)) + .8*min(named, 3)/math.Sqrt(float64(max(len(title), 1)))
		s.score += 3 / (1 + float64(s.order)/4) // what a page is about stands at its beginning
		if !firstOf[s.paragraph] {
			s.score += .4
		}
		firstOf[s.paragraph] = true
		if leansBack(s.text) {
			s.score -= .8
		}
		if n := utf8.RuneCountInString(s.text); n > 300 {
			s.score -= .5
		}
	}
}

// terms returns the words of text, to choose what is extracted, that may carry its meaning, in lower case; of scripts
// without spaces pairs of letters.
func terms(text string) []string {
	var list []string
	for _, w := range wordsOf(strings.ToLower(text)) {
		if wide(w) {
			letters := []rune(w)
			for i := range len(letters) - 1 {
				list = append(list, string(letters[i:i+2]))
			}
			continue
		}
		if utf8.RuneCountInString(w) >= 4 && !stopWords[w] {
			list = append(list, w)
		}
	}
	return list
}

var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`about above after again also although always among another because been before being below between both cannot could does doing down during each either even every from
		further have having here into itself just like many more most much must need never only other over same should since some such than that their them then there these they this those through under until upon very want
		well were what when where which while will with within without would your yours you've it's don't aber auch auf aus beim dass dem den der die das dieser diese eine einen einer eines für haben hier ihre kann mehr nach nicht
		noch oder sich sind über und vom von wenn werden wird zum zur avec dans des elle est les leur mais nous par pas plus pour que qui sont sur une vous como con del desde esta este los las más para pero por que sus una`) {
		m[w] = true
	}
	return m
}()

// leansBack reports whether a sentence to be extracted begins with a word that refers to the sentence before, without
// which it is not understood.
func leansBack(text string) bool {
	word, _, _ := strings.Cut(strings.ToLower(text), " ")
	switch strings.Trim(word, ",") {
	case "this", "these", "those", "that", "it", "they", "he", "she", "but", "and", "so", "however", "therefore", "then",
		"also", "for", "moreover", "instead", "otherwise", "here", "if":
		return true
	}
	return false
}

// alike reports whether most terms of the shorter of two sentences that are extracted are in the other, so that a
// summary says nothing twice.
func alike(a, b string) bool {
	short, long := terms(a), terms(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) == 0 {
		return a == b
	}
	in := map[string]bool{}
	for _, w := range long {
		in[w] = true
	}
	n := 0
	for _, w := range short {
		if in[w] {
			n++
		}
	}
	return n*4 >= len(short)*3
}
