package summary

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/page"
)

// readme reads the README of a made-up library.
func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/readme.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const symbolMap = "pond/pond.go\n  type Pond struct\n  func Open(dir string) (*Pond, error)\npond/ripple.go\n  func (p *Pond) Ripple(n int)\n"

func TestExtractsHoldWhatTheirKindIsFor(t *testing.T) { // rules B20, B24
	p := &page.Page{Record: page.Record{URL: "https://github.com/a/pond", Type: page.GitHubRepo, Title: "a/pond"}}
	withMap := *p
	withMap.SymbolMap = symbolMap
	for _, tt := range []struct {
		name   string
		p      *page.Page
		kind   Kind
		has    []string
		hasNot []string
	}{
		{
			"brief", p, Brief,
			[]string{"Pond is an embedded queue for Go programs that must not lose work.", "\n\n"},
			[]string{"##", "go get", "badge", "MIT"},
		},
		{"usage", p, Usage, []string{
			"## Install\n\n```sh\ngo get pond.test/pond\n```", "## Imports", `"pond.test/pond"`,
			"## Examples", "q, err := pond.Open(dir)",
		}, []string{"1.8 times"}},
		{"api", p, API, []string{
			"- `func Open(dir string) (*Pond, error)`",
			"`Pond.Push(item []byte) error`: Push adds an item at the end.",
		}, []string{"MIT"}},
		{"api with a symbol map", &withMap, API, []string{"## Symbols", "func (p *Pond) Ripple(n int)"}, nil},
		{"architecture", p, Architecture, []string{
			"## Design", "Items are appended to a log of segments.",
			"A reader keeps its own cursor",
		}, []string{"go get"}},
		{
			"architecture with a symbol map", &withMap, Architecture,
			[]string{"## Most referenced first", "pond/ripple.go"},
			nil,
		},
		{"evaluation", p, Evaluation, []string{
			"## Version", "v0.9.2", "## Maturity", "beta", "## Licence", "MIT licence", "## Requirements", "Go 1.22",
			"## Limits", "does not support several writers",
			"## Alternatives", "Unlike a message broker", "## Performance",
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := extract(tt.kind, assemble(tt.p, readme(t), maxInput))
			for _, s := range tt.has {
				if !strings.Contains(got, s) {
					t.Errorf("%q is not in:\n%s", s, got)
				}
			}
			for _, s := range tt.hasNot {
				if strings.Contains(got, s) {
					t.Errorf("%q is in:\n%s", s, got)
				}
			}
		})
	}
}

