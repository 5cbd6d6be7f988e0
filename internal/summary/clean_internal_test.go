package summary

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/readthru/readthru/page"
)

func TestInputIsAssembledInOrder(t *testing.T) { // rule B23
	p := &page.Page{
		Record: page.Record{URL: "https://site.test/a?key=sk-0123456789abcdef", Title: "T", Description: "D"},
		Answer: page.Answer{Readme: "# R\n\nreadme", SymbolMap: "main.go\n  main"},
	}
	in := assemble(p, "---\ntitle: x\n---\n\nBefore.\n\n# R\n\nreadme\n\nBetween.\n\nmain.go\n  main\n\nAfter.\n",
		maxInput)
	text := in.text()
	at := -1
	for _, part := range []string{"Title: T", "Description: D", "# R", "main.go", "Before."} {
		i := strings.Index(text, part)
		if i < at || i < 0 {
			t.Errorf("%q stands at %d, want it after %d: %s", part, i, at, text)
		}
		at = i
	}
	if strings.Count(text, "# R") != 1 || strings.Count(text, "main.go") != 1 || strings.Contains(text, "title: x") {
		t.Errorf("README, map or front matter stand in the content again: %s", text)
	}
	if strings.Contains(text, "sk-0123456789abcdef") {
		t.Errorf("the address tells its secret: %s", text)
	}
}

func TestInputIsCutBetweenCharacters(t *testing.T) { // rule B23
	for limit, want := range map[int][2]string{
		0: {"", ""}, 2: {"äö", ""}, 3: {"äöü", ""}, 4: {"äöü", "日"}, 6: {"äöü", "日本語"}, 7: {"äöü", "日本語"},
	} {
		in := assemble(&page.Page{Record: page.Record{Title: "äöü"}}, "日本語", limit)
		if in.title != want[0] || in.content != want[1] || in.cut != (limit < 6) || !utf8.ValidString(in.text()) {
			t.Errorf("limit %d: title %q, content %q, cut %v; want %q", limit, in.title, in.content, in.cut, want)
		}
	}
}

func TestAnswersAreCleaned(t *testing.T) {
	in := input{
		url:     "https://site.test/",
		content: "The harbour takes boats. See [rules](https://site.test/rules) and https://site.test/map or install with `pip install git+https://git.test/x`.",
	}
	for _, tt := range []struct{ name, said, want string }{
		{"as it is", "The harbour takes boats.", "The harbour takes boats."},
		{"preface", "Here is a brief summary of the page:\n\nThe harbour takes boats.", "The harbour takes boats."},
		{
			"preface and closing words",
			"Sure! Here's the summary:\n\nThe harbour takes boats.\n\nLet me know if you need more!",
			"The harbour takes boats.",
		},
		{"fence round all", "```markdown\nThe harbour takes boats.\n```", "The harbour takes boats."},
		{"bare fence round all", "~~~ \nThe harbour takes boats.\n~~~", "The harbour takes boats."},
		{"a fence of its own stays", "```sh\nharbour boats\n```", "```sh\nharbour boats\n```"},
		{"two fences stay", "```\nharbour\n```\n\nand\n\n```\nboats\n```", "```\nharbour\n```\n\nand\n\n```\nboats\n```"},
		{"front matter", "---\ntitle: x\n---\n\nThe harbour takes boats.", "The harbour takes boats."},
		{"its own title", "# Summary\n\nThe harbour takes boats.", "The harbour takes boats."},
		{"bold title", "**Summary:**\nThe harbour takes boats.", "The harbour takes boats."},
		{"a heading of its content stays", "## Harbour\n\nIt takes boats.", "## Harbour\n\nIt takes boats."},
		{
			"link of the page stays", "The harbour has [rules](https://site.test/rules).",
			"The harbour has [rules](https://site.test/rules).",
		},
		{"invented link", "The harbour has [rules](https://evil.test/?q=secret).", "The harbour has rules."},
		{"invented reference", "The harbour has [rules][1].\n\n[1]: https://evil.test/", "The harbour has [rules][1]."},
		{
			"invented address", "The harbour is at https://evil.test/x. Boats too.",
			"The harbour is at (a link that is not in the page). Boats too.",
		},
		{"address of the page", "The harbour: https://site.test/map.", "The harbour: https://site.test/map."},
		{
			"address in a command", "For the harbour: `pip install git+https://git.test/x`",
			"For the harbour: `pip install git+https://git.test/x`",
		},
		{"image", "The harbour ![boats](https://evil.test/p.png?d=1) takes boats.", "The harbour boats takes boats."},
		{
			"tags that load", `The harbour <img src="https://evil.test/p"> takes <b>boats</b><!-- psst -->.`,
			"The harbour  takes <b>boats</b>.",
		},
		{"generics stay", "The harbour has List<Boat> boats.", "The harbour has List<Boat> boats."},
		{"invisible characters", "The har\u200bbour\U000e0041 takes\u202e boats.", "The harbour takes boats."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := clean(tt.said, in, nil); err != nil || strings.TrimSpace(got) != tt.want {
				t.Errorf("clean = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestALongAnswerIsCutAndSaidSo(t *testing.T) {
	in := input{content: "The harbour takes boats."}
	var b strings.Builder
	for i := range 2000 {
		b.WriteString("- harbour " + strings.Repeat(string(rune('a'+i%26)), 1+i%17) + "\n")
	}
	got, err := clean("```sh\nboats\n```\n\n"+b.String(), in, nil)
	if err != nil || utf8.RuneCountInString(got) > maxText || !strings.HasSuffix(got, "\n\n[Cut here.]") {
		t.Errorf("%d characters ending in %q, %v", utf8.RuneCountInString(got), got[max(0, len(got)-30):], err)
	}
	open := bound("```\n"+strings.Repeat("boats\n", 3000)+"```", maxText)
	if strings.Count(open, "```") != 2 || utf8.RuneCountInString(open) > maxText {
		t.Errorf("a fence stays open: %q", open[len(open)-40:])
	}
}

func TestAnAnswerLosesWhatTheOptionTakesOut(t *testing.T) {
	in := input{url: "https://site.test/", content: "The harbour takes boats."}
	more := func(md string) string { return strings.ReplaceAll(md, "<p hidden>obey</p>", "") }
	got, err := clean("```markdown\nThe harbour takes boats.\n\n<p hidden>obey</p>\n```", in, more)
	if err != nil || got != "The harbour takes boats." {
		t.Errorf("clean: %q, %v", got, err)
	}
}

// loads matches an image with an address.
var loads = regexp.MustCompile(`!\[[^\]]*\]\(\s*<?[a-z]+://`)

func FuzzClean(f *testing.F) {
	f.Add("Here is a summary:\n```markdown\n[a](b)\n```")
	f.Add("---\n---\n![x](y)[z]: https://a.test/\n<!--")
	in := input{url: "https://site.test/", content: "The harbour takes boats. [a](https://site.test/a)"}
	f.Fuzz(func(t *testing.T, said string) {
		got, err := clean(said, in, nil)
		switch {
		case err != nil:
		case !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxText:
			t.Errorf("%d characters, valid %v", utf8.RuneCountInString(got), utf8.ValidString(got))
		case loads.MatchString(got):
			t.Errorf("an image is left in %q", got)
		}
	})
}
