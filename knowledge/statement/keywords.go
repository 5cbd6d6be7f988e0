package statement

import (
	"bytes"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/markdown"

	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/outline"
)

// What passages are about, found without a model: after RAKE (phrases are what stands between stop words and
// punctuation) and YAKE (what is frequent, capitalised and peculiar to its passage counts more).

// How many entities of a passage come from each source.
const (
	manyIdentifiers = 3
	manyLinks       = 2
	manyNames       = 3
	manyPhrases     = 4
)

// Local returns a statement for each passage of a document.
func Local(d *index.Document, passages []outline.Passage) []Statement {
	hosts := hostsIn(d)
	parts := make([]passageParts, len(passages))
	for i := range passages {
		parts[i] = readParts(d.Markdown[passages[i].Start:passages[i].End], hosts)
	}
	topics := countPhrases(parts)
	overall := topics.ofAll(2)
	list := make([]Statement, len(passages))
	for i := range passages {
		path, p := passages[i].Path, &parts[i]
		var domains, entities, problems, resolutions, contexts List
		for _, told := range slices.Concat(d.Subjects, overall) {
			domains.Add(told)
		}
		if n := len(path); n > 0 && !anyHeading().MatchString(path[n-1]) {
			entities.Add(hosts.without(path[n-1]))
		} else {
			entities.Add(hosts.without(d.Title))
		}
		for _, source := range [][]string{
			p.identifiers[:min(len(p.identifiers), manyIdentifiers)], p.links[:min(len(p.links), manyLinks)],
			p.names[:min(len(p.names), manyNames)], topics.of(p, manyPhrases),
		} {
			for _, item := range source {
				entities.Add(item)
			}
		}
		for _, heading := range path {
			contexts.Add(heading)
			if problemHeading().MatchString(heading) {
				problems.Add(heading)
			}
			if resolutionHeading().MatchString(heading) {
				resolutions.Add(heading)
			}
		}
		list[i] = Statement{
			Frame: defaultFrame, Confidence: localConfidence, Domains: domains.items(), Entities: entities.items(),
			Problems: problems.items(), Resolutions: resolutions.items(), Contexts: contexts.items(),
		}
	}
	return list
}

var (
	problemHeading = lazy.Pattern(`(?i)\b(errors?|problems?|issues?|troubleshoot\w*|fail(s|ed|ing|ures?)?|bugs?|` +
		`limitations?|pitfalls?|caveats?|warnings?|gotchas?|does not|doesn't|cannot|can't)\b`)
	resolutionHeading = lazy.Pattern(`(?i)\b(fix(es|ed|ing)?|solutions?|resolv\w*|resolutions?|workarounds?|` +
		`remed(y|ies)|mitigations?|troubleshoot\w*|how to)\b`)
	// anyHeading matches headings that stand in any document.
	anyHeading = lazy.Pattern(`(?i)^(abstract|background|conclusions?|(table of )?contents|` +
		`(short |long |detailed )?descriptions?|examples?|faq|further reading|getting started|inputs?|installation|` +
		`introduction|notes?|options|outputs?|overview|parameters|` +
		`prerequisites|references?|related( links| topics)?|remarks|returns?|see also|summary|synopsis|syntax|usage)$`)
	codeSpan    = lazy.Pattern("`([^`\n]{2,60})`")
	linkText    = lazy.Pattern(`(!?)\[([^\[\]\n]{3,80})\]\([^()\s]*`)
	capitalised = lazy.Pattern(`(?:^|[\s("])(\p{Lu}[\p{L}\p{N}]+(?: \p{Lu}[\p{L}\p{N}]+){1,3})`)
	identifier  = lazy.Pattern(`[\p{L}_$][\p{L}\p{N}_$]*(?:[.:\-]+[\p{L}\p{N}_$]+)*`)
)

// addresses are the hosts that a document names, in lower case: they are addresses, not what it is about.
type addresses map[string]bool

// hostsIn returns the hosts that a document names, which are no subjects of it.
func hostsIn(d *index.Document) addresses {
	hosts := addresses{d.Host: true}
	text := string(d.Markdown)
	for _, at := range findAddresses(text) {
		host, _, _ := strings.Cut(text[at.host:at.end], "/")
		hosts[strings.ToLower(strings.TrimRight(host, ".,;:)]"))] = true
	}
	return hosts
}

// urlAt is where a URL stands in a text.
type urlAt struct{ start, host, end int }

