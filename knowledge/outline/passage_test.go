package outline_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge/outline"
)

func TestSplit(t *testing.T) {
	para := strings.Repeat("word ", 100) // 500 bytes
	row := "| " + strings.Repeat("x", 96) + " |\n"
	for _, tt := range []struct {
		name string
		md   string
		max  int
		want []string // path: text
	}{
		{"nothing", "", 0, nil},
		{"only white space", " \n\t\n\u00a0\n", 0, nil},
		{"text without headings is one passage", "one\n\ntwo\n", 0, []string{": one\n\ntwo"}},
		{
			"a heading starts a passage and the one before keeps its own",
			"intro " + para + "\n\n## A\n\n" + para + "\n\n### B\n\n" + para, 0,
			[]string{": intro " + para, "A: ## A\n\n" + para, "A › B: ### B\n\n" + para},
		},
		{
			"short sections go together", "# T\n\na\n\n## B\n\nb\n\n## C\n\nc", 0,
			[]string{"T: # T\n\na\n\n## B\n\nb\n\n## C\n\nc"},
		},
		{"a first-level heading always starts a passage", "# T\n\na\n\n# U\n\nb", 0, []string{"T: # T\n\na", "U: # U\n\nb"}},
		{
			"headings without text stay with what follows", "# T\n\n## A\n\n" + para, 0,
			[]string{"T › A: # T\n\n## A\n\n" + para},
		},
		{
			"a heading inside a fence is code", "```sh\n# not a heading\n```\n\ntext", 0,
			[]string{": ```sh\n# not a heading\n```\n\ntext"},
		},
		{
			"underlined headings count", "Title\n=====\n\n" + para + "\n\nSub\n---\n\n" + para, 0,
			[]string{"Title: Title\n=====\n\n" + para, "Title › Sub: Sub\n---\n\n" + para},
		},
		{
			"a fence that is too long is closed and opened again",
			"Run:\n\n~~~go title\n" + strings.Repeat(strings.Repeat("a", 99)+"\n", 4) + "~~~\n\nend", 320,
			[]string{
				": Run:\n\n~~~go title\n" + strings.Repeat("a", 99) + "\n" + strings.Repeat("a", 99) + "\n~~~",
				": ~~~go title\n" + strings.Repeat("a", 99) + "\n" + strings.Repeat("a", 99) + "\n~~~\n\nend",
			},
		},
		{
			"a table that is too long repeats its header",
			"| h |\n| --- |\n" + strings.Repeat(row, 4), 320,
			[]string{
				": | h |\n| --- |\n" + row + row + strings.TrimSpace(row),
				": | h |\n| --- |\n" + strings.TrimSpace(row),
			},
		},
		{
			"a fence that fits alone is never cut: the heading stands in the path",
			"## A\n\n```\n" + strings.Repeat("a", 308) + "\n```\n", 320,
			[]string{"A: ```\n" + strings.Repeat("a", 308) + "\n```"},
		},
		{
			"a line that is too long is cut at a space and goes on after an ellipsis",
			strings.TrimSpace(strings.Repeat("wörd ", 80)), 320,
			[]string{
				": " + strings.TrimSpace(strings.Repeat("wörd ", 63)),
				": …" + strings.TrimSpace(strings.Repeat("wörd ", 17)),
			},
		},
		{
			"a fence as wide as a page",
			strings.Repeat("~", 66) + "{.go}\n# code\n" + strings.Repeat("~", 66), 0,
			[]string{": " + strings.Repeat("~", 66) + "{.go}\n# code\n" + strings.Repeat("~", 66)},
		},
		{"an open fence is closed", "```\ncode", 0, []string{": ```\ncode\n```"}},
		{"a fence in a list item", "- a\n\n  ```\n  x\n\n  # y\n  ```\n", 0, []string{": - a\n\n  ```\n  x\n\n  # y\n  ```"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range outline.Split([]byte(tt.md), outline.SplitOptions{MaxChars: tt.max}) {
				got = append(got, strings.Join(p.Path, " › ")+": "+strings.TrimRight(p.Text([]byte(tt.md)), " "))
			}
			for i := range tt.want {
				tt.want[i] = strings.TrimRight(tt.want[i], " ")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Split (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEqualTextHasEqualHash(t *testing.T) {
	a, b := []byte("# T\n\nsome  text\nhere\n"), []byte("x\n\n# T\n\n\nsome text here")
	pa := outline.Split(a, outline.SplitOptions{})
	pb := outline.Split(b, outline.SplitOptions{})
	if len(pa) != 1 || len(pb) != 2 || pa[0].Hash != pb[1].Hash {
		t.Errorf("passages %v and %v: want one hash for texts that differ in white space alone", pa, pb)
	}
	if got := outline.PassageHash(pb[1].Text(b)); got != pb[1].Hash {
		t.Errorf("PassageHash of a passage's text = %x, want %x", got, pb[1].Hash)
	}
}

// checkPassages holds what must be true of any text's passages.
func checkPassages(t *testing.T, md []byte, limit int) []outline.Passage {
	t.Helper()
	passages := outline.Split(md, outline.SplitOptions{MaxChars: limit})
	valid := utf8.Valid(md)
	at := 0
	for i, p := range passages {
		if p.Start < at || p.End <= p.Start || p.End > len(md) {
			t.Fatalf("passage %d is the range %d to %d, after %d", i, p.Start, p.End, at)
		}
		checkGap(t, md[at:p.Start], &p, i > 0 && passages[i-1].After != "")
		at = p.End
		text := p.Text(md)
		if n := utf8.RuneCountInString(text); n > limit {
			t.Errorf("passage %d has %d characters, want at most %d", i, n, limit)
		}
		if valid && (!utf8.RuneStart(md[p.Start]) || p.End < len(md) && !utf8.RuneStart(md[p.End])) {
			t.Errorf("passage %d splits a character", i)
		}
		if outline.HasOpenFence([]byte(text)) {
			t.Errorf("passage %d leaves a fence open:\n%s", i, text)
		}
	}
	checkGap(t, md[at:], nil, len(passages) > 0 && passages[len(passages)-1].After != "")
	return passages
}

// checkGap holds that nothing is left out between passages.
func checkGap(t *testing.T, gap []byte, next *outline.Passage, cutFence bool) {
	t.Helper()
	for line := range bytes.Lines(gap) {
		line = bytes.TrimSpace(line)
		if cutFence && (bytes.HasPrefix(line, []byte("```")) || bytes.HasPrefix(line, []byte("~~~")) ||
			bytes.HasPrefix(line, []byte(">"))) {
			cutFence = false
			continue
		}
		if next != nil && (bytes.HasPrefix(line, []byte("#")) || len(bytes.Trim(line, "=-")) == 0 ||
			slices.Contains(next.Path, outline.TitleText(line))) {
			continue // it stands in the path, or a heading after it does
		}
		if len(bytes.TrimFunc(line, unicode.IsSpace)) > 0 {
			t.Errorf("between passages %q is left out", line)
		}
	}
}

// document makes a markdown text of blocks of all kinds and sizes.
func document(r *rand.Rand, blocks int) string {
	words := []string{
		"cache", "proxy", "entry", "größer", "文字", "`code`", "a|b", "*it*", "value.", "the", "of",
		"https://a.test/x?y=1",
	}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		return b.String()
	}
	size := func() int { return 1 + int(r.ExpFloat64()*30) }
	var b strings.Builder
	for range blocks {
		switch r.IntN(8) {
		case 0:
			b.WriteString(strings.Repeat("#", 1+r.IntN(6)) + " " + text(3) + "\n")
		case 1:
			fence := strings.Repeat([]string{"`", "~"}[r.IntN(2)], 3+r.IntN(3))
			b.WriteString(fence + "sh\n")
			for range size() {
				b.WriteString([]string{"# comment", "", "  run --it", "| a |", text(size())}[r.IntN(5)] + "\n")
			}
			b.WriteString(fence + "\n")
		case 2:
			b.WriteString("| name | value |\n| --- | :-: |\n")
			for range size() {
				b.WriteString("| " + text(2) + " | " + text(size()) + "|\n")
			}
		case 3:
			b.WriteString("> " + text(size()) + "\n> ```js\n> " + text(size()) + "\n> ```\n")
		case 4:
			b.WriteString("1. " + text(3) + "\n\n   ```\n   " + text(size()) + "\n   ```\n2. " + text(3) + "\n")
		default:
			for range 1 + r.IntN(3) {
				b.WriteString(text(size()) + "\n")
			}
		}
		b.WriteString(strings.Repeat("\n", 1+r.IntN(2)))
	}
	return b.String()
}

func TestNoFenceIsBrokenAndNoTableWithoutHeader(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		md := []byte(document(r, 40))
		for _, limit := range []int{320, 700, 4000} {
			for i, p := range checkPassages(t, md, limit) {
				text := p.Text(md)
				if fence := openFence(text); fence != "" {
					t.Errorf("seed %d, limit %d: passage %d leaves %s open:\n%s", seed, limit, i, fence, text)
				}
				if line := firstBareRow(text); line != "" {
					t.Errorf("seed %d, limit %d: passage %d has a row without header: %q\n%s", seed, limit, i, line, text)
				}
				lines := strings.Split(strings.TrimSpace(text), "\n")
				if last := lines[len(lines)-1]; strings.HasPrefix(last, "#") && i > 0 && p.End < len(bytes.TrimSpace(md)) &&
					!onlyHeadings(lines) && openFenceAt(text) {
					t.Errorf("seed %d, limit %d: passage %d ends with a heading:\n%s", seed, limit, i, text)
				}
			}
		}
		if t.Failed() {
			return
		}
	}
}

// openFence returns the marker of a fence that a text leaves open: simple rules of its own, to hold the scanner
// against.
func openFence(text string) (open string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(line, "> "))
		mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		if mark == "" {
			mark = line[:len(line)-len(strings.TrimLeft(line, "~"))]
		}
		switch {
		case len(mark) < 3:
		case open == "":
			open = mark
		case mark[0] == open[0] && len(mark) >= len(open) && mark == line:
			open = ""
		}
	}
	return open
}

// openFenceAt reports whether the last line of a text stands outside fences.
func openFenceAt(text string) bool {
	return openFence(text[:strings.LastIndex(strings.TrimSpace(text), "\n")+1]) == ""
}

// firstBareRow returns a table row outside fences that no header stands over.
func firstBareRow(text string) string {
	table := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case openFence(strings.Join(lines[:i], "\n")) != "" || !strings.HasPrefix(line, "|"):
			table = table && line != ""
		case !table && (i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "| ---")):
			return line
		default:
			table = true
		}
	}
	return ""
}

