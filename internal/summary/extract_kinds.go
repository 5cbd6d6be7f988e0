package summary

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/lazy"
)

var (
	installLine = lazy.Pattern(`(?i)^(?:[$>%#]\s+)?(?:sudo\s+)?(?:(?:python3? -m )?pip3? install|pipx install|uv (?:add|pip install|tool install)|npm (?:i|install|add|create)\b|npx |yarn (?:add|global)|pnpm (?:add|i|install)|bun (?:add|install)|deno (?:add|install)|` +
		`go (?:get|install)|cargo (?:add|install)|gem install|bundle add|brew (?:install|tap)|apt(?:-get)? install|dnf install|yum install|pacman -S|apk add|zypper install|port install|nix-env|nix profile|snap install|flatpak install|winget install|choco install|scoop install|` +
		`docker (?:run|pull|compose)|podman (?:run|pull)|helm (?:install|repo add)|kubectl apply|conda install|mamba install|composer require|dotnet (?:add|tool install)|mix |cabal install|stack install|opam install|luarocks install|git clone|curl \S*.*\|\s*(?:ba)?sh|make install|mvn |gradle |terraform init)`)
	importLine = lazy.Pattern(`^\s*(?:import\s+["\w{*@.]|from\s+[\w.]+\s+import\b|#include\s*[<"]|use\s+[\w:]+(?:::|;)|using\s+[\w.]+;|require\(|(?:const|let|var)\s+.{1,60}=\s*require\(|require\s+['"]|extern crate\s|@import\s|library\(|(?:\w+\s+)?"[\w-]+\.[a-z]{2,}/[^"\s]+"$|open\s+[A-Z]\w+$|alias\s+[A-Z])`)

	signature = lazy.Pattern(`^\s*(?:(?:export|default|public|protected|static|async|abstract|final|pub(?:\([a-z]+\))?|unsafe|extern|inline|virtual|override|const|def|declare)\s+)*` +
		`(?:(?:def|class|func|fn|function|fun|interface|trait|struct|enum|type|module|namespace|impl|protocol|record|macro)\s+[\w$.(*\[]|(?:GET|POST|PUT|PATCH|DELETE|HEAD)\s+/|(?:[\w<>\[\]:*&,]+\s+){1,3}\w+\s*\([^)]*\)\s*(?:[;{]|const\b|throws\b|$))`)
	callLike = lazy.Pattern(`^(?:[\w$.:<>\[\]*&@-]+ ){0,3}[\w$.:<>\[\]*&@-]*\w\([^()]*(?:\([^()]*\)[^()]*)*\)(?:\s*(?:->|:|=>|→)\s*\S.*|\s+[\w*.\[\]]{1,40}|\s+\([^()]*\))?$`)
	endpoint = lazy.Pattern(`^(?:GET|POST|PUT|PATCH|DELETE|HEAD)\s+\S+$`)
	spans    = lazy.Pattern("`([^`\n]{2,120})`")
)

// sections joins the parts of an extractive summary of any kind that are not empty.
func sections(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, "\n\n")
}

// under returns extracted text under a heading; nothing for nothing.
func under(title, text string) string {
	if text == "" {
		return ""
	}
	return "## " + title + "\n\n" + text
}