func TestAPageWithoutWhatAKindIsForGivesItsGist(t *testing.T) {
	const page1 = "# Walks\n\nThe coast path runs for sixty miles along the cliffs. Most walkers take four days for it.\n"
	for _, kind := range []Kind{Usage, API} {
		if got, weak := extract(kind, assemble(&page.Page{}, page1, maxInput)); weak || !strings.Contains(got,
			"The coast path runs for sixty miles along the cliffs.") {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func TestTextOfAMachineGivesSentencesAndAWarning(t *testing.T) {
	many := func(format string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, tt := range map[string]struct{ content, want string }{
		"short sentences":      {many("Line %d of it. "), "Line 0 of it. Line 1 of it. Line 2 of it."},
		"alike sentences":      {many("The boat of number %d lies in the harbour today. "), "number 0 lies in the harbour today. The boat of number 1"},
		"numbers":              {many("4711 0815 %d 42 x 7. "), "4711 0815 0 42 x 7."},
		"no end of a sentence": {many("harbour boat tide %d "), "harbour boat tide 0 harbour boat tide 1"},
		"short entries":        {many("- Berth %d\n"), "- Berth 0\n- Berth 1\n- Berth 2"},
		"a paragraph each":     {many("Page %d.\n\n"), "Page 0. Page 1."},
	} {
		p := &page.Page{Record: page.Record{URL: "https://site.test/", Title: "Page 3"}}
		p.Content = tt.content
		for _, kind := range []Kind{Brief, Usage, API, Evaluation} {
			s, err := New(Options{}).Make(t.Context(), p, Request{Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			if s.Attach(p); !strings.Contains(p.Summary, tt.want) || !slices.Contains(p.Warnings, WarnWeak) {
				t.Errorf("%s, %s: summary %q, warnings %q; want %q in it and a warning", name, kind, p.Summary, p.Warnings, tt.want)
			}
		}
	}
	described := &page.Page{Record: page.Record{Title: "Page 3", Description: "The berths of the harbour by number."}}
	if _, weak := extract(Brief, assemble(described, many("Berth %d. "), maxInput)); weak {
		t.Error("a page that says what it is has a weak summary")
	}
}

func TestEntriesAndCodeAreToldAsSuch(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"a changelog": {
			"# Changes\n\n## 1.2\n\n- Mend the crash of an empty queue\n- Add an option that bounds retries\n\n" +
				"## 1.1\n\n- Tell the version in the log\n",
			"- Mend the crash of an empty queue\n- Add an option that bounds retries\n- Tell the version in the log",
		},
		"rows of a table": {
			"| boat | length |\n|---|---|\n| Mary Rose of Portsmouth | 32 m |\n| Vasa of Stockholm, raised | 69 m |\n",
			"- Mary Rose of Portsmouth | 32 m\n- Vasa of Stockholm, raised | 69 m",
		},
		"short entries of several sentences": {"- Go. Stop.\n- Up. Down.\n", "- Go. Stop.\n- Up. Down."},
		"code alone":                         {"```go\nx := f(1)\n```\n\n```\ny\n```\n", "Page 3\n\n```go\nx := f(1)\n```"},
	} {
		p := &page.Page{Record: page.Record{URL: "https://site.test/", Title: "Page 3"}}
		if got, _ := extract(Brief, assemble(p, tt.content, maxInput)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestExtractOfAFileOfCodeSaysWhatItDefines(t *testing.T) {
	const code = "// Package pond holds water. It is deep.\n//\n// More of it.\npackage pond\n\nfunc Open(dir string) error {\n\treturn nil\n}\n"
	p := &page.Page{Record: page.Record{URL: "https://github.com/a/b/blob/main/pond.go", Title: "pond.go"}}
	p.Content = "```go\n" + code + "```\n"
	defines := func(_ context.Context, name string, text []byte) string {
		if name != "pond.go" || string(text) != code {
			t.Errorf("asked what %s defines:\n%s", name, text)
		}
		return "6: func Open(dir string) error"
	}
	for name, m := range map[string]*Maker{"told": New(Options{Defines: defines}), "guessed": New(Options{})} {
		s, err := m.Make(t.Context(), p, Request{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"`pond.go`: go, 8 lines.", "Package pond holds water. It is deep.", "It defines:", "func Open(dir string) error",
		} {
			if !strings.Contains(s.Text, want) {
				t.Errorf("%s: the summary lacks %q:\n%s", name, want, s.Text)
			}
		}
	}
}

func TestExtractOfAREADMEInAnotherMarkup(t *testing.T) {
	p := &page.Page{Record: page.Record{Title: "a/order"}, Answer: page.Answer{
		Readme: "```rst\nOrder\n=====\n\nOrder sorts the boats of a harbour by length. It takes a second for a thousand.\n```\n",
	}}
	if got, _ := extract(Brief, assemble(p, "", maxInput)); !strings.Contains(got, "sorts the boats of a harbour") {
		t.Errorf("summary %q", got)
	}
}

func TestEveryPageThatHoldsSomethingHasAnExtract(t *testing.T) {
	for name, p := range map[string]*page.Page{
		"a title alone":       {Record: page.Record{Title: "Harbour"}},
		"a description alone": {Record: page.Record{Description: "A harbour for boats up to twelve metres long."}},
		"a symbol map alone":  {Answer: page.Answer{SymbolMap: symbolMap}},
		"code alone":          {Answer: page.Answer{Content: "```\nx = 1\n```"}},
		"a list":              {Answer: page.Answer{Content: "- first entry of the list\n- second entry of the list\n"}},
		"a table":             {Answer: page.Answer{Content: "| boat | length |\n|---|---|\n| Mary Rose of Portsmouth | 32 m |\n"}},
		"Japanese":            {Answer: page.Answer{Content: "港は朝早くから賑わいます。船は十二メートルまで停泊できます。"}},
		"shouting":            {Answer: page.Answer{Content: "!!! ??? ###"}},
		"an open fence":       {Answer: page.Answer{Content: "```go\nfunc main() {"}},
		"setext":              {Answer: page.Answer{Content: "Harbour\n=======\n\nBoats of up to twelve metres may stay.\n"}},
	} {
		for _, kind := range []Kind{Brief, Usage, API, Architecture, Evaluation} {
			if got, _ := extract(kind, assemble(p, p.Content, maxInput)); strings.TrimSpace(got) == "" {
				t.Errorf("%s of %s is empty", kind, name)
			}
		}
	}
}

func TestSentencesEndWhereTheyEnd(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two! Three?":                     {"One.", "Two!", "Three?"},
		"Use e.g. Go 1.22. Then v2.0 is out.":  {"Use e.g. Go 1.22.", "Then v2.0 is out."},
		`He said "stop." Then he left.`:        {`He said "stop."`, "Then he left."},
		"Dr. Who met J. Doe. They spoke.":      {"Dr. Who met J. Doe.", "They spoke."},
		"see example.com. it is small":         {"see example.com. it is small"},
		"港は朝早い。船が着く。":                          {"港は朝早い。", "船が着く。"},
		"No end":                               {"No end"},
		"“Quoted.” «Encore.» (Aside.) Rest...": {"“Quoted.”", "«Encore.»", "(Aside.)", "Rest..."},
	} {
		if diff := cmp.Diff(want, sentences(text)); diff != "" {
			t.Errorf("sentences(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("# A\n\nText. More text!\n\n```go\nfunc A(b int)\n```\n\n| a | b |\n|---|---|\n")
	f.Add("Usage\n-----\n\n`pip install x`\n\n![a](b) [c][d] <e> **f** ~~g~~ \\*")
	f.Fuzz(func(t *testing.T, markdown string) {
		p := &page.Page{
			Record: page.Record{URL: "https://site.test/", Title: "T"},
			Answer: page.Answer{SymbolMap: markdown},
		}
		in := assemble(p, markdown, maxInput)
		for _, kind := range []Kind{Brief, Usage, API, Architecture, Evaluation} {
			got, _ := extract(kind, in)
			if got == "" || !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxExtract {
				t.Errorf("%s: %d characters, valid %v", kind, utf8.RuneCountInString(got), utf8.ValidString(got))
			}
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	text, err := os.ReadFile("testdata/readme.md")
	if err != nil {
		b.Fatal(err)
	}
	in := assemble(&page.Page{}, strings.Repeat(string(text), 30), maxInput)
	for _, kind := range []Kind{Brief, Usage, API, Architecture, Evaluation} {
		b.Run(string(kind), func(b *testing.B) {
			for b.Loop() {
				extract(kind, in)
			}
			b.SetBytes(int64(len(in.content)))
		})
	}
}

func TestBlocksOfMarkdown(t *testing.T) {
	md := "Intro[^1] with ![x](y) [a link](z).\n\n    ```sh\n\n## Use _it_ #\n\n1. ```Go x\n   run()\n   ```\n- [x] done\n\n" +
		"| a | b |\n|---|---|\n| c | d |\n\n~~~\nopen"
	var got []string
	for _, b := range blocksOf(md) {
		got = append(got, fmt.Sprintf("%d %s|%s|%s", b.kind, b.text, b.lang, b.section))
	}
	want := []string{
		"0 Intro with a link.||", "0 ```sh||", "1 Use it||use it", "2    run()|go|use it", "3 done||use it", "4 a | b||use it",
		"4 c | d||use it", "2 open||use it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}