func onlyHeadings(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return line != "" && !strings.HasPrefix(line, "#") })
}

func TestHostileTextIsSplitInBounds(t *testing.T) {
	for name, md := range map[string]string{
		"one line":               strings.Repeat("x", 1<<18),
		"no spaces, three bytes": strings.Repeat("文", 100_000),
		"no UTF-8":               strings.Repeat("\x80", 1<<18),
		"NUL bytes":              strings.Repeat("\x00", 1<<18),
		"first-level headings":   strings.Repeat("# a\n", 100_000),
		"headings and text":      strings.Repeat("# a\n\nb\n\n", 50_000),
		"headings deep":          strings.Repeat("#### a\n##### b\n", 50_000),
		"backticks":              strings.Repeat("`", 100_000),
		"lines of backticks":     strings.Repeat(strings.Repeat("`", 90)+"\n", 2000),
		"fence that never ends":  "```\n" + strings.Repeat("code\n", 100_000),
		"widest fences": strings.Repeat("\n  "+strings.Repeat("`", 80)+" info\n  "+strings.Repeat("code ", 500)+
			"\n  "+strings.Repeat("`", 80)+"\n", 20),
		"fence with endless info":  "~~~" + strings.Repeat("i", 100_000) + "\ncode\n~~~\n",
		"fence of one line":        "```\n" + strings.Repeat("x", 100_000) + "\n```\ntext",
		"backticks within a fence": "```\nx" + strings.Repeat("`", 10_000) + "\n```\ntext",
		"closing hidden by spaces": "```\n```" + strings.Repeat(" ", 10_000) + "x\n```\ntext",
		"table with endless header": "|" + strings.Repeat(" head |", 20_000) + "\n|" + strings.Repeat("-|", 20_000) + "\n" +
			strings.Repeat("| a |\n", 5000),
		"table of one endless row":   "| a |\n|---|\n| " + strings.Repeat("x ", 50_000) + "|\n",
		"quotes":                     strings.Repeat("> ", 100_000) + "a\n",
		"quoted fence":               "> ```\n" + strings.Repeat("> x\n", 50_000) + "> ```\n",
		"endless heading":            "# " + strings.Repeat("[", 100_000) + "\n\ntext",
		"endless white space within": "a" + strings.Repeat("\n", 100_000) + "b" + strings.Repeat(" ", 100_000) + "c",
		"list markers":               strings.Repeat("- ", 100_000),
		"carriage returns":           strings.Repeat("a\r\n\r\n", 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{320, 4000} {
				passages := checkPassages(t, []byte(md), limit)
				if most := 2000 + len(md)/60; len(passages) > most {
					t.Errorf("%d passages of %d bytes", len(passages), len(md))
				}
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	for seed := range uint64(4) {
		f.Add([]byte(document(rand.New(rand.NewPCG(seed, 2)), 12)))
	}
	f.Add([]byte("> ```\n> a\nb\n\n    ```\n    x\n- ```\n  y\n"))
	f.Fuzz(func(t *testing.T, md []byte) {
		for _, limit := range []int{320, 1000} {
			checkPassages(t, md, limit)
		}
	})
}

// corpus returns the markdown files of READTHRU_CORPUS_MD, a folder, or the benchmark makes texts of its own.
func corpus(tb testing.TB) (texts [][]byte, size int) {
	tb.Helper()
	if dir := os.Getenv("READTHRU_CORPUS_MD"); dir != "" {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".md" && size < 200<<20 {
				if md, err := os.ReadFile(path); err == nil {
					texts, size = append(texts, md), size+len(md)
				}
			}
			return nil
		})
		return texts, size
	}
	for seed := range uint64(200) {
		md := []byte(document(rand.New(rand.NewPCG(seed, 3)), 100))
		texts, size = append(texts, md), size+len(md)
	}
	return texts, size
}

func BenchmarkSplit(b *testing.B) {
	texts, size := corpus(b)
	b.SetBytes(int64(size))
	passages := 0
	for b.Loop() {
		for _, md := range texts {
			passages += len(outline.Split(md, outline.SplitOptions{}))
		}
	}
	b.ReportMetric(float64(passages)/b.Elapsed().Seconds(), "passages/s")
}

func ExampleSplit() {
	md := []byte("# Install\n\nFrom source:\n\n```sh\ngo install ./...\n```\n\n# Use\n\nRun it.\n")
	for _, p := range outline.Split(md, outline.SplitOptions{}) {
		fmt.Println(p.Path, len(p.Text(md)))
	}
	// Output:
	// [Install] 51
	// [Use] 14
}
