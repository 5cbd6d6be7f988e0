package convert_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/readthru/readthru/internal/processor"
)

// maxScoredPages is how many pages of a PDF are scored. Each file counts once, however long it is.
const maxScoredPages = 40

// TestPDFReadsInOrder converts the PDFs in the folder that READTHRU_CORPUS_PDF names, and all below it, and compares
// their words with what pdftotext (poppler-utils) reads in its three modes: recall, precision and order. Where the
// text of NAME.pdf is known, it stands beside it in NAME.txt, a form feed behind each page; then pdftotext is scored,
// too. Both convert whole files, in processor time that is compared. With READTHRU_CORPUS_OUT it writes each file's
// markdown to that folder.
//
// Without the folder, PDFs are made in the test, and their text is what was drawn.
func TestPDFReadsInOrder(t *testing.T) {
	dir := os.Getenv("READTHRU_CORPUS_PDF")
	if dir == "" {
		for _, s := range drawnPDFs() {
			t.Run(s.name, func(t *testing.T) {
				text := document(t, s.pdf, "application/pdf").Markdown
				got := scorePages(pdfPages(text), wordPages(s.text))
				if got.recall < 1 || got.precision < 1 || got.order < 1 {
					t.Errorf("%+v, want 1 of each:\n%s", got, text)
				}
			})
		}
		return
	}
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Fatalf("the files of READTHRU_CORPUS_PDF=%s are compared with pdftotext: %v; install poppler-utils", dir, err)
	}
	var files []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".pdf") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var report bytes.Buffer
	var agreed, known corpusScores
	var ourTime, theirTime time.Duration
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		begun := processor.Time()
		text := document(t, string(content), "application/pdf").Markdown
		took := processor.Time() - begun
		if out := os.Getenv("READTHRU_CORPUS_OUT"); out != "" {
			name, _ := filepath.Rel(dir, path)
			name = filepath.Join(out, strings.ReplaceAll(name, string(filepath.Separator), "_")+".md")
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ours := pdfPages(text)
		whole, theirs := pdftotext(t, path)
		layout, _ := pdftotext(t, path, "-layout", "-l", strconv.Itoa(maxScoredPages))
		raw, _ := pdftotext(t, path, "-raw", "-l", strconv.Itoa(maxScoredPages))
		modes := [][][]string{whole, layout, raw}
		var got [5]score // ours, that of pdftotext's best mode and of each of its modes
		scores := &agreed
		if truth, err := os.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".txt"); err == nil {
			scores = &known
			text := wordPages(string(truth))
			got[0] = scorePages(ours, text)
			for i, m := range modes {
				got[2+i] = scorePages(m, text)
			}
			got[1] = slices.MaxFunc(got[2:], func(a, b score) int { return cmp.Compare(a.order, b.order) })
		} else {
			for i, m := range modes {
				got[2+i] = scorePages(ours, m)
			}
			got[0] = slices.MaxFunc(got[2:], func(a, b score) int { return cmp.Compare(a.order, b.order) })
			got[1] = score{1, 1, 1, 1}
		}
		if got[0].words() == 0 && len(slices.Concat(modes[0]...)) == 0 {
			continue // a scan, or pictures
		}
		scores.add(got)
		name, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&report, "%.3f %.3f %.3f | %.3f | %.3f %.3f %.3f | %.2f %.2f s %s\n",
			got[0].recall, got[0].precision, got[0].order,
			got[1].order, got[2].order, got[3].order, got[4].order, took.Seconds(), theirs.Seconds(), name)
		ourTime, theirTime = ourTime+took, theirTime+theirs
	}
	t.Logf("recall, precision, order | that of pdftotext's best mode | of its modes | processor time, pdftotext's:\n%s"+
		"files without known text, against pdftotext's modes\n%sfiles with known text\n%s"+
		"processor time of all: %.1f s, pdftotext %.1f s",
		report.String(), &agreed, &known, ourTime.Seconds(), theirTime.Seconds())
	if n := len(agreed) + len(known); n < len(files)/2 {
		t.Errorf("%d of %d files have text", n, len(files))
	}
}

// pdfPages returns the words of a PDF's pages, as its markdown has them.
func pdfPages(text string) [][]string {
	var pages []string
	at := 1
	marks := regexp.MustCompile(`(?m)^<!-- page (\d+) -->$`)
	for from := 0; ; {
		next := marks.FindStringSubmatchIndex(text[from:])
		for len(pages) < at-1 {
			pages = append(pages, "")
		}
		if next == nil {
			pages = append(pages, text[from:])
			break
		}
		pages = append(pages, text[from:from+next[0]])
		at, _ = strconv.Atoi(text[from+next[2] : from+next[3]])
		from += next[1]
	}
	links := regexp.MustCompile(`\]\([^)\s]*\)`)
	for i, p := range pages {
		pages[i] = links.ReplaceAllString(p, "]")
	}
	return wordPages(strings.Join(pages, "\f"))
}