// findAddresses finds the URLs of a text, which give it no keywords, roughly: what stands round "://" between white
// space and quotes.
func findAddresses(text string) (list []urlAt) {
	for from := 0; ; {
		i := strings.Index(text[from:], "://")
		if i < 0 {
			return list
		}
		at := urlAt{start: from + i, host: from + i + len("://"), end: len(text)}
		for at.start > from && (text[at.start-1] >= 'a' && text[at.start-1] <= 'z' || text[at.start-1] >= 'A' &&
			text[at.start-1] <= 'Z') {
			at.start--
		}
		if n := strings.IndexAny(text[at.host:], " \t\n<>\"`()[]"); n >= 0 {
			at.end = at.host + n
		}
		list = append(list, at)
		from = at.end
	}
}

// withoutAddresses puts a full stop in the place of each URL of a text before keywords are looked for.
func withoutAddresses(text string) string {
	list := findAddresses(text)
	if len(list) == 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for _, at := range list {
		b.WriteString(text[from:at.start] + ". ")
		from = at.end
	}
	b.WriteString(text[from:])
	return b.String()
}

// without returns a text, or nothing if it is a host or holds a URL.
func (a addresses) without(text string) string {
	if host := strings.ToLower(text); a[host] || a["www."+host] || strings.Contains(text, "://") {
		return ""
	}
	return text
}

// passageParts are the parts of a passage that tell what it is about.
type passageParts struct {
	identifiers []string // from code, the most telling first
	links       []string // texts
	names       []string // several capitalised words in a row
	phrases     []string // of the prose
}

// readParts takes a passage apart to find its keywords.
func readParts(md []byte, hosts addresses) passageParts {
	var p passageParts
	var prose, code bytes.Buffer
	for line, kind := range markdown.Lines(string(md)) {
		switch kind {
		case markdown.FenceText, markdown.Indented:
			code.WriteString(line)
		case markdown.FenceOpen, markdown.FenceClose:
		default:
			prose.WriteString(line)
		}
	}
	text := prose.String()
	named := func(list *[]string, s string) {
		if hosts.without(s) != "" {
			*list = append(*list, s)
		}
	}
	for _, m := range codeSpan().FindAllStringSubmatch(text, 50) {
		if s := strings.TrimSpace(m[1]); identifier().FindString(s) == strings.TrimLeft(strings.TrimSuffix(s, "()"), "-") {
			named(&p.identifiers, s)
		}
	}
	counts := map[string]int{}
	plain := withoutAddresses(clip.Bytes(code.String(), 16<<10))
	for _, s := range identifier().FindAllString(plain, 500) {
		if isDistinctive(s) {
			if counts[s]++; counts[s] == 2 { // a name that code uses once is seldom its subject
				named(&p.identifiers, s)
			}
		}
	}
	for _, m := range linkText().FindAllStringSubmatch(text, 50) {
		if m[1] == "" {
			named(&p.links, outline.TitleText([]byte(m[2])))
		}
	}
	text = withoutAddresses(codeSpan().ReplaceAllString(linkText().ReplaceAllString(text, "$2("), ". "))
	for _, m := range capitalised().FindAllStringSubmatch(text, 50) {
		name := m[1]
		if first, rest, _ := strings.Cut(name, " "); analysis.StopWords[strings.ToLower(first)] ||
			commonWords[strings.ToLower(first)] {
			name = rest // the beginning of a sentence
		}
		if strings.Contains(name, " ") {
			p.names = append(p.names, name)
		}
	}
	p.phrases = candidatePhrases(text)
	return p
}

// isDistinctive reports whether an identifier is a keyword, because it is more than a plain word: it has a capital
// letter inside, or parts that are joined.
func isDistinctive(s string) bool {
	return len(s) >= 5 && strings.ContainsFunc(s[1:],
		func(r rune) bool { return unicode.IsUpper(r) || r == '_' || r == '.' || r == '-' })
}

// commonWords go beside the index's stop words: a phrase holds none of them.
var commonWords = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`
		about above after again all also although always am any anything are's back because been before being below between
		both can can't cannot could did do does doesn't doing don't done down during each either else enough etc even every
		example examples few first following for from further get gets getting give given gives go going had has have having
		he her here him his how however i i'm its it's itself just last least less let let's like made make makes many may
		maybe me might more most much must my need needs never new next no nor now off often old once one ones only other our
		out over own per please rather s said same second see set should shows since so some something still such sure take
		takes than that's them themselves then there's these thing things those through thus time times together too two under
		until up upon us use used useful uses using usually various very via want wants was way ways we well were what when
		where whether which while who whose why within without work works would yes yet you your yours`) {
		set[w] = true
	}
	return set
}()