// bullets returns what was extracted as a list, each line once and at most most of them; nothing for nothing.
func bullets(lines []string, most int) string {
	seen := map[string]bool{}
	var b strings.Builder
	n, more := 0, false
	for _, l := range lines {
		if seen[l] {
			continue
		}
		seen[l] = true
		if more = n == most; more {
			break
		}
		b.WriteString("- " + l + "\n")
		n++
	}
	if more {
		b.WriteString("- …\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// matching extracts the lines of all code of a page that match, without prompts of shells, each once, at most most.
func matching(blocks []block, re *regexp.Regexp, most int) []string {
	var list []string
	for _, b := range blocks {
		if b.kind != code {
			continue
		}
		for line := range strings.Lines(b.text) {
			if line = strings.TrimLeft(strings.TrimSpace(line), "$> "); re.MatchString(line) && !slices.Contains(list, line) &&
				len(list) < most {
				list = append(list, line)
			}
		}
	}
	return list
}

// usage extracts, for the kind usage, how to install, import and call what the page is about: commands and code as they
// stand there.
func usage(in input, blocks []block) string {
	install := matching(blocks, installLine(), 8)
	for _, b := range blocks { // a command in a sentence
		for _, m := range spans().FindAllStringSubmatch(b.raw, 8) {
			if b.kind != code && installLine().MatchString(m[1]) && len(install) < 8 && !slices.Contains(install, m[1]) {
				install = append(install, m[1])
			}
		}
	}
	imports := matching(blocks, importLine(), 10)
	examples := examplesOf(blocks)
	if len(install)+len(imports)+len(examples) == 0 {
		return ""
	}
	installs, importing := "", ""
	if len(install) > 0 {
		installs = codeBlock("sh", strings.Join(install, "\n"), 8)
	}
	if len(imports) > 0 {
		importing = codeBlock("", strings.Join(imports, "\n"), 10)
	}
	return sections(lead(in, blocks), under("Install", installs), under("Imports", importing),
		under("Examples", strings.Join(examples, "\n\n")))
}

// usageSections are headings under which examples stand that are worth more than others.
var usageSections = lazy.Pattern(`\b(?:usage|use|using|quick ?start|getting started|get started|examples?|how to|tutorial|basics?|first steps|hello|synopsis|verwendung|beispiel)\b`)

// examplesOf extracts, for the kind usage, at most four blocks of code, with what introduces each, those of sections
// about use first.
func examplesOf(blocks []block) []string {
	var first, rest []string
	for i, b := range blocks {
		if b.kind != code || len(b.text) < 15 || onlyMatching(b.text, installLine()) {
			continue
		}
		intro := ""
		if i > 0 && (blocks[i-1].kind == paragraph || blocks[i-1].kind == item || blocks[i-1].kind == heading) {
			if list := sentences(blocks[i-1].text); len(list) > 0 {
				intro = short(list[len(list)-1], 200) + "\n\n"
			}
		}
		example := intro + codeBlock(b.lang, b.text, 20)
		if usageSections().MatchString(b.section) {
			first = append(first, example)
		} else {
			rest = append(rest, example)
		}
	}
	list := slices.Concat(first, rest)
	return list[:min(len(list), 4)]
}

// onlyMatching reports whether every line that says something matches.
func onlyMatching(text string, re *regexp.Regexp) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !re.MatchString(line) {
			return false
		}
	}
	return true
}

// interfaces extracts, for the kind api, the signatures that the page and its symbol map name, with what is said of
// each, under the headings that they stand under.
func interfaces(in input, blocks []block) string {
	type entry struct{ under, line string }
	var list []entry
	seen := map[string]bool{}
	title := "" // of the nearest heading that is no signature
	add := func(sig, says string) {
		sig = strings.TrimRight(strings.Join(strings.Fields(sig), " "), " {:")
		if sig == "" || strings.Contains(sig, " main(") || seen[sig] || len(list) >= 60 {
			return
		}
		seen[sig] = true
		line := "`" + strings.ReplaceAll(short(sig, 160), "`", "'") + "`"
		if list := sentences(says); len(list) > 0 {
			line += ": " + short(list[0], 160)
		}
		list = append(list, entry{title, line})
	}
	for i, b := range blocks {
		says := ""
		if i+1 < len(blocks) && blocks[i+1].kind == paragraph {
			says = blocks[i+1].text
		}
		switch {
		case b.kind == heading && (callLike().MatchString(b.text) || endpoint().MatchString(b.text) ||
			signature().MatchString(b.text)):
			add(b.text, says)
		case b.kind == heading:
			title = b.text
		case b.kind == code:
			for line := range strings.Lines(b.text) {
				if signature().MatchString(strings.TrimRight(line, "\r\n")) {
					add(line, "")
				}
			}
		default:
			if m := spans().FindStringSubmatch(b.raw); m != nil && strings.HasPrefix(strings.TrimLeft(b.raw, "*_ "), "`") &&
				(callLike().MatchString(m[1]) || endpoint().MatchString(m[1]) || b.kind != paragraph) {
				add(m[1], strings.TrimLeft(strings.TrimPrefix(b.text, m[1]), " :|–—-"))
			}
		}
	}
	var groups []string
	for i := 0; i < len(list); {
		end := i
		var lines []string
		for end < len(list) && list[end].under == list[i].under {
			lines = append(lines, list[end].line)
			end++
		}
		if list[i].under == "" {
			groups = append(groups, bullets(lines, 60))
		} else {
			groups = append(groups, under(short(list[i].under, 80), bullets(lines, 60)))
		}
		i = end
	}
	symbols := ""
	if in.symbolMap != "" {
		symbols = under("Symbols", codeBlock("", in.symbolMap, 60))
	}
	if len(groups) == 0 && symbols == "" {
		return ""
	}
	return sections(append([]string{lead(in, blocks)}, append(groups, symbols)...)...)
}

// designSections are headings under which a page tells how a thing is built.
var designSections = lazy.Pattern(`\b(?:architectur\w*|design\w*|structure|layout|overview|how it works|internals?|components?|modules?|packages?|concepts?|data ?flow|pipeline|organi[sz]ation|directory|directories|under the hood|aufbau|implementation)\b`)

// usedBy are headings of lists of others that use a thing.
var usedBy = lazy.Pattern(`\b(?:us(?:ed|ing|ers?)|projects|adopters|companies)\b`)

// architecture extracts, for the kind architecture, what the page says of its parts, the head of the symbol map, and
// without either the page's outline with the first sentence of each part.
func architecture(in input, blocks []block) string {
	var design []string
	for _, b := range blocks {
		if !designSections().MatchString(b.section) || usedBy().MatchString(b.section) || len(design) >= 14 {
			continue
		}
		switch b.kind {
		case paragraph:
			if list := sentences(b.text); len(list) > 0 {
				design = append(design, short(strings.Join(list[:min(2, len(list))], " "), 300))
			}
		case item, table:
			design = append(design, short(b.text, 200))
		}
	}
	files := ""
	if in.symbolMap != "" {
		files = under("Most referenced first", codeBlock("", in.symbolMap, 45))
	}
	outline := ""
	if len(design) < 3 {
		outline = under("Parts", bullets(outlineOf(blocks), 16))
	}
	if files == "" && outline == "" && len(design) == 0 {
		return ""
	}
	return sections(lead(in, blocks), under("Design", bullets(design, 14)), outline, files)
}

// outlineOf extracts the page's headings, each with the first sentence under it.
func outlineOf(blocks []block) []string {
	var list []string
	for i, b := range blocks {
		if b.kind != heading || asideSection(b.section) {
			continue
		}
		line := "**" + short(b.text, 80) + "**"
		if i+1 < len(blocks) && (blocks[i+1].kind == paragraph || blocks[i+1].kind == item) {
			if says := sentences(blocks[i+1].text); len(says) > 0 {
				line += ": " + short(says[0], 180)
			}
		}
		list = append(list, line)
	}
	return list
}

// facts are what one must know to choose or reject something: how a sentence about it is known, and headings it stands
// under.
var facts = []struct {
	name    string
	says    func() *regexp.Regexp
	section func() *regexp.Regexp
}{
	{
		"Version", lazy.Pattern(`(?i)\b(?:latest|current|stable|released?|versions?|v)\b[^.]{0,40}?\bv?\d+\.\d+|\bv\d+\.\d+`),
		nil,
	},
	{"Maturity", lazy.Pattern(`(?i)\b(?:alpha|beta|experimental|pre-?release|production[- ]ready|in production|production use|stable api|not (?:yet )?stable|work in progress|deprecated|archived|unmaintained|no longer maintained|actively maintained|maintenance mode|end[- ]of[- ]life|battle[- ]tested|breaking changes|semver|semantic versioning)\b`), lazy.Pattern(`\b(?:status|stability|maturity|roadmap|support(?:ed)? versions)\b`)},
	{"Licence", lazy.Pattern(`\b(?i:licen[cs]ed?)\b|\b(?:MIT|Apache[- ]2(?:\.0)?|GPL(?:v?[23])?|LGPL|AGPL|BSD[- ][23]|MPL[- ]2|ISC|Unlicense|CC0|CC BY)\b`), lazy.Pattern(`^licen[cs]e`)},
	{
		"Requirements",
		lazy.Pattern(`(?i)\b(?:requires?|required|depends? on|dependenc(?:y|ies)|prerequisites?|compatible with|minimum|needs? (?:go|python|node|java|rust|php|ruby|\.net)\b|(?:go|python|node(?:\.js)?|java|rust|php|ruby|\.net) (?:>=? ?)?\d+(?:\.\d+)*\+?)`), lazy.Pattern(`\b(?:requirements?|dependenc(?:y|ies)|prerequisites?|compatibility|supported platforms|system requirements)\b`),
	},
	{"Limits", lazy.Pattern(`(?i)\b(?:limitations?|caveats?|known issues?|does not support|doesn't support|not supported|unsupported|drawbacks?|trade-?offs?|slower than|cannot\b)`), lazy.Pattern(`\b(?:limitations?|caveats?|known issues|drawbacks?|trade-?offs?|non-goals)\b`)},
	{
		"Alternatives",
		lazy.Pattern(`(?i)\b(?:alternatives?|compared (?:to|with)|comparison|unlike|in contrast to|similar to|inspired by|replacement for|instead of using|versus|vs\.?)\b`), lazy.Pattern(`\b(?:alternatives?|comparison|similar projects|related projects|why not|prior art|versus|vs)\b`),
	},
	{"Performance", lazy.Pattern(`(?i)\b(?:benchmarks?|times faster|x faster|\d+x|faster than|throughput|latency|ns/op|req(?:uests)?/s)\b`), lazy.Pattern(`\b(?:benchmarks?|performance)\b`)},
}

// evaluation extracts, for the kind evaluation, the sentences of a page about each of facts, and names those that it is
// silent on.
func evaluation(in input, blocks []block) string {
	var parts, silent []string
	found := 0
	for _, fact := range facts {
		var lines []string
		for _, b := range blocks {
			if b.kind == code || b.kind == heading || len(lines) >= 4 {
				continue
			}
			if b.kind != table && fact.section != nil && fact.section().MatchString(b.section) &&
				utf8.RuneCountInString(b.text) > 2 {
				lines = append(lines, short(b.text, 220))
				continue
			}
			for _, s := range sentences(b.text) {
				if fact.says().MatchString(s) && len(lines) < 4 && utf8.RuneCountInString(s) <= 400 {
					lines = append(lines, short(s, 220))
				}
			}
		}
		if len(lines) == 0 {
			silent = append(silent, strings.ToLower(fact.name))
			continue
		}
		found++
		parts = append(parts, under(fact.name, bullets(lines, 4)))
	}
	if found == 0 {
		return ""
	}
	note := ""
	if len(silent) > 0 {
		note = "The page says nothing of: " + strings.Join(silent, ", ") + "."
	}
	return sections(append([]string{lead(in, blocks)}, append(parts, note)...)...)
}