// pdftotext returns the words of a PDF's first pages, as pdftotext reads them in a mode, and in which processor time it
// reads the whole.
func pdftotext(t *testing.T, path string, mode ...string) ([][]string, time.Duration) {
	t.Helper()
	args := slices.Concat(mode, []string{"-enc", "UTF-8", path, "-"})
	c := exec.CommandContext(context.WithoutCancel(t.Context()), "pdftotext", args...)
	text, _ := c.Output()
	return wordPages(string(text)), c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// wordPages returns the words of each page of a text: letters and digits in lower case. Of scripts written without
// spaces each letter is one.
func wordPages(text string) (pages [][]string) {
	for page := range strings.SplitSeq(text, "\f") {
		var words []string
		for w := range strings.FieldsFuncSeq(strings.ToLower(norm.NFKC.String(page)), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			if r := []rune(w); r[0] < 0x2e80 || len(r) == 1 {
				words = append(words, w)
			} else {
				words = append(words, strings.Split(w, "")...)
			}
		}
		if pages = append(pages, words); len(pages) == maxScoredPages {
			break
		}
	}
	return pages
}

// score says how much of a reference a text has, how much of it the reference has, which share of the common words
// stands in the same order, and how much of the reference the text has if headers and footers do not count.
type score struct{ recall, precision, order, body float64 }

func (s score) words() float64 { return s.recall + s.precision }

// scorePages compares words, page by page for their order.
func scorePages(got, want [][]string) score {
	ours, theirs := count(slices.Concat(got...)), count(slices.Concat(want...))
	shared, all, own := common(ours, theirs), sum(theirs), sum(ours)
	s := score{recall: 1, precision: 1, order: 1, body: 1}
	if all > 0 {
		s.recall = float64(shared) / float64(all)
	}
	if heads := sum(missing(ours, theirs, headWords(want))); all > heads {
		s.body = float64(shared) / float64(all-heads)
	}
	if own > 0 {
		s.precision = float64(shared) / float64(own)
	}
	if len(want) == 1 { // where its pages end is not known
		got = [][]string{slices.Concat(got...)}
	}
	inOrder, compared := 0, 0
	for i := range min(len(got), len(want)) {
		inOrder += longestCommon(got[i], want[i])
		compared += common(count(got[i]), count(want[i]))
	}
	if compared > 0 {
		s.order = float64(inOrder) / float64(compared)
	}
	return s
}

// headWords returns the words among the first and last ten of pages that three of them or more have there, with how
// often they do: those of headers and footers.
func headWords(pages [][]string) map[string]int {
	const edge = 10
	all := map[string]int{}
	for _, p := range pages {
		near := p
		if len(p) > 2*edge {
			near = slices.Concat(p[:edge], p[len(p)-edge:])
		}
		for w, n := range count(near) {
			if strings.Trim(w, "0123456789ivx") == "" {
				w = "#"
			}
			all[w] += n
		}
	}
	maps.DeleteFunc(all, func(_ string, n int) bool { return n < max(3, len(pages)/5) })
	return all
}

// missing returns the words of a reference that a text lacks, of those in allowed, each at most as often as there.
func missing(text, reference, allowed map[string]int) map[string]int {
	m := map[string]int{}
	for w, n := range reference {
		key := w
		if strings.Trim(w, "0123456789ivx") == "" {
			key = "#"
		}
		if k := min(n-text[w], allowed[key]); k > 0 {
			m[w] = k
			allowed[key] -= k
		}
	}
	return m
}

func count(words []string) map[string]int {
	m := map[string]int{}
	for _, w := range words {
		m[w]++
	}
	return m
}

func sum(m map[string]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}

func common(a, b map[string]int) (n int) {
	for w, k := range a {
		n += min(k, b[w])
	}
	return n
}

// longestCommon returns the length of the longest common subsequence of a and b, by one bit for each word of a (Hyyrö,
// "Bit-parallel LCS-length computation revisited", 2004).
func longestCommon(a, b []string) int {
	size := (len(a) + 63) / 64
	places := map[string][]uint64{}
	for i, w := range a {
		if places[w] == nil {
			places[w] = make([]uint64, size)
		}
		places[w][i/64] |= 1 << (i % 64)
	}
	v := make([]uint64, size)
	for i := range v {
		v[i] = ^uint64(0)
	}
	for _, w := range b {
		place := places[w]
		if place == nil {
			continue
		}
		carry := uint64(0)
		for i := range v {
			u := v[i] & place[i]
			var total uint64
			total, carry = bits.Add64(v[i], u, carry)
			v[i] = total | (v[i] - u)
		}
	}
	n := 0
	for i := range len(a) {
		if v[i/64]>>(i%64)&1 == 0 {
			n++
		}
	}
	return n
}

// corpusScores are the scores of files: ours, that of pdftotext's best mode and of each of its modes.
type corpusScores [][5]score

func (c *corpusScores) add(s [5]score) { *c = append(*c, s) }

// String returns the median and the mean of each figure, and how many files have .95 of the order of pdftotext's best
// mode.
func (c *corpusScores) String() string {
	if len(*c) == 0 {
		return "  none\n"
	}
	var b strings.Builder
	line := func(name string, figure func([5]score) float64) {
		var list []float64
		total := 0.0
		for _, s := range *c {
			list = append(list, figure(s))
			total += figure(s)
		}
		slices.Sort(list)
		fmt.Fprintf(&b, "  %-28s median %.3f  mean %.3f  p10 %.3f\n", name, list[len(list)/2], total/float64(len(list)),
			list[len(list)/10])
	}
	line("recall", func(s [5]score) float64 { return s[0].recall })
	line("recall without running heads", func(s [5]score) float64 { return s[0].body })
	line("precision", func(s [5]score) float64 { return s[0].precision })
	line("order", func(s [5]score) float64 { return s[0].order })
	line("order, pdftotext's best mode", func(s [5]score) float64 { return s[1].order })
	for i, mode := range []string{"pdftotext", "pdftotext -layout", "pdftotext -raw"} {
		line("order, "+mode, func(s [5]score) float64 { return s[2+i].order })
	}
	enough := 0
	for _, s := range *c {
		if s[0].order >= .95*s[1].order {
			enough++
		}
	}
	fmt.Fprintf(&b, "  %d of %d files have .95 of the order of pdftotext's best mode\n", enough, len(*c))
	return b.String()
}

// drawnPDF is a PDF made in the test, and its text.
type drawnPDF struct{ name, pdf, text string }

// drawnPDFs returns PDFs of the layouts that are hard to read in order.
func drawnPDFs() []drawnPDF {
	list := func(word string, n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("%s %c%c", word, 'a'+i%26, 'a'+i/26))
		}
		return out
	}
	join := func(lists ...[]string) string { return strings.Join(slices.Concat(lists...), "\n") }
	left, middle, right := list("apple", 30), list("pear", 30), list("plum", 24)
	prose := strings.Repeat("Some words of a column that is as wide as they are. ", 8)
	var folded []string
	for words := strings.Fields(prose); len(words) > 0; words = words[min(7, len(words)):] {
		folded = append(folded, strings.Join(words[:min(7, len(words))], " "))
	}
	cells := []string{"Option", "Effect", "--all\nor -a", "shows what\nis hidden\nelse", "--long", "shows more\nof each"}
	var grid strings.Builder
	for y, row := 700, 0; row < 3; row++ {
		grid.WriteString(lines(50, y, strings.Split(cells[2*row], "\n")...))
		grid.WriteString(lines(150, y, strings.Split(cells[2*row+1], "\n")...))
		y -= 40
	}
	return []drawnPDF{
		{
			"columns of short lines", pdfFile(lines(50, 760, left...) + lines(200, 760, middle...) + lines(350, 760, right...)),
			join(left, middle, right),
		},
		{
			"columns on baselines of their own, below a title drawn last", pdfFile(lines(50, 740, left...) +
				lines(200, 735, middle...) + at(50, 770, "F2 16", "Title over both of the columns")),
			join([]string{"Title over both of the columns"}, left, middle),
		},
		{
			"text beside text, and text below both", pdfFile(lines(50, 760, folded...) + lines(330, 760, folded...) +
				lines(50, 600, "The end of it all, over the whole width of the page, is one more line of text.")),
			join(folded, folded) + " The end of it all, over the whole width of the page, is one more line of text.",
		},
		{
			"cells of several lines", pdfFile(grid.String()), strings.Join(cells, "\n"),
		},
		{
			"scan with its text behind the picture", pdfFile("q 600 0 0 800 0 0 cm BI /W 1 ID x EI Q 3 Tr\n" +
				lines(50, 760, left...) + lines(200, 760, middle...)), join(left, middle),
		},
	}
}