// candidatePhrases returns the phrases of prose: one to three words between stop words and punctuation, with repeats.
func candidatePhrases(text string) []string {
	var phrases, words []string
	flush := func() {
		n := len(words)
		if n > 1 && n <= 3 || n == 1 && utf8.RuneCountInString(words[0]) >= 4 && !partsOfURLs[strings.ToLower(words[0])] {
			phrases = append(phrases, strings.Join(words, " "))
		}
		words = words[:0]
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if r != ' ' && r != '\n' && r != '*' {
				flush()
			}
			text = text[size:]
			continue
		}
		end := wordEnd(text)
		word := strings.TrimRight(text[:end], "-'_.")
		text = text[end:]
		switch lower := strings.ToLower(word); {
		case strings.Contains(word, ".") && !strings.HasSuffix(word, ".js") && !strings.HasSuffix(word, ".NET"),
			analysis.StopWords[lower], commonWords[lower], strings.HasSuffix(lower, "n't"), len(word) > 40, len(word) < 2,
			!strings.ContainsFunc(word, unicode.IsLetter):
			flush()
		default:
			words = append(words, word)
		}
	}
	flush()
	return phrases
}

// partsOfURLs are words that alone are no subject: text has them for its addresses.
var partsOfURLs = map[string]bool{"http": true, "https": true, "html": true}

// wordEnd returns where the word of a phrase ends that a text begins with. A dot between letters is a part of it: files
// and hosts are no phrases, but some libraries have one in their names.
func wordEnd(text string) int {
	for i, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '-' || r == '_' {
			continue
		}
		if r != '.' {
			return i
		}
		if next, _ := utf8.DecodeRuneInString(text[i+1:]); !unicode.IsLetter(next) {
			return i
		}
	}
	return len(text)
}

// phraseCounts is how often a document's phrases stand in it.
type phraseCounts struct {
	passages int
	in       map[string]int    // passages that have a phrase, by its lower case
	all      map[string]int    // times in all
	form     map[string]string // as it stood first
}

// countPhrases counts in how many passages of a document each phrase stands, and how often in all.
func countPhrases(parts []passageParts) *phraseCounts {
	c := &phraseCounts{passages: len(parts), in: map[string]int{}, all: map[string]int{}, form: map[string]string{}}
	for i := range parts {
		seen := map[string]bool{}
		for _, phrase := range parts[i].phrases {
			fold := strings.ToLower(phrase)
			c.all[fold]++
			if !seen[fold] {
				seen[fold] = true
				c.in[fold]++
			}
			if _, ok := c.form[fold]; !ok {
				c.form[fold] = phrase
			}
		}
	}
	return c
}

// weight is what a phrase's form says: several words say more than one, a name more than a word.
func (c *phraseCounts) weight(fold string) float64 {
	w := math.Sqrt(float64(1 + strings.Count(fold, " ")))
	if form := c.form[fold]; strings.ContainsFunc(form[1:], unicode.IsUpper) {
		w *= 1.5
	}
	return w
}

// ofAll returns up to n phrases that the whole document is about.
func (c *phraseCounts) ofAll(n int) []string {
	return c.best(c.all, n, func(fold string, times int) float64 {
		if times < 3 {
			return 0
		}
		return float64(times) * c.weight(fold)
	})
}

// of returns up to n phrases that a passage is about: frequent here, and not everywhere in the document.
func (c *phraseCounts) of(p *passageParts, n int) []string {
	here := map[string]int{}
	for _, phrase := range p.phrases {
		here[strings.ToLower(phrase)]++
	}
	return c.best(here, n, func(fold string, times int) float64 {
		return float64(times) * c.weight(fold) * math.Log(1+float64(c.passages)/float64(c.in[fold]))
	})
}

// best returns the n phrases with the highest scores above 0, and of equal ones the first by name.
func (c *phraseCounts) best(counts map[string]int, n int, score func(fold string, times int) float64) []string {
	type scoredPhrase struct {
		fold  string
		score float64
	}
	var list []scoredPhrase
	for fold, times := range counts {
		if s := score(fold, times); s > 0 {
			list = append(list, scoredPhrase{fold, s})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		return a.score > b.score || a.score == b.score && a.fold < b.fold
	})
	phrases := make([]string, 0, n)
	for _, p := range list[:min(n, len(list))] {
		phrases = append(phrases, c.form[p.fold])
	}
	return phrases
}
